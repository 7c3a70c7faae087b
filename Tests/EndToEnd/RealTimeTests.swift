import Foundation
import Glibc
import TestSupport
import Testing

/// `--realtime` and `replay`: the pace after a pause, and at the end of inputs that are cut off.
@Suite(.mayNotHang) struct RealTimeTests {
    private let folder: TemporaryFolder
    private static let rate = 8000

    init() throws {
        folder = try TemporaryFolder()
    }

    /// Raw samples of so many seconds, at 8 kHz.
    private func samples(_ seconds: Double) -> [UInt8] {
        TemporaryFolder.tone(frames: Int(seconds * Double(Self.rate)), rate: Self.rate).sound
    }

    /// When the lines with these stream times came, in seconds.
    private func arrivals(of process: ChildProcess) throws -> [(streamTime: Double, time: Double)] {
        var result: [(Double, Double)] = []
        while let line = try process.readLine(timeout: 60) {
            let record = try Record(line)
            if record.type == "batch" { result.append((record.double("t") ?? -1, ProcessInfo.processInfo.systemUptime)) }
        }
        return result
    }

    /// Requires that the lines after the longest pause came at real-time speed.
    private func expectNoBurst(_ arrivals: [(streamTime: Double, time: Double)], location: SourceLocation = #_sourceLocation) throws {
        let pauses = zip(arrivals, arrivals.dropFirst()).map { $1.time - $0.time }
        let longest = try #require(pauses.indices.max { pauses[$0] < pauses[$1] }, sourceLocation: location)
        let (first, last) = (arrivals[longest + 1], arrivals[arrivals.count - 1])
        #expect(pauses[longest] > 1.5, sourceLocation: location)
        let (streamed, took) = (last.streamTime - first.streamTime, last.time - first.time)
        #expect(streamed > 1.5, "\(arrivals.count)", sourceLocation: location)
        // Two seconds of sound, which came in a burst would take half a second or less.
        #expect(took > streamed - 0.7, "\(streamed) s of sound in \(took) s", sourceLocation: location)
    }

