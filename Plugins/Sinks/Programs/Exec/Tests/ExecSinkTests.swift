import Foundation
import Glibc
import Hemiola
import HemiolaTesting
import JSONLinesSink
import Synchronization
import TestSupport
import Testing

@testable import ExecSink

@Suite(.serialized) struct ExecSinkTests {
    private let folder: TemporaryFolder

    init() throws {
        signal(SIGPIPE, SIG_IGN)
        folder = try TemporaryFolder()
    }

    /// Warnings of a sink.
    private final class Warnings: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private func sink(_ command: String, _ settings: [String: ParameterValue] = [:]) throws -> any Sink {
        try sink(.text(command), settings)
    }

    private func sink(_ command: ParameterValue, _ settings: [String: ParameterValue] = [:]) throws -> any Sink {
        try SinkPlugin.exec.make(
            SinkPlugin.exec.about.values(from: PluginSpec("exec", settings: settings.merging(["command": command]) { $1 })))
    }

    private func context(
        live: Bool = false, clock: any MonotonicClock = .system, _ warnings: Warnings = Warnings()
    ) -> SinkContext {
        SinkContext(
            name: "exec", records: RecordChoice(mayUseStandardOutput: false), timing: SinkTiming(isLive: live, clock: clock),
            messages: SinkMessages(warn: { warnings.add($0) }, relay: { warnings.add($0) }))
    }

    private static let header: StreamHeader = {
        var levels = AnalyzerOutputs()
        _ = levels.add(Feature("rms_db", .decibels, minimum: -120, "RMS level of the mono mix."))
        return StreamHeader(
            source: StreamSource(format: StreamFormat(sampleRate: 44_100, channelCount: 2), kind: "file", name: "song.wav"),
            isLive: false, batching: .standard, seed: 0,
            analyzers: [.init(name: "levels", id: "levels", version: 1, parameters: [], outputs: levels)])
    }()

    private static func block(_ number: Int, count: Int = 64) -> BatchBlock {
        let storage = BatchStorage(capacity: count, width: 1, samplesPerBatch: 0, channelCount: 2)
        for batch in number * count..<(number + 1) * count {
            var events = EventList()
            if batch % 10 == 0 { events.append(Onset(strength: 1), at: Double(batch)) }
            storage.openRow[0] = -20 - Float(batch % 7) / 3
            storage.complete(.init(number: Int64(batch), frame: Int64(batch) * 1024, frameCount: 1024, isPartial: false), events: &events)
        }
        return BatchBlock(storage)
    }

    private static let summary = StreamSummary(frames: 1024, batches: 1, reason: .endOfInput)

    private func run(_ sink: any Sink, _ context: SinkContext, blocks: Int = 50) throws {
        try sink.open(context)
        try sink.begin(Self.header)
        for number in 0..<blocks { try sink.write(Self.block(number)) }
        try sink.write([Event(at: 1.5, Onset(strength: 2))])
        try sink.end(Self.summary)
        try sink.close()
    }

    private func error(_ body: () throws -> Void) -> Problem? {
        do {
            try body()
            return nil
        } catch {
            return error as? Problem
        }
    }

    @Test func `input of the program: the bytes that json-lines writes`() throws {
        try run(sink("cat > \(folder("exec.jsonl"))"), context())
        let lines = try SinkPlugin.jsonLines.make(
            SinkPlugin.jsonLines.about.values(from: PluginSpec("json-lines", primary: .text(folder("file.jsonl")))))
        try run(lines, context())
        let bytes = try folder.text(of: "exec.jsonl")
        #expect(try bytes == folder.text(of: "file.jsonl"))
        #expect(bytes.utf8.count > 200_000)
    }

    @Test func `list of arguments: no shell`() throws {
        let path = folder("out $HOME.jsonl")
        try run(sink(.texts(["tee", path])), context())
        #expect(try folder.text(of: "out $HOME.jsonl").hasSuffix("\"reason\":\"end-of-input\"}\n"))
    }

    @Test func `output of the program: its lines are warnings where another sink has standard output`() throws {
        let warnings = Warnings()
        try run(sink("wc -l; echo done >&2"), context(warnings))
        // A header, 50 · 64 batches, an onset in every tenth batch, one between batches, an end.
        #expect(warnings.all == ["exec:wc -l; echo done >&2: \(2 + 3200 + 320 + 1)", "exec:wc -l; echo done >&2: done"])
    }

    @Test func `program that reads enough and ends: no error`() throws {
        let error = error { try run(sink("head -n 2 > \(folder("two"))"), context()) }
        #expect(error?.remedy == .finish)
        #expect(try recordTypes(folder.text(of: "two")) == ["header", "batch"])
    }

