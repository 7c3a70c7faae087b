import Foundation
import TestSupport
import Testing

/// Whether files are read as a whole before results are written: `--whole-file`, `--causal` and the default.
@Suite struct LookAheadTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private static let options = ["--analyzer", "beat", "--select", "header,beat,onset,end"]

    private func beats(_ records: [Record]) -> [String] { records.of("beat").map(\.line) }

    private func isCausal(_ records: [Record]) -> Bool? {
        records.first?.json["analyzers"]?.array.first?["causal"].map { $0 == .bool(true) }
    }

    @Test func `file: whole by default, causal with --causal`() throws {
        let standard = try Hemiola.records([Hemiola.minuet] + Self.options)
        let whole = try Hemiola.records([Hemiola.minuet, "--whole-file"] + Self.options)
        let causal = try Hemiola.records([Hemiola.minuet, "--causal"] + Self.options)
        #expect(standard.map(\.line) == whole.map(\.line))
        #expect(isCausal(standard) == false && isCausal(causal) == true)
        #expect(beats(standard) != beats(causal))
        let printed = try [[], ["--whole-file"], ["--causal"]].map { try Hemiola.run(["beats", Hemiola.minuet] + $0).lines }
        #expect(printed.map(\.count) == [standard, whole, causal].map { beats($0).count })
        #expect(printed[0] == printed[1] && printed[0] != printed[2])
    }

    @Test func `pipe: causal by default, an error with --whole-file`() throws {
        try folder.writeTone("a.wav", frames: 100_000)
        let causal = try Hemiola.records(["a.wav", "--causal"] + Self.options, in: folder.path)
        let file = ChildProcess.Input.bytes([UInt8](try Data(contentsOf: URL(fileURLWithPath: folder("a.wav")))))
        for command in ["analyze", "beats"] {
            let options = command == "analyze" ? Self.options : []
            let piped = try Hemiola.run([command, "-"] + options, input: file)
            #expect(piped.status == 0 && piped.errors.isEmpty, "\(piped.errors)")
            if command == "analyze" {
                let records = try Record.all(in: piped.output)
                #expect(isCausal(records) == true && records.analysis == causal.analysis)
            }
            #expect(try Hemiola.run([command, "-", "--whole-file"] + options, input: file).status == 1)
        }
    }

    @Test(arguments: [["analyze"], ["beats"], ["render", "-o", "a.png"]])
    func `both flags: refused`(command: [String]) throws {
        let outcome = try Hemiola.run(command + [Hemiola.minuet, "--causal", "--whole-file"], in: folder.path)
        #expect(outcome.status == 2 && outcome.errorLines.count == 1, "\(outcome.errors)")
    }

    @Test func `real time and a live sink: causal by default`() throws {
        try folder.writeTone("a.wav", frames: 4410)
        #expect(isCausal(try Hemiola.records(["a.wav", "--realtime"] + Self.options, in: folder.path)) == true)
        let outcome = try Hemiola.run(
            ["analyze", "a.wav", "--sink", "json-lines:o.jsonl", "--sink", "osc:127.0.0.1:9"] + Self.options, in: folder.path)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(isCausal(try Record.all(in: folder.text(of: "o.jsonl"))) == true)
    }

    @Test func `pipeline file: whole_file true, false or absent`() throws {
        try folder.writeTone("a.wav", frames: 4410)
        for (line, causal) in [("", false), ("whole_file: null\n", false), ("whole_file: true\n", false), ("whole_file: false\n", true)] {
            try folder.write("inputs: [a.wav]\nanalyzers: [beat]\n\(line)", to: "p.yaml")
            let outcome = try Hemiola.run(["run", "p.yaml"], in: folder.path)
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(isCausal(try Record.all(in: outcome.output)) == causal)
        }
    }

    @Test func `--resume: the default is that of --whole-file, and not of --causal`() throws {
        try folder.writeTone("a.wav", frames: 4410)
        func run(_ options: String...) throws -> String {
            let outcome = try Hemiola.run(
                ["analyze", "a.wav", "--analyzer", "beat", "--output-dir", "out", "--resume"] + options, in: folder.path)
            #expect(outcome.status == 0)
            return outcome.errors
        }
        #expect(try run().contains("1 analysed"))
        #expect(try run("--whole-file").contains("1 skipped"))
        #expect(try run("--causal").contains("1 analysed"))
    }
}
