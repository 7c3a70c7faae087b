import Foundation
import TestSupport
import Testing

/// An offline run that waits in the middle of its input, which is a pipe that stays open.
enum OfflineRun {
    /// Five blocks of batches of a click track at 120 beats a minute.
    private static let sound: [UInt8] = {
        let frames = 5 * 64 * 1024
        let samples = (0..<frames).map { frame in frame % 22_050 < 400 ? Float(sin(Double(frame) * 0.3)) * 0.8 : 0 }
        var wav = WAVBytes(samples: samples, sampleRate: 44_100, channelCount: 1, encoding: .int16)
        // A placeholder length, as from a pipe.
        (wav.statedRIFFSize, wav.statedDataSize) = (.max, .max)
        return wav.bytes
    }()

    static func start(_ command: [String], output: String) throws -> ChildProcess {
        try Hemiola.start(command + ["-", "-o", output], input: .bytes(sound, staysOpen: true))
    }

    /// What a process has read so far, in bytes.
    static func bytesRead(by process: ChildProcess) -> Int {
        let text = (try? String(contentsOfFile: "/proc/\(process.identifier)/io", encoding: .utf8)) ?? ""
        return text.split(separator: "\n").first.flatMap { Int($0.dropFirst("rchar: ".count)) } ?? 0
    }

    /// Writes input to a run until a condition is true that no event announces, as what it has read of a pipe.
    static func feed(_ process: ChildProcess, until condition: () -> Bool) throws {
        for _ in 0..<3000 where process.isRunning {
            if condition() { return }
            try process.exchange(for: 0.02)
        }
        Issue.record("it ended, or nothing came of it")
    }
}