    @Test func `program that fails, from a file: an error with command, exit code and last line`() throws {
        let error = error { try run(sink("head -n 1 >/dev/null; echo no light found >&2; exit 4"), context()) }
        #expect(error?.remedy == .giveUp)
        #expect(
            error?.message
                == "exec:head -n 1 >/dev/null; echo no light found >&2; exit 4: ended with exit code 4: no light found; "
                + "run it in a shell to see why, or set on_error=skip")
    }

    @Test(arguments: [false, true]) func `program that fails after the end of its input: an error`(isLive: Bool) throws {
        let error = error { try run(sink("cat >/dev/null; exit 7"), context(live: isLive)) }
        #expect(error?.message == "exec:cat >/dev/null; exit 7: ended with exit code 7")
    }

    @Test func `program that does not end, from a file: an error`() throws {
        let error = error { try run(sink("cat >/dev/null; exec sleep 1000", ["timeout_s": .number(0.1)]), context()) }
        #expect(error?.message.contains("had not ended") == true, "\(String(describing: error))")
    }

    @Test func `missing program: an error that names it`() throws {
        let error = error { try run(sink("hemiola-no-such-program --x"), context()) }
        #expect(error?.message.hasPrefix("exec:hemiola-no-such-program --x: the command was not found: ") == true)
        let list = self.error { try sink(.texts(["/nonexistent/program"])).open(context()) }
        #expect(list?.message == "exec:/nonexistent/program: cannot be started: No such file or directory; check the command")
    }

    @Test func `program that never reads, from a file: ended at the time limit, an error`() throws {
        let start = MonotonicTime.now
        let error = error { try run(sink("sleep 60", ["timeout_s": .number(0.5)]), context()) }
        #expect(error?.message.hasPrefix("exec:sleep 60: has not read its input for 0.5 s, and was ended") == true)
        #expect(MonotonicTime.now - start < 10)
    }

    @Test func `program that never reads, live: each call waits for half a second at most, then it is started again`() throws {
        let (warnings, clock) = (Warnings(), VirtualClock())
        let sink = try sink("sleep 60", ["timeout_s": .number(1.2)])
        try sink.open(context(live: true, clock: clock, warnings))
        try sink.begin(Self.header)
        var remedies: [Remedy] = []
        let block = Self.block(0, count: 2000)
        while remedies.count < 10, remedies.last != .reopen {
            let start = MonotonicTime.now
            if let error = error({ try sink.write(block) }) { remedies.append(error.remedy) }
            #expect(MonotonicTime.now - start < 5)
        }
        #expect(remedies == [.retry, .retry, .reopen])
        #expect(warnings.all == ["exec:sleep 60: has not read its input for 1.2 s, and was ended; starting it again in 0.1 s"])
        try? sink.close()
        let early = error { try sink.open(context(live: true, clock: clock, warnings)) }
        #expect(early?.remedy == .reopen)
        clock.advance(by: 0.1)
        try sink.open(context(live: true, clock: clock, warnings))
        try sink.begin(Self.header)
        try sink.close()
    }

    @Test func `call that failed with retry: each record is sent once`() throws {
        // Reads after two calls have timed out.
        let start = folder("start")
        try #require(mkfifo(start, 0o600) == 0)
        let sink = try sink("cat \(start); cat > \(folder("slow.jsonl"))")
        try sink.open(context(live: true))
        try sink.begin(Self.header)
        var retries = 0
        for number in 0..<50 {
            while let error = error({ try sink.write(Self.block(number)) }) {
                try #require(error.remedy == .retry)
                retries += 1
                if retries == 2 { try FileHandle(forWritingTo: URL(filePath: start)).close() }
            }
        }
        try sink.end(Self.summary)
        try sink.close()
        #expect(retries >= 2)
        let types = try recordTypes(folder.text(of: "slow.jsonl"))
        #expect(types.count { $0 == "batch" } == 3200)
        #expect(types.count { $0 == "header" } == 1)
    }

    @Test func `policy skip: an error without advice, after which the engine goes on without the sink`() throws {
        let warnings = Warnings()
        for command in ["exit 3", "cat >/dev/null; exit 3"] {
            let error = error { try run(sink(command, ["on_error": .text("skip")]), context(warnings)) }
            #expect(error?.remedy == .giveUp)
            #expect(error?.message == "exec:\(command): ended with exit code 3")
        }
        #expect(warnings.all.isEmpty)
    }

    @Test func `program that does not end, live: ended after the time limit, with a warning`() throws {
        let warnings = Warnings()
        try run(sink("cat >/dev/null; sleep 60", ["timeout_s": .number(0.3)]), context(live: true, warnings))
        #expect(
            warnings.all == ["exec:cat >/dev/null; sleep 60: had not ended 0.3 s after the end of its input, and was ended"])
    }

    @Test func `settings: a command is required, without NUL`() {
        for (command, message) in [
            (ParameterValue.text(" "), "command: the command is empty; write exec:COMMAND, for example exec:./program"),
            (.texts([]), "command: the command is empty; write exec:COMMAND, for example exec:./program"),
            (.text("a\0b"), "command: the command contains a NUL character"),
        ] {
            #expect {
                try sink(command)
            } throws: {
                "\($0)" == message
            }
        }
    }

    @Test func `conformance`() throws {
        try SinkConformanceSuite(.exec, settings: "cat >/dev/null").run()
    }
}

/// The types of the records of a text.
private func recordTypes(_ text: String) throws -> [String] {
    try text.split(separator: "\n").map { line in
        let record = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
        return try #require(record?["type"] as? String)
    }
}
