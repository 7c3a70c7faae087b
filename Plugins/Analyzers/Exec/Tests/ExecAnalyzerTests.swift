import ExecAnalyzer
import Foundation
import Glibc
import HemiolaEngine
import HemiolaRecords
import HemiolaSignal
import HemiolaSystem
import HemiolaTesting
import Synchronization
import TestSupport
import Testing

@testable import Hemiola

@Suite(.serialized, .enabled(if: Tool.program("python3").isExpected, "python3 is not installed"))
struct ExecAnalyzerTests {
    private let folder: TemporaryFolder

    init() throws {
        signal(SIGPIPE, SIG_IGN)
        folder = try TemporaryFolder()
    }

    /// A program that answers every block with its peak, and reports an event in each tenth block.
    private static let peaks = """
        import array, json, sys
        start = json.loads(sys.stdin.buffer.readline())
        print(json.dumps({"outputs": [
            {"name": "peak", "unit": "amplitude", "minimum": 0, "description": "Largest sample."},
            {"name": "ends", "count": 2, "aggregation": "latest"}],
            "events": [{"name": "tenth"}, {"name": "beat"}]}), flush=True)
        size = 4 * start["channels"] * start["block_frames"]
        number = 0
        while True:
            block = sys.stdin.buffer.read(size)
            if len(block) < size: break
            x = array.array("f", block)
            if number % 10 == 0:
                frame = number * start["block_frames"]
                print(json.dumps({"event": "tenth", "frame": frame + 10, "values": [number], "label": "n"}))
                print(json.dumps({"event": "beat", "frame": frame, "bpm": 120, "position": 1, "confidence": 0.5}))
            print(json.dumps({"peak": max(map(abs, x)), "ends": [x[0], x[-1]]}), flush=True)
            number += 1
        print(json.dumps({"event": "tenth", "frame": 0, "label": "last"}), flush=True)
        """

    /// Writes a program.
    ///
    /// - Returns: The command that starts it.
    private func program(_ text: String, _ name: String = "program.py") throws -> String {
        "exec python3 \(try folder.write(text, to: name))"
    }