    @Test func `listen to a FIFO whose writers come and go: goes on after each, and says once that it waits`() throws {
        #expect(mkfifo(folder("pipe"), 0o600) == 0)
        let process = try Hemiola.start(
            ["listen", "--json", "--no-defaults", "--capture", "pcm:\(folder("pipe")),raw=s16le:\(Self.rate):2", "--analyzer", "levels"])
        _ = try process.readErrorLine(containing: "waiting for sound in \(folder("pipe"))")
        // With half a frame at the end.
        let part = samples(0.3) + [0, 1]
        for _ in 1...3 {
            let writer = try #require(fopen(folder("pipe"), "w"))
            fwrite(part, 1, part.count, writer)
            fclose(writer)
            // Each part has the frames of a batch. A gap comes before it only if the reader has seen the end of the part before, which a
            // writer that comes at once prevents.
            var type = ""
            while type != "batch" {
                let record = try Record(try #require(try process.readLine(timeout: 30)))
                type = record.type
                if type == "gap" { #expect(record.int("frames") == 0 && record.string("reason") == "suspended") }
            }
        }
        process.send(SIGINT)
        let outcome = try process.finish(timeout: 30)
        #expect(outcome.status == 130 && outcome.errorLines.count <= 1, "\(outcome.errors)")
    }

    private static let analyze = ["analyze", "--realtime", "--batch", "512", "--analyzer", "levels"]

    /// Starts a thread that writes to a FIFO: a part, and three seconds later the rest.
    private func feed(_ name: String, _ first: [UInt8], _ rest: [UInt8]) throws {
        #expect(mkfifo(folder(name), 0o600) == 0)
        let path = folder(name)
        Thread.detachNewThread {
            guard let file = fopen(path, "w") else { return }
            fwrite(first, 1, first.count, file)
            fflush(file)
            // The pause is the input: the program compares it with the clock.
            usleep(3_000_000)
            fwrite(rest, 1, rest.count, file)
            fclose(file)
        }
    }

    @Test(arguments: ["pcm:", "exec:cat "]) func `source that pauses: no burst after it`(capture: String) throws {
        try feed("pipe", samples(0.3), samples(2.1))
        let source = ["--capture", "\(capture)\(folder("pipe")),raw=s16le:\(Self.rate):1"]
        let process = try Hemiola.start(Self.analyze + source)
        try expectNoBurst(arrivals(of: process))
        let outcome = try process.finish()
        #expect(outcome.status == 0 && outcome.errorLines.count == 1, "\(outcome.errors)")
        #expect(outcome.errors.contains("paused for ") && outcome.errors.contains(folder("pipe")), "\(outcome.errors)")
    }

    @Test func `recording from a pipe that pauses: no burst after it`() throws {
        let lines = try Hemiola.records(
            ["--capture", "tone:noise,seconds=2.6,rate=8000,channels=1", "--analyzer", "levels", "--batch", "512"]
        ).map(\.line)
        let half = lines.prefix(8).joined(separator: "\n") + "\n"
        try feed("pipe", Array(half.utf8), Array((lines.dropFirst(8).joined(separator: "\n") + "\n").utf8))
        let process = try Hemiola.start(["replay", folder("pipe")])
        try expectNoBurst(arrivals(of: process))
        let outcome = try process.finish()
        #expect(outcome.status == 0 && outcome.errors.contains("paused for "), "\(outcome.errors)")
    }

    @Test func `process that is stopped and continued: no burst after it`() throws {
        let process = try Hemiola.start(Self.analyze + ["--capture", "tone:noise,seconds=3,rate=8000,channels=1"])
        _ = try process.readLine()
        _ = try process.readLine()
        let start = ProcessInfo.processInfo.systemUptime
        process.send(SIGSTOP)
        // The pause is the input: the program compares it with the clock.
        usleep(2_500_000)
        process.send(SIGCONT)
        let last = try #require(arrivals(of: process).last)
        // Three seconds of sound, of which the first may be there already. Made up for, they end after three seconds.
        #expect(last.time - start > 2.5 + last.streamTime - 0.8, "\(last)")
    }

    // MARK: - Inputs that are cut off

    /// A file of 60 s that is cut off after half a second.
    private func cutFile() throws -> String {
        var wave = TemporaryFolder.tone(frames: Self.rate / 2, rate: Self.rate)
        wave.statedDataSize = UInt32(60 * Self.rate * 2)
        wave.statedRIFFSize = UInt32(60 * Self.rate * 2 + 36)
        return try folder.write(wave.bytes, to: "cut.wav")
    }

    private func expectEarlyEnd(_ arguments: [String], status: Int32, input: ChildProcess.Input = .nothing) throws -> [Record] {
        let start = ProcessInfo.processInfo.systemUptime
        let outcome = try Hemiola.run(arguments, in: folder.path, input: input)
        // In real time it would take the 60 s that the file states.
        #expect(ProcessInfo.processInfo.systemUptime - start < 30)
        #expect(outcome.status == status, "\(outcome.errors)")
        return try Record.all(in: outcome.output)
    }

    @Test func `file that is cut off: ends at once, and so does the replay of its records`() throws {
        let records = try expectEarlyEnd(["analyze", "--realtime", cutFile()], status: 1)
        #expect(records.of("gap").first?.string("reason") == "truncated-file")
        #expect(records.of("gap").first?.double("duration_s").map { $0 > 59 } == true)
        #expect(records.last?.double("t") == 60)
        try folder.write(records.map { $0.line + "\n" }.joined(), to: "cut.jsonl")
        let replayed = try expectEarlyEnd(["replay", "cut.jsonl"], status: 0)
        #expect(replayed.map(\.line) == records.map(\.line))
        // Without batches, the sink gets samples all the same.
        try folder.write(records.filter { $0.type != "batch" }.map { $0.line + "\n" }.joined(), to: "events.jsonl")
        let events = try expectEarlyEnd(["replay", "events.jsonl", "--sink", "json-lines", "--sink", "audio:out.wav"], status: 0)
        #expect(events.types.suffix(2) == ["gap", "end"])
    }

    @Test func `stream on standard input that is cut off: ends at once`() throws {
        let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: cutFile())))
        let records = try expectEarlyEnd(["analyze", "--realtime", "-"], status: 1, input: .bytes(bytes))
        #expect(records.of("gap").first?.string("reason") == "truncated-file" && records.last?.double("t") == 60)
    }
}
