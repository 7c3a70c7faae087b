import Foundation
import Glibc
import Hemiola
import HemiolaTesting
import Synchronization
import TestSupport
import Testing

@testable import ExecCapture

@Suite(.serialized) struct ExecCaptureTests {
    private let folder: TemporaryFolder

    init() throws {
        signal(SIGPIPE, SIG_IGN)
        folder = try TemporaryFolder()
    }

    /// Warnings of a capture.
    private final class Warnings: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private func capture(_ command: String, _ settings: [String: ParameterValue] = [:]) throws -> any Capture {
        try capture(.text(command), settings)
    }

    private func capture(_ command: ParameterValue, _ settings: [String: ParameterValue]) throws -> any Capture {
        try CapturePlugin.exec.make(
            CapturePlugin.exec.about.values(from: PluginSpec("exec", settings: settings.merging(["command": command]) { $1 })))
    }

    /// What a capture delivers up to its end or its first error.
    private struct Recording {
        var source: StreamSource
        var samples: [Float] = []
        var others: [ReadResult] = []
        var error: Problem?
    }

    private func record(
        _ capture: any Capture, _ warnings: Warnings = Warnings(), until isDone: (Recording) -> Bool = { _ in false }
    ) throws -> Recording {
        var recording = Recording(source: try capture.open(FormatRequest(clock: VirtualClock(), warn: { warnings.add($0) })))
        defer { capture.close() }
        var buffer = [Float](repeating: 0, count: 4096 * recording.source.format.channelCount)
        let start = MonotonicTime.now
        do throws(Problem) {
            while !isDone(recording), MonotonicTime.now - start < 30 {
                var span = buffer.mutableSpan
                let result = try capture.read(into: &span)
                switch result {
                case .frames(let count): recording.samples += buffer[..<(count * recording.source.format.channelCount)]
                case .idle: break
                case .end: return recording
                default: recording.others.append(result)
                }
            }
        } catch {
            recording.error = error
        }
        return recording
    }

    /// 5000 frames of a ramp, in two channels.
    private static let ramp = (0..<10_000).map { Float($0) / 10_000 }

    @Test func `WAV stream: every sample`() throws {
        let path = try folder.write(WAVBytes(samples: Self.ramp, encoding: .float32).bytes, to: "a b.wav")
        for command in [ParameterValue.text("cat '\(path)'"), .texts(["cat", path])] {
            let recording = try record(capture(command, [:]))
            #expect(recording.source.kind == "exec" && recording.source.format == StreamFormat(sampleRate: 48_000, channelCount: 1))
            #expect(recording.samples == Self.ramp)
            #expect(recording.others.isEmpty && recording.error == nil)
        }
    }

    @Test func `raw samples: every sample`() throws {
        let path = try folder.write(Self.ramp.withUnsafeBytes { Array($0) }, to: "a.f32")
        let recording = try record(capture("cat \(path)", ["raw": .text("f32le:48000:2")]))
        #expect(recording.source.format == StreamFormat(sampleRate: 48_000, channelCount: 2))
        #expect(recording.samples == Self.ramp)
    }