    /// Notices of a run.
    private final class Notices: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ notice: PipelineNotice) {
            if case .finished = notice { return }
            lines.withLock { $0.append(notice.text) }
        }
    }

    private struct Result {
        var stream: CollectedStream
        var notices: [String]
        var outcome: RunOutcome

        /// The values of a feature, an array per batch.
        func values(_ feature: String) -> [[Float]] {
            guard let column = stream.header.layout.sections.flatMap(\.features).first(where: { $0.feature.name == feature }) else {
                return []
            }
            return stream.batches.map { Array($0.row[column.handle.offset..<column.handle.offset + column.handle.count]) }
        }

        var events: [Event] { stream.batches.flatMap(\.events) + (stream.summary?.lateEvents ?? []) }
    }

    /// Analyses samples from a file.
    private func run(
        _ command: String, _ samples: [Float], format: StreamFormat = TestSignal.mono, batch: Int = 1024,
        _ settings: [String: ParameterValue] = [:]
    ) async throws -> Result {
        try await run(command, [.samples(samples)], format: format, batch: batch, settings)
    }

    /// Analyses samples live, a block as soon as the sink has got the last one.
    ///
    /// - Parameter after: Called after each block with the number of whole blocks up to it, on the thread of the capture.
    private func runLive(_ command: String, _ samples: [Float], after: @escaping @Sendable (Int) -> Void) async throws -> Result {
        let sink = CollectingSink()
        let size = 1024
        let steps = stride(from: 0, to: samples.count, by: size).flatMap { start -> [CaptureStep] in
            let end = min(start + size, samples.count)
            return [.samples(Array(samples[start..<end])), .pause(until: { sink.batchCount >= end / size }), .call { after(end / size) }]
        }
        return try await run(command, steps, isLive: true, to: sink)
    }

    private func run(
        _ command: String, _ steps: [CaptureStep], isLive: Bool = false, isPaced: Bool = false, format: StreamFormat = TestSignal.mono,
        batch: Int = 1024, _ settings: [String: ParameterValue] = [:], to sink: CollectingSink = CollectingSink(),
        _ notices: Notices = Notices()
    ) async throws -> Result {
        let registry = PluginRegistry(
            captures: [.scripted(format: format, isLive: isLive, steps)], analyzers: [.exec], sinks: [.collecting(sink)])
        let pipeline = try registry.assemble(
            PipelineConfiguration(
                captures: [PluginSpec("scripted", primary: .text("input"))],
                analyzers: [PluginSpec("exec", primary: .text(command), settings: settings)], sinks: [PluginSpec("collecting")],
                batchFrames: batch, isPaced: isPaced),
            clock: isPaced ? SystemClock() : VirtualClock())
        let outcome = await pipeline.run { notices.add($0) }
        let stream =
            sink.streams.first
            ?? CollectedStream(
                StreamHeader(
                    source: StreamSource(format: format, kind: "", name: ""), isLive: isLive, batching: .standard, seed: 0, analyzers: []))
        return Result(stream: stream, notices: notices.all, outcome: outcome)
    }

    private static let noise: [Float] = (0..<50_000).map { Float($0 * 7919 % 2001 - 1000) / 1000 }

    private func peaks(of samples: [Float], size: Int) -> [[Float]] {
        stride(from: 0, to: samples.count, by: size).map { [samples[$0..<min($0 + size, samples.count)].map(abs).max() ?? 0] }
    }

    @Test func `from a file: the values of every batch, and the events at their times`() async throws {
        let result = try await run(program(Self.peaks), Self.noise)
        #expect(result.notices.isEmpty && result.outcome.failedInputs == 0)
        #expect(result.values("peak") == peaks(of: Self.noise, size: 1024))
        // The last block is padded with zeros.
        #expect(result.values("ends").first == [Self.noise[0], Self.noise[1023]])
        #expect(result.values("ends").last == [Self.noise[48 * 1024], 0])
        let tenth = result.events.filter { $0.type == .analyzerEvent }.compactMap { AnalyzerEvent($0) }
        #expect(tenth.map(\.values) == [[0], [10], [20], [30], [40], []])
        #expect(tenth.map(\.analyzer).allSatisfy { $0 == "exec" })
        let times: [Double] = result.events.filter { $0.type == .analyzerEvent }.map(\.time)
        let frames: [Int] = [10, 10_250, 20_490, 30_730, 40_970, 0]
        let expectedTimes: [Double] = frames.map { Double($0) / 44_100 }
        #expect(times == expectedTimes)
        let beats = result.events.compactMap { Beat($0) }
        #expect(beats == Array(repeating: Beat(beatsPerMinute: 120, position: 1, confidence: 0.5), count: 5))
        let outputs = try #require(result.stream.header.analyzers.first).outputs
        #expect(outputs.features.map(\.name) == ["peak", "ends"] && outputs.features.map(\.isArray) == [false, true])
        #expect(outputs.features[0].minimum == 0 && outputs.features[0].unit == .amplitude)
        #expect(outputs.events.map(\.name) == ["tenth", "beat"])
    }

    @Test(arguments: [256, 441, 4096]) func `batch length: the program gets hops`(batch: Int) async throws {
        let hop = try #require(Batching(batchFrames: batch)).hopFrames
        let result = try await run(program(Self.peaks), Self.noise, batch: batch)
        let expected = peaks(of: Self.noise, size: hop)
        let perBatch = batch / hop
        let lastHops: [Int] = stride(from: 0, to: expected.count, by: perBatch).map { min($0 + perBatch, expected.count) - 1 }
        #expect(result.values("peak") == lastHops.map { expected[$0] })
    }

    @Test func `channels=all: interleaved samples`() async throws {
        let stereo: [Float] = (0..<4096).flatMap { (frame: Int) -> [Float] in [Float(frame) / 8192, -Float(frame) / 4096] }
        let format = StreamFormat(sampleRate: 48_000, channelCount: 2)
        let all = try await run(program(Self.peaks), stereo, format: format, ["channels": .text("all")])
        let ends: [[Float]] = (0..<4).map { [stereo[$0 * 2048], stereo[$0 * 2048 + 2047]] }
        #expect(all.values("ends") == ends)
        let mono = try await run(program(Self.peaks), stereo, format: format)
        let mixed: [Float] = [-1024.0 / 16_384, -2047.0 / 16_384]
        #expect(mono.values("ends")[1] == mixed)
    }

    @Test func `several streams: a program for each, ended with it`() async throws {
        let text = "import os\nopen('\(folder("pids"))', 'a').write(str(os.getpid()) + '\\n')\n" + Self.peaks
        for _ in 0..<2 { _ = try await run(program(text), Self.noise) }
        let processes = try folder.text(of: "pids").split(separator: "\n").compactMap { pid_t(String($0)) }
        #expect(processes.count == 2)
        for process in processes { #expect(kill(process, 0) == -1, "it has ended and is reaped") }
    }

    // MARK: - Failures

    /// The program up to its declaration, then `rest`.
    private func declared(_ rest: String) -> String {
        """
        import json, os, signal, sys
        start = json.loads(sys.stdin.buffer.readline())
        print(json.dumps({"outputs": [{"name": "a"}], "events": [{"name": "e"}]}), flush=True)
        size = 4 * start["channels"] * start["block_frames"]
        def read(): return sys.stdin.buffer.read(size)
        \(rest)
        """
    }

    @Test func `failure from a file: the input ends with a message that names the program`() async throws {
        for (rest, message) in [
            ("read(); print('no model', file=sys.stderr); sys.exit(3)", "ended with exit code 3: no model"),
            ("read(); os.kill(os.getpid(), signal.SIGSEGV)", "was ended by signal 11 (Segmentation fault)"),
            ("read(); sys.exit(0)", "ended before the stream"),
            ("read(); print('{\"b\": 1}', flush=True); signal.pause()", "has printed the key \"b\", which it has not declared"),
            (
                "read(); print('garbage', flush=True); signal.pause()",
                "has printed a line that is not JSON (invalid JSON at byte 1): garbage"
            ),
            ("read(); print('[1]', flush=True); signal.pause()", "has printed a line that is no JSON object"),
            ("read(); print('{\"a\": [1, 2]}', flush=True); signal.pause()", "has printed 2 values of \"a\" instead of 1"),
            (
                "read(); print('{\"a\": 1e999}', flush=True); signal.pause()",
                "has printed a line that is not JSON (the number 1e999 is too large): {\"a\": 1e999}"
            ),
            (
                // One write: print may write the last line break on its own.
                "read(); sys.stdout.write('{\"a\": 1}\\n{\"a\": 2}\\n'); sys.stdout.flush(); signal.pause()",
                "has answered more blocks than it got"
            ),
            (
                "read(); print('{\"event\": \"x\", \"frame\": 0}', flush=True); signal.pause()",
                "has printed the event \"x\", which it has not declared"
            ),
            (
                "read(); print('{\"event\": \"e\"}', flush=True); signal.pause()",
                "has printed an event without a \"frame\" that is 0 or more and not far in the future"
            ),
            (
                "read(); print(('{\"event\": \"e\", \"frame\": 0, \"label\": \"' + 'x' * 1_000_000 + '\"}\\n') * 70, flush=True); signal.pause()",
                "has printed more than 64 MiB of events for one block"
            ),
            (
                "read(); sys.stdout.write('x' * 20_000_000); sys.stdout.flush(); signal.pause()",
                "has printed a line of more than 4 MiB, or lines faster than they are read"
            ),
            ("read(); signal.pause()", "has not answered a block for 3.0 s, and was ended"),
            ("signal.pause()", "has not answered a block for 3.0 s, and was ended"),
        ] {
            let timeout: ParameterValue = .number(message.contains("3.0 s") ? 3 : 50)
            let result = try await run(program(declared(rest)), Self.noise, ["timeout_s": timeout])
            #expect(result.outcome.failedInputs == 1)
            #expect(
                result.notices.contains { $0.contains("exec:exec python3 ") && $0.contains(": \(message); run it in a shell to see why") },
                "\(result.notices)")
            #expect(result.stream.summary?.reason == .error)
        }
    }

    @Test func `program that ends while another one keeps its output open: its end is noticed`() async throws {
        let file = folder("child")
        let rest = """
            import subprocess
            read()
            child = subprocess.Popen(['sleep', '300'], start_new_session=True)
            with open('\(file)', 'w') as file: file.write(str(child.pid))
            sys.exit(3)
            """
        let result = try await run(program(declared(rest)), Self.noise, ["timeout_s": .number(100)])
        let child = try #require(pid_t(try folder.text(of: "child")))
        #expect(kill(child, SIGKILL) == 0, "it still runs")
        #expect(result.notices.contains { $0.contains("ended with exit code 3; run it in a shell") }, "\(result.notices)")
    }

    @Test func `failure before the stream: the input is refused with a message`() async throws {
        for (text, message) in [
            ("import signal; signal.pause()", "has not declared its outputs within 3.0 s; it prints them first, as one line of JSON"),
            ("print('{}', flush=True)", "its first line declares neither \"outputs\" nor \"events\""),
            ("print('hello', flush=True)", "has printed a line that is not JSON (invalid JSON at byte 1): hello"),
            (
                "print('{\"outputs\": [{\"name\": \"A\"}]}', flush=True)",
                "its first line has the name \"A\"; names are lower-case letters, digits and _, at most 200"
            ),
            (
                "print('{\"outputs\": [{\"name\": \"a\", \"count\": 999999}]}', flush=True)",
                "its first line declares the output \"a\" with a \"count\" that is no whole number from 1 to 131072"
            ),
            (
                "print('{\"outputs\": [{\"name\": \"a\", \"unti\": \"dB\"}]}', flush=True)",
                "its first line declares \"a\" with the unknown key \"unti\""
            ),
            ("raise SystemExit(5)", "ended with exit code 5"),
        ] {
            let result = try await run(program(text), Self.noise, ["timeout_s": .number(message.contains("3.0 s") ? 3 : 10)])
            #expect(result.outcome.failedInputs == 1 && result.outcome.streams == 0)
            #expect(result.notices.contains { $0.contains(message) }, "\(result.notices)")
        }
        let missing = try await run("hemiola-no-such-program", Self.noise)
        #expect(missing.notices.contains { $0.contains("exec:hemiola-no-such-program: the command was not found: ") }, "\(missing.notices)")
    }

    @Test func `error in place of a declaration: the input is refused with its words alone`() async throws {
        let result = try await run(program("print('{\"error\": \"no model; install one\"}', flush=True)"), Self.noise)
        #expect(result.outcome.failedInputs == 1 && result.notices.count == 1)
        #expect(result.notices.first?.hasSuffix(": no model; install one") == true, "\(result.notices)")
    }

    @Test func `digits, null in the values of an event, and a warning at the end: as printed`() async throws {
        let text = """
            import json, sys
            start = json.loads(sys.stdin.buffer.readline())
            print(json.dumps({"outputs": [{"name": "a", "unit": "dBFS", "digits": "all"}], "events": [{"name": "e"}]}), flush=True)
            size = 4 * start["channels"] * start["block_frames"]
            while len(sys.stdin.buffer.read(size)) == size: print('{"a": -12.345678}', flush=True)
            print('{"event": "e", "frame": 0, "values": [1, null]}')
            print('{"warning": "quiet\\\\nthroughout"}', flush=True)
            """
        let result = try await run(program(text), Self.noise)
        #expect(result.stream.header.analyzers.first?.outputs.features.first?.unit.digits == .all)
        #expect(result.values("a").first == [-12.345678])
        let values = try #require(result.events.compactMap { AnalyzerEvent($0) }.first).values
        #expect(values.count == 2 && values[0] == 1 && values[1].isNaN)
        #expect(result.notices.count == 1 && result.notices[0].contains("quiet") && !result.notices[0].contains("\n"), "\(result.notices)")
    }

    @Test func `program that reads hops: their frames, and times of the stream; events with values are of type event`() async throws {
        let text = """
            import json, struct, sys
            start = json.loads(sys.stdin.buffer.readline())
            print(json.dumps({"outputs": [{"name": "frame"}, {"name": "count"}, {"name": "samples", "count": 3}],
                "events": [{"name": "beat"}], "hops": True}), flush=True)
            frames = start["block_frames"]
            size = 16 + 4 * frames * (1 + start["channels"])
            while len(block := sys.stdin.buffer.read(size)) == size:
                frame, count, index = struct.unpack("=qii", block[:16])
                samples = struct.unpack(f"<{3 * frames}f", block[16:])
                print(json.dumps({"event": "beat", "t": 0.0123456789, "values": [index]}))
                print(json.dumps({"event": "beat", "t": 0.02, "bpm": None, "position": 2, "confidence": 0.5}))
                print(json.dumps({"frame": frame, "count": count, "samples": [samples[0], *samples[frames:frames + 2]]}), flush=True)
            """
        let steps: [CaptureStep] = [
            .samples(Array(Self.noise[..<3000])), .gap(Gap(frames: 1000, reason: .frozen)), .samples(Array(Self.noise[..<2048])),
        ]
        let format = StreamFormat(sampleRate: 44_100, channelCount: 2)
        let result = try await run(program(text), steps, format: format, ["channels": .text("all")])
        #expect(result.notices.allSatisfy { $0.contains("were lost") } && result.outcome.failedInputs == 0, "\(result.notices)")
        #expect(result.values("frame") == [[0], [1024], [2500]] && result.values("count") == [[1024], [476], [1024]])
        let (left, right) = (Self.noise[0], Self.noise[1])
        #expect(result.values("samples").first == [(left + right) / 2, left, right])
        let events = result.events.filter { $0.type == .analyzerEvent }
        #expect(events.map(\.time) == [0.0123456789, 0.0123456789, 0.0123456789])
        #expect(events.compactMap { AnalyzerEvent($0) }.map(\.values) == [[0], [0], [0]])
        let beats = result.events.compactMap { Beat($0) }
        #expect(beats.map(\.position) == [2, 2, 2] && beats.allSatisfy { $0.beatsPerMinute.isNaN && $0.confidence == 0.5 })
    }

    @Test func `policy skip, program that fails before its declaration: the stream is analysed without it`() async throws {
        let result = try await run("exit 5", Self.noise, ["on_error": .text("skip")])
        #expect(result.outcome.failedInputs == 0 && result.outcome.streams == 1)
        #expect(result.stream.header.analyzers.isEmpty && result.stream.batches.count == 49)
        #expect(result.notices.count == 1 && result.notices[0].hasSuffix("; analysed without exec"), "\(result.notices)")
    }

    @Test(arguments: ["fail", "skip"], [false, true])
    func `failure after the end of the input: an error, with the policy skip a warning`(policy: String, isLive: Bool) async throws {
        let rest = "while read(): print('{\"a\": 7}', flush=True)\nsys.exit(3)"
        let result = try await run(program(declared(rest)), [.samples(Self.noise)], isLive: isLive, ["on_error": .text(policy)])
        #expect(result.outcome.failedInputs == (policy == "skip" ? 0 : 1))
        #expect(result.notices.count { $0.contains("ended with exit code 3") } == 1, "\(result.notices)")
    }

    @Test func `policy skip: a warning, and null from there on`() async throws {
        let rest = "read(); print('{\"a\": 7}', flush=True); read(); sys.exit(1)"
        let result = try await run(program(declared(rest)), Self.noise, ["on_error": .text("skip")])
        #expect(result.outcome.failedInputs == 0)
        #expect(result.values("a").first == [7] && result.values("a").dropFirst().allSatisfy { $0[0].isNaN })
        #expect(result.notices.count == 1 && result.notices[0].hasSuffix("ended with exit code 1; its values are null from here on"))
    }

    @Test func `standard error: its lines are warnings`() async throws {
        let rest = "print('loaded', file=sys.stderr)\nwhile read(): print('{\"a\": 7}', flush=True)"
        let command = try program(declared(rest))
        let notices = try await run(command, Self.noise).notices
        #expect(notices.count == 1 && notices[0].hasPrefix("exec:exec python3 ") && notices[0].hasSuffix(": loaded"))
    }

    // MARK: - Real time

    @Test func `live: values arrive a block later at the earliest, and nothing is lost`() async throws {
        // Appends a byte to a file for each answer.
        let answers = "answers = open('\(folder("answers"))', 'ab', 0)\n"
        let text = answers + Self.peaks.replacing("    number += 1", with: "    number += 1; answers.write(b'.')")
        let result = try await runLive(program(text), Self.noise) { [folder] count in
            #expect(throws: Never.self) {
                try folder.wait(for: "the answer") { try folder.text(of: "answers").utf8.count >= count }
            }
        }
        #expect(result.notices.isEmpty)
        let values = result.values("peak").map { $0[0] }
        #expect(values.first?.isNaN == true)
        let expected = Set(peaks(of: Self.noise, size: 1024).map { $0[0] })
        let known = values.drop { $0.isNaN }
        #expect(known.count > 20 && known.allSatisfy { expected.contains($0) })
        #expect(result.events.compactMap { DropReport($0) }.isEmpty)
        #expect(result.stream.header.analyzers.first?.outputs.latencyFrames == 1024)
        #expect(result.events.compactMap { Beat($0) }.count == 5)
    }

    @Test func `live, slow program: the newest blocks win, and the loss is reported`() async throws {
        // It answers a block for each byte that it gets: one in twenty blocks, and at the end as many as it likes.
        let bytes = folder("bytes")
        try #require(mkfifo(bytes, 0o600) == 0)
        let writer = open(bytes, O_RDWR | O_CLOEXEC)
        defer { close(writer) }
        let rest = "bytes = open('\(bytes)', 'rb', 0)\nwhile read():\n    bytes.read(1); print('{\"a\": 7}', flush=True)"
        let result = try await runLive(program(declared(rest)), TestSignal.silence(frames: 200 * 1024)) { count in
            let text = [UInt8](repeating: 0, count: count == 200 ? 100 : count.isMultiple(of: 20) ? 1 : 0)
            _ = write(writer, text, text.count)
        }
        let losses = result.events.compactMap { DropReport($0) }
        #expect(losses.allSatisfy { $0.sink == "exec" && $0.client == nil })
        #expect(losses.reduce(0) { $0 + $1.batches } > 50)
        #expect(result.stream.batches.count == 200)
    }

    @Test func `live, program that hangs or crashes: started again, and the run goes on`() async throws {
        for (rest, message) in [
            ("read(); signal.pause()", "has not answered a block for 2.0 s, and was ended; starting it again in 0.1 s"),
            ("read(); os.abort()", "was ended by signal 6 (Aborted); starting it again in 0.1 s"),
        ] {
            let notices = Notices()
            // In real time, for the program is started again after some time; the last block comes when it has failed twice.
            let steps: [CaptureStep] = [
                .samples(TestSignal.silence(frames: 199 * 1024)),
                .pause(until: { notices.all.contains { $0.hasSuffix("starting it again in 0.2 s") } }),
                .samples(TestSignal.silence(frames: 1024)),
            ]
            let result = try await run(program(declared(rest)), steps, isPaced: true, ["timeout_s": .number(2)], notices)
            #expect(result.outcome.failedInputs == 0)
            #expect(result.stream.batches.count == 200)
            #expect(result.notices.contains { $0.hasSuffix(message) }, "\(result.notices)")
            #expect(result.notices.contains { $0.hasSuffix("starting it again in 0.2 s") }, "\(result.notices)")
            #expect(!result.events.compactMap { DropReport($0) }.isEmpty)
        }
    }

    // MARK: - Rules of analyzers

    @Test func `listing the outputs: the program is started and ended, and not for a selection`() throws {
        let text = "import os\nopen('\(folder("pids"))', 'a').write(str(os.getpid()) + '\\n')\n" + Self.peaks
        let registry = PluginRegistry(captures: [.scripted([])], analyzers: [.exec], sinks: [.collecting(CollectingSink())])
        var configuration = PipelineConfiguration(
            captures: [PluginSpec("scripted", primary: .text("input"))], analyzers: [PluginSpec("exec", primary: .text(try program(text)))],
            sinks: [PluginSpec("collecting")])
        configuration.selection = ["exec.peak"]
        let pipeline = try registry.assemble(configuration)
        #expect(folder.names == ["program.py"])
        let described = try pipeline.describeAnalyzers(for: TestSignal.mono)
        #expect(described.first?.outputs.features.map(\.name) == ["peak", "ends"])
        let process = try #require(pid_t(folder.text(of: "pids").trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(kill(process, 0) == -1)
    }

    @Test func `conformance`() throws {
        let text = """
            import array, json, sys
            start = json.loads(sys.stdin.buffer.readline())
            print(json.dumps({"outputs": [{"name": "peak", "minimum": 0}]}), flush=True)
            size = 4 * start["channels"] * start["block_frames"]
            while len(block := sys.stdin.buffer.read(size)) == size:
                print(json.dumps({"peak": max(map(abs, array.array("f", block)))}), flush=True)
            """
        try AnalyzerConformanceSuite(.exec, settings: program(text)).run()
    }

    @Test func `frame map: follows gaps and lost blocks`() {
        var map = FrameMap(blockFrames: 100)
        for frame: Int64 in [0, 100, 200, 1000, 1100] { map.append(blockAt: frame) }
        let mapped: [Int64] = [0, 299, 300, 450, 900].map { (frame: Int64) -> Int64 in map.streamFrame(of: frame) }
        #expect(mapped == [0, 299, 1000, 1150, 1600])
        for number in 0..<1000 { map.append(blockAt: Int64(2000 + 300 * number)) }
        #expect(map.streamFrame(of: 100_400) == 301_700)
    }
}
