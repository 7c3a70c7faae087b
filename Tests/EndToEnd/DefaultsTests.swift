import Foundation
import TestSupport
import Testing

/// The program with a defaults file.
@Suite(.mayNotHang) struct DefaultsTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder("hemiola"), withIntermediateDirectories: true)
    }

    private var file: String { folder("hemiola/defaults.yaml") }

    private func write(_ text: String) throws {
        try folder.write(text, to: "hemiola/defaults.yaml")
    }

    private func run(_ arguments: [String]) throws -> ChildProcess.Outcome {
        try ChildProcess.run(
            Hemiola.path, arguments, in: folder.path, environment: ["XDG_CONFIG_HOME": folder.path, "PULSE_SERVER": "/nonexistent"])
    }

    private static let tone = ["--capture", "tone:clicks,seconds=0.5"]

    @Test func `listen: sinks and analyzers of the file are used, and a message names them`() throws {
        try write("analyzers: [levels]\nsinks: ['json-lines:out.jsonl']\n")
        let outcome = try run(["listen"] + Self.tone)
        #expect(outcome.status == 0)
        #expect(outcome.errors == "hemiola: using analyzers, sinks of \(file); --no-defaults ignores it\n")
        let records = try Record.all(in: outcome.output)
        #expect(try Record.all(in: folder.text(of: "out.jsonl")).map(\.line) == records.map(\.line))
        #expect(records.batches.first?["levels"] != nil && records.batches.first?["spectrum"] == nil)
    }

    @Test func `--no-defaults, other commands, and options: the file is not used`() throws {
        try write("device: nothing\nanalyzers: [levels]\nsinks: ['json-lines:out.jsonl']\n")
        let outcome = try run(["listen", "--no-defaults"] + Self.tone)
        #expect(outcome.status == 0 && outcome.errors == "")
        #expect(try Record.all(in: outcome.output).batches.first?["spectrum"] != nil)
        let analysis = try run(["analyze"] + Self.tone)
        #expect(try analysis.errors == "" && Record.all(in: analysis.output).batches.first?["spectrum"] != nil)
        let options = try run(["listen", "--analyzer", "spectrum", "--sink", "csv:a.csv"] + Self.tone)
        #expect(options.status == 0 && options.errors == "" && options.output == "")
        #expect(!FileManager.default.fileExists(atPath: folder("out.jsonl")))
    }

    @Test func `device: is the one that is captured`() throws {
        try write("device: no-such-device\n")
        let outcome = try run(["listen"])
        #expect(outcome.status == 1 && outcome.errors.contains("using device of \(file)"))
        #expect(outcome.errorLines.count == 2, "\(outcome.errors)")
        let printed = try run(["check", "--print"])
        #expect(printed.output.contains("device: no-such-device"), "\(printed.output)")
    }

    @Test func `invalid file: listen and check name file, line and key, and exit with 2; --no-defaults ignores it`() throws {
        try write("analyzers: [levels]\nsink: web\n")
        let line = "hemiola: \(file):2:1: sink: unknown key; did you mean sinks?"
        let listen = try run(["listen"] + Self.tone)
        #expect(listen.status == 2 && listen.output == "")
        #expect(listen.errorLines == [line + "; --no-defaults ignores the file"])
        let check = try run(["check"])
        #expect(check.status == 2 && check.errorLines == [line])
        #expect(try run(["listen", "--no-defaults"] + Self.tone).status == 0)
        let doctor = try run(["doctor"])
        #expect(doctor.status == 1 && doctor.output.contains("!!  defaults file"))
    }

    @Test(arguments: ["file", "folder"]) func `file that other users can change: refused in one line, which --no-defaults avoids`(
        place: String
    ) throws {
        try write("sinks: ['exec:echo other > ran']\n")
        chmod(place == "file" ? file : folder("hemiola"), 0o777)
        for (arguments, status) in [(["listen"] + Self.tone, 2 as Int32), (["check"], 2), (["listen", "--no-defaults"] + Self.tone, 0)] {
            let outcome = try run(arguments)
            #expect(outcome.status == status && outcome.errorLines.count == (status == 0 ? 0 : 1), "\(outcome.errors)")
            #expect(status == 0 || outcome.errors.contains("\(folder("hemiola"))"), "\(outcome.errors)")
        }
        #expect(!FileManager.default.fileExists(atPath: folder("ran")))
        chmod(file, 0o644)
        chmod(folder("hemiola"), 0o755)
        #expect(try run(["check"]).status == 0)
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file to another user"))
    func `file or link of another user: refused in one line`() throws {
        try write("sinks: ['exec:echo other > ran']\n")
        chown(file, 12_345, 12_345)
        #expect(try run(["listen"] + Self.tone).status == 2)
        chown(file, 0, 0)
        #expect(try run(["check"]).status == 0)
        try FileManager.default.moveItem(atPath: file, toPath: folder("mine.yaml"))
        try FileManager.default.createSymbolicLink(atPath: file, withDestinationPath: "../mine.yaml")
        #expect(try run(["check"]).status == 0)
        lchown(file, 12_345, 12_345)
        let outcome = try run(["listen"] + Self.tone)
        #expect(outcome.status == 2 && outcome.errorLines.count == 1 && outcome.errors.contains(file), "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder("ran")))
    }

    @Test func `unreadable file: error`() throws {
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: true)
        let outcome = try run(["listen"] + Self.tone)
        #expect(outcome.status == 2)
        #expect(outcome.errorLines == ["hemiola: cannot read \(file): Is a directory; --no-defaults ignores the file"])
    }

    @Test func `check: valid or missing; --print shows the pipeline of listen, which run accepts`() throws {
        #expect(try run(["check"]).output == "no defaults file: \(file) does not exist\n")
        try write("analyzers: [levels]\nsinks: ['json-lines:out.jsonl']\n")
        #expect(try run(["check"]).output == "\(file): valid\n")
        let printed = try run(["check", "--print"])
        #expect(printed.status == 0 && printed.output.hasPrefix("# hemiola listen; \(file): valid\n"))
        #expect(printed.output.contains("path: out.jsonl") && !printed.output.contains("spectrum"))
        try folder.write(printed.output, to: "listen.yaml")
        #expect(try run(["check", "listen.yaml"]).output == "listen.yaml: valid\n")
        let builtIn = try run(["check", "--print", "--no-defaults"])
        #expect(builtIn.output.hasPrefix("# hemiola listen; the built-in defaults\n") && builtIn.output.contains("id: spectrum"))
        #expect(!builtIn.output.contains("out.jsonl"))
    }
}
