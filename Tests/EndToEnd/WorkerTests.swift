import Foundation
import TestSupport
import Testing

/// `analyze --files-from -` and `analyze FOLDER`: inputs that become known while the program runs.
@Suite struct WorkerTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func start(_ options: [String]) throws -> ChildProcess {
        try Hemiola.start(
            ["analyze", "--files-from", "-", "--analyzer", "levels"] + options, in: folder.path, input: .bytes([], staysOpen: true))
    }

    /// The lines of the answer to a path: up to its `end` or `failure`.
    private func answer(_ process: ChildProcess) throws -> [Record] {
        var records: [Record] = []
        while records.last?.type != "failure" && records.last?.type != "end" {
            records.append(try Record(try #require(try process.readLine())))
        }
        return records
    }

    @Test(arguments: [[], ["-j2"], ["-0"]]) func `path on standard input: answered while standard input stays open`(
        options: [String]
    ) throws {
        try folder.writeTone("a.wav", frames: 5000)
        try folder.write("words", to: "bad.wav")
        try folder.write(TemporaryFolder.tone(frames: 50_000).bytes.dropLast(30_000), to: "cut.wav")
        let separator = options == ["-0"] ? "\0" : "\n"
        let process = try start(options)
        for name in ["a.wav", "bad.wav", "cut.wav", "missing.wav", "-", ".", "a.wav"] {
            process.write(name + separator)
            let records = try answer(process)
            #expect(records.allSatisfy { $0.string("file") == name })
            switch name {
            case "a.wav":
                #expect(records.types == ["header"] + Array(repeating: "batch", count: 5) + ["end"])
                #expect(records.last?["error"] == nil)
            case "cut.wav":
                #expect(records.count > 3 && records.last?.string("error")?.contains("too early") == true)
            default:
                #expect(records.count == 1)
                #expect(records[0].json.members.map(\.key) == ["type", "file", "error"])
                #expect(records[0].string("error")?.hasPrefix(name) == true, "\(records[0].line)")
            }
        }
        process.closeInput()
        let outcome = try process.finish()
        #expect(outcome.status == 1 && outcome.output.isEmpty)
    }

    @Test(arguments: ["-j1", "-j3"]) func `several paths at once: answered in order`(jobs: String) throws {
        for index in 0..<5 { try folder.writeTone("\(index).wav", frames: [200_000, 1, 30_000][index % 3]) }
        let names = (0..<40).map { $0 % 7 == 6 ? "missing.wav" : "\($0 % 5).wav" }
        let process = try start([jobs])
        process.write(names.joined(separator: "\n") + "\n")
        for name in names { #expect(try answer(process).allSatisfy { $0.string("file") == name }) }
        process.closeInput()
        #expect(try process.finish().status == 1)
    }

    @Test func `last path without a line break: answered at the end of standard input`() throws {
        try folder.writeTone("a.wav", frames: 2048)
        let process = try start([])
        process.write("a.wav")
        process.closeInput()
        #expect(try answer(process).types == ["header", "batch", "batch", "end"])
        let outcome = try process.finish()
        #expect(outcome.status == 0 && outcome.errors.isEmpty)
    }

    @Test(arguments: ["-j1", "-j2"]) func `signal while waiting for a path: exits`(jobs: String) throws {
        try folder.writeTone("a.wav", frames: 2048)
        let process = try start([jobs])
        process.write("a.wav\n")
        _ = try answer(process)
        process.send(SIGTERM)
        let outcome = try process.finish(timeout: 10)
        #expect(outcome.status == 143 && !outcome.wasKilled && outcome.errors.isEmpty, "\(outcome.errors)")
    }

    @Test func `reader that closes the output: exits after the next path, while standard input stays open`() throws {
        try folder.writeTone("a.wav", frames: 2048)
        let process = try start([])
        process.write("a.wav\n")
        _ = try answer(process)
        process.closeOutput()
        // A process that another test starts at this moment has the pipe open until it executes its program: a path can still be answered.
        for _ in 0..<100 where process.isRunning {
            process.write("a.wav\n")
            try process.exchange(for: 0.1)
        }
        #expect(try process.finish(timeout: 10).status == 0)
    }

    @Test func `csv on standard output: flushed after each path`() throws {
        try folder.writeTone("a.wav", frames: 1024)
        let process = try start(["--sink", "csv"])
        process.write("a.wav\n")
        #expect(try process.readLine()?.hasPrefix("file,") == true)
        #expect(try process.readLine()?.hasPrefix("a.wav,0,") == true)
        process.closeInput()
        #expect(try process.finish().status == 0)
    }

    // MARK: - Folders

    @Test(arguments: ["-j1", "-j2"]) func `folder without --output-dir: records of its files in order`(jobs: String) throws {
        try FileManager.default.createDirectory(atPath: folder("in/b"), withIntermediateDirectories: true)
        for (index, name) in ["in/b/2.wav", "in/c.wav", "in/a.wav"].enumerated() {
            try folder.writeTone(name, frames: 40_000 >> (4 * index))
        }
        try folder.write("words", to: "in/bad.wav")
        let outcome = try Hemiola.run(["analyze", "in", jobs], in: folder.path)
        #expect(outcome.status == 1)
        let records = try Record.all(in: outcome.output)
        #expect(records.of("header").map { $0.string("file") } == ["in/a.wav", "in/b/2.wav", "in/c.wav"])
        #expect(records.of("failure").map { $0.string("file") } == ["in/bad.wav"])
        let toFile = try Hemiola.run(["analyze", "in", jobs, "-o", "all.jsonl"], in: folder.path)
        #expect(toFile.status == 1)
        let written = try Record.all(in: folder.text(of: "all.jsonl"))
        #expect(written.map(\.line) == records.filter { $0.type != "failure" }.map(\.line))
        let perFile = try Hemiola.run(["analyze", "in", jobs, "-o", "out/{name}.jsonl", "-q"], in: folder.path)
        #expect(perFile.status == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder("out")).count == 3)
    }

    @Test func `failure records in a recording: replayed with a warning`() throws {
        try folder.writeTone("in.wav", frames: 4096)
        let outcome = try Hemiola.run(
            ["analyze", "--files-from", "-"], in: folder.path, input: .bytes(Array("missing.wav\nin.wav\n".utf8)))
        try folder.write(outcome.output, to: "all.jsonl")
        let replayed = try Hemiola.run(["replay", "all.jsonl", "--no-realtime", "-o", "again.jsonl"], in: folder.path)
        #expect(replayed.status == 0 && replayed.errors.contains("no records of this input"), "\(replayed.errors)")
        #expect(try folder.text(of: "again.jsonl") == outcome.output.split(separator: "\n").dropFirst().map { $0 + "\n" }.joined())
    }
}