/// Output files after an interrupted or failed run.
@Suite struct InterruptedOutputTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Interrupts a run that has started to write.
    private func interrupt(_ command: [String], output: String, _ signal: Int32) throws -> ChildProcess.Outcome {
        let process = try OfflineRun.start(command, output: folder(output))
        // Nearly all of it is read then: a pipe holds a tenth of it.
        try process.writeInput()
        try folder.wait(for: "an output file") { folder.names.contains { $0.hasSuffix(".partial") } }
        process.send(signal)
        return try process.finish(timeout: 30)
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGUSR1, SIGUSR2], ["out.jsonl", "out.csv", "out.jsonl.zst"])
    func `interrupted analyze: existing file unchanged`(signal: Int32, name: String) throws {
        try folder.write("before\n", to: name)
        let outcome = try interrupt(["analyze", "--analyzer", "levels"], output: name, signal)
        #expect(outcome.status == 128 + signal)
        #expect(try folder.text(of: name) == "before\n")
        #expect(!folder.names.contains { $0.hasSuffix(".partial") })
        #expect(outcome.errors.contains("\(name): the run was interrupted; the old file is unchanged"), "\(outcome.errors)")
    }

    @Test func `interrupted analyze without an existing file: end record has the reason interrupted`() throws {
        let outcome = try interrupt(["analyze", "--analyzer", "levels"], output: "out.jsonl", SIGINT)
        #expect(outcome.status == 130)
        #expect(try Record.all(in: folder.text(of: "out.jsonl")).last?.string("reason") == "interrupted")
        #expect(outcome.errorLines.count == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains("the file has what was analysed before"), "\(outcome.errors)")
    }

    @Test func `killed run: what it left is removed by the next run of the same output`() throws {
        try folder.writeTone("a.wav", frames: 4096)
        let process = try OfflineRun.start(["analyze", "--analyzer", "levels"], output: folder("out.jsonl"))
        try process.writeInput()
        try folder.wait(for: "an output file") { folder.names.contains { $0.hasSuffix(".partial") } }
        let running = try #require(folder.names.first { $0.hasSuffix(".partial") })
        // A run beside it leaves its file alone.
        let command = ["analyze", "a.wav", "--analyzer", "levels", "-o", "out.jsonl"]
        #expect(try Hemiola.run(command, in: folder.path).status == 0)
        #expect(folder.names.contains(running))
        process.send(SIGKILL)
        #expect(try process.finish().wasKilled)
        #expect(try Hemiola.run(command, in: folder.path).status == 0)
        #expect(folder.names == ["a.wav", "out.jsonl"])
    }

    @Test func `signal while a decoder works: ends without it, and names its file`() throws {
        let sound = try Data(contentsOf: URL(fileURLWithPath: Hemiola.minuet))
        try folder.write(sound, to: "long.flac")
        // The decoder searches the zeros behind the sound for a frame.
        try #require(truncate(folder("long.flac"), 1 << 40) == 0)
        let events = try FolderEvents(folder.path, reads: true)
        let process = try Hemiola.start(["analyze", "long.flac", "--analyzer", "levels", "-o", "out.jsonl"], in: folder.path)
        try events.wait(for: "the end of the sound") { OfflineRun.bytesRead(by: process) >= 100 * sound.count }
        process.send(SIGINT)
        let outcome = try process.finish(timeout: 30)
        #expect(
            outcome.status == 130 && outcome.errorLines.count == 1 && outcome.errors.contains("hemiola: long.flac: "), "\(outcome.errors)")
        #expect(!outcome.errors.contains("sink"), "\(outcome.errors)")
    }

    @Test func `interrupted summary: the error of the row says so`() throws {
        let outcome = try interrupt(
            ["analyze", "--summary", "--causal", "--analyzer", "levels", "--select", "duration_s"], output: "out.csv", SIGINT)
        #expect(outcome.status == 130)
        let rows = try folder.text(of: "out.csv").split(separator: "\n")
        #expect(rows.count == 2 && rows[1].contains(": interrupted after "), "\(rows)")
    }

    @Test(arguments: ["out.beats", "out.mid", "out.jams", "out.json"], [true, false])
    func `interrupted beats: existing file unchanged, no new file`(name: String, isOld: Bool) throws {
        if isOld { try folder.write("before\n", to: name) }
        let outcome = try interrupt(["beats", "--causal"], output: name, SIGINT)
        #expect(outcome.status == 130)
        #expect(outcome.errorLines.count == 1 && outcome.errors.contains("\(name): the run was interrupted; "), "\(outcome.errors)")
        if isOld {
            #expect(try folder.text(of: name) == "before\n")
        } else if name != "out.beats" {
            #expect(folder.names.isEmpty)
        }
    }

    @Test(arguments: ["out.beats", "out.mid"]) func `beats of an unreadable input: existing file unchanged`(name: String) throws {
        try folder.write("before\n", to: name)
        let text = try folder.write("no sound", to: "text.wav")
        let outcome = try Hemiola.run(["beats", text, "-o", folder(name)])
        #expect(outcome.status == 1)
        #expect(try folder.text(of: name) == "before\n")
        #expect(folder.names == [name, "text.wav"].sorted())
    }

    @Test func `interrupted run with a file per input: complete files are written`() throws {
        let names = ["a.wav", "b.wav"]
        for name in names { try folder.writeTone(name, frames: 4096) }
        try folder.write("no sound", to: "c.wav")
        try folder.write("before\n", to: "c.jsonl")
        let outcome = try Hemiola.run(["analyze", "a.wav", "c.wav", "b.wav", "-o", "{stem}.jsonl"], in: folder.path)
        #expect(outcome.status == 1)
        for name in ["a", "b"] {
            let records = try Record.all(in: folder.text(of: "\(name).jsonl"))
            #expect(records.types == ["header", "batch", "batch", "batch", "batch", "end"])
            #expect(records.first?.string("file") == "\(name).wav")
        }
        #expect(try folder.text(of: "c.jsonl") == "before\n")
    }

    @Test func `inputs of one name: refused before any work, accepted with {dir}`() throws {
        for name in ["c1", "c2"] {
            try FileManager.default.createDirectory(atPath: folder(name), withIntermediateDirectories: false)
            try folder.writeTone("\(name)/a.wav", frames: 4096)
        }
        let refused = try Hemiola.run(["beats", "c1/a.wav", "c2/a.wav", "-o", "out/{stem}.beats"], in: folder.path)
        #expect(refused.status == 2 && refused.errorLines.count == 1)
        #expect(refused.errors.contains("c1/a.wav") && refused.errors.contains("c2/a.wav"), "\(refused.errors)")
        #expect(folder.names == ["c1", "c2"])
        let outcome = try Hemiola.run(["beats", "c1/a.wav", "c2/a.wav", "-o", "out/{dir}/{stem}.beats"], in: folder.path)
        #expect(outcome.status == 0, "\(outcome.errors)")
        for name in ["c1", "c2"] { #expect(FileManager.default.fileExists(atPath: folder("out/\(name)/a.beats"))) }
    }

    @Test(arguments: ["/proc/nope/{stem}.csv", "a.wav/{stem}.csv", "{stem}.d"], [[], ["--realtime"]])
    func `per-input output that cannot be written: refused before any sink writes`(path: String, options: [String]) throws {
        try folder.writeTone("a.wav", frames: 4096)
        try FileManager.default.createDirectory(atPath: folder("a.d"), withIntermediateDirectories: false)
        let outcome = try Hemiola.run(
            ["analyze", "a.wav", "--sink", "json-lines", "--sink", "csv:\(path)"] + options, in: folder.path)
        #expect(outcome.status == 3 && outcome.output.isEmpty)
        #expect(outcome.errors.contains("cannot write "), "\(outcome.errors)")
        #expect(folder.names == ["a.d", "a.wav"])
    }

    @Test(arguments: [("csv:{stem}.csv", true), ("csv:{stem}.csv,append=true", false), ("csv:{stem}.csv,rotate_s=60", false)])
    func `per-input output in real time to an existing file: refused before any sink writes, unless it is appended to`(
        sink: String, isRefused: Bool
    ) throws {
        try folder.writeTone("a.wav", frames: 4096)
        try folder.write("", to: "a.events.csv")
        let plain = try Hemiola.run(["analyze", "a.wav", "-o", "a.csv", "--sink", "csv"], in: folder.path)
        #expect(plain.status == 0, "\(plain.errors)")
        let old = try folder.text(of: "a.csv")
        let outcome = try Hemiola.run(
            ["analyze", "a.wav", "--realtime", "--sink", "json-lines", "--sink", sink], in: folder.path)
        #expect(outcome.status == (isRefused ? 3 : 0), "\(outcome.errors)")
        #expect(outcome.output.isEmpty == isRefused)
        #expect(try folder.text(of: "a.csv").hasPrefix(old))
        if isRefused { #expect(outcome.errors.contains("a.csv: the file exists")) }
    }
}