    @Test func `program that fails before the audio: an error with its last line`() throws {
        let error = #expect(throws: Problem.self) { try record(capture("echo no microphone >&2; exit 3")) }
        #expect(
            error?.message
                == "exec:echo no microphone >&2; exit 3: ended with exit code 3: no microphone; run it in a shell to see why")
    }

    @Test func `missing program: an error that names it`() throws {
        let shell = #expect(throws: Problem.self) { try record(capture("hemiola-no-such-program")) }
        #expect(shell?.message.hasPrefix("exec:hemiola-no-such-program: the command was not found: ") == true)
        let list = #expect(throws: Problem.self) { try record(capture(.texts(["/nonexistent/program"]), [:])) }
        #expect(list?.message == "exec:/nonexistent/program: cannot be started: No such file or directory; check the command")
    }

    @Test func `other format: refused with a way to decode it in the command`() throws {
        let error = #expect(throws: Problem.self) { try record(capture("printf 'fLaC0123456789012345678901234567890'")) }
        #expect(error?.message.hasSuffix("decode it in the command: … | ffmpeg -v error -i - -f wav -") == true)
    }

    @Test func `program that fails within the audio: the samples before, then an error`() throws {
        // It fails when the samples were delivered.
        let end = folder("end")
        try #require(mkfifo(end, 0o600) == 0)
        var hasEnded = false
        let capture = try capture("head -c 8000 /dev/zero; cat '\(end)'; kill -9 $$", ["raw": .text("f32le:44100:2")])
        let recording = try record(capture) { recording in
            if recording.samples.count == 2000, !hasEnded {
                try? FileHandle(forWritingTo: URL(filePath: end)).close()
                hasEnded = true
            }
            return false
        }
        #expect(hasEnded && recording.samples.count == 2000)
        #expect(recording.error?.message.contains("was ended by signal 9") == true)
    }

    /// Reads the rest of a capture that is open.
    private func rest(of capture: any Capture) -> (samples: [Float], error: Problem?) {
        var samples: [Float] = []
        var buffer = [Float](repeating: 0, count: 4096)
        do throws(Problem) {
            while true {
                var span = buffer.mutableSpan
                switch try capture.read(into: &span) {
                case .frames(let count): samples += buffer[..<count]
                case .end: return (samples, nil)
                default: break
                }
            }
        } catch {
            return (samples, error)
        }
    }

    @Test func `spool: the same samples twice, from one run of the program`() throws {
        let path = try folder.write(WAVBytes(samples: Self.ramp, encoding: .float32).bytes, to: "a.wav")
        let command = "echo run >> \(folder("runs")); cat \(path)"
        let capture = try #require(try capture(command, ["spool": .boolean(true)]) as? any RewindableCapture)
        _ = try capture.open(FormatRequest())
        defer { capture.close() }
        #expect(rest(of: capture).samples == Self.ramp)
        try capture.rewind()
        #expect(rest(of: capture).samples == Self.ramp)
        #expect(try folder.text(of: "runs") == "run\n")
    }

    @Test(arguments: ["fail", "skip"]) func `spool, program that fails: the same samples and the same end twice`(policy: String) throws {
        let warnings = Warnings()
        let settings: [String: ParameterValue] = [
            "raw": .text("f32le:44100:1"), "spool": .boolean(true), "on_error": .text(policy),
        ]
        let capture = try #require(try capture("head -c 8000 /dev/zero; exit 3", settings) as? any RewindableCapture)
        _ = try capture.open(FormatRequest(warn: { warnings.add($0) }))
        defer { capture.close() }
        let first = rest(of: capture)
        try capture.rewind()
        let second = rest(of: capture)
        #expect(first.samples.count == 2000 && second.samples.count == 2000)
        #expect(first.error?.message == second.error?.message)
        let message = "exec:head -c 8000 /dev/zero; exit 3: ended with exit code 3"
        #expect(second.error?.message == (policy == "fail" ? "\(message); run it in a shell to see why, or set on_error=skip" : nil))
        #expect(warnings.all == (policy == "skip" ? ["\(message); the audio before was analysed"] : []))
    }

    @Test func `spool with live: refused`() {
        #expect(throws: Problem.self) { try capture("true", ["spool": .boolean(true), "live": .boolean(true)]) }
        #expect(throws: Never.self) { try capture("true", ["spool": .boolean(false), "live": .boolean(true)]) }
    }

    @Test func `policy skip: a warning and the end`() throws {
        let warnings = Warnings()
        let recording = try record(
            capture("head -c 8000 /dev/zero; exit 3", ["raw": .text("f32le:44100:2"), "on_error": .text("skip")]), warnings)
        #expect(recording.samples.count == 2000 && recording.error == nil)
        #expect(
            warnings.all == ["exec:head -c 8000 /dev/zero; exit 3: ended with exit code 3; the audio before was analysed"])
    }

    @Test func `live: lost, opened, and the audio goes on`() throws {
        let warnings = Warnings()
        let command = "head -c 8000 /dev/zero; exit 3"
        let recording = try record(
            capture(command, ["raw": .text("f32le:44100:2"), "live": .boolean(true)]), warnings, until: { $0.samples.count >= 6000 })
        let states = recording.others.map { if case .device(let event) = $0 { event.state.rawValue } else { "\($0)" } }
        #expect(states == ["lost", "opened", "lost", "opened"])
        #expect(
            warnings.all == [
                "exec:\(command): ended with exit code 3; starting it again in 0.1 s",
                "exec:\(command): ended with exit code 3; starting it again in 0.2 s",
            ])
    }

    @Test func `program that writes nothing: an error at the time limit, before and within the audio`() throws {
        let start = MonotonicTime.now
        let before = #expect(throws: Problem.self) { try record(capture("sleep 60", ["timeout_s": .number(0.3)])) }
        #expect(before?.message == "exec:sleep 60: has written no audio for 0.3 s, and was ended")
        let within = try record(
            capture("head -c 80 /dev/zero; sleep 60", ["raw": .text("f32le:44100:2"), "timeout_s": .number(0.3)]))
        #expect(within.samples.count == 20)
        #expect(within.error?.message.contains("has written no audio for 0.3 s, and was ended; run it in a shell") == true)
        #expect(MonotonicTime.now - start < 20)
    }

    @Test func `close within the audio: the program is ended`() throws {
        let capture = try capture("echo $$ > \(folder("pid")); exec cat /dev/zero", ["raw": .text("f32le:44100:2")])
        _ = try capture.open(FormatRequest())
        let process = try #require(pid_t(folder.text(of: "pid").trimmingCharacters(in: .whitespacesAndNewlines)))
        #expect(kill(process, 0) == 0)
        capture.close()
        #expect(kill(process, 0) == -1)
    }

    @Test func `conformance`() throws {
        let path = try folder.write(WAVBytes(samples: Self.ramp, encoding: .float32).bytes, to: "a.wav")
        try CaptureConformanceSuite(.exec, settings: "cat \(path)").run()
    }
}
