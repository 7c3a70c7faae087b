import Foundation
import Hemiola
import TestSupport
import Testing

@testable import PulseCapture

/// The influence of a capture on PipeWire's graph, with a real server that changes its sample rate with the music.
@Suite(.enabled(if: SoundServer.Kind.pipeWire.tool.isExpected, "\(SoundServer.Kind.pipeWire.tool.reason)"))
struct GraphTests {
    private static let rates = [44_100, 48_000, 96_000]

    /// Whether the graph runs at 96 kHz, while a player plays a sine above the range of the lower rates.
    private func passesHighTones(_ server: SoundServer) throws -> Bool {
        let player = try server.play(left: 30_000, right: 30_000, on: "stage", as: "high", sampleRate: 96_000)
        defer { withExtendedLifetime(player) {} }
        try server.wait(10, for: "the player") { try server.control("list", "short", "sink-inputs").isEmpty == false }
        let path = NSTemporaryDirectory() + "/\(UUID().uuidString).raw"
        defer { try? FileManager.default.removeItem(atPath: path) }
        // Opened last, so that it has no influence itself.
        let recorder = try server.record("stage.monitor", to: path, sampleRate: 96_000)
        let wanted = 8 * 96_000
        try server.wait(20, for: "a recording") {
            let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
            return size ?? 0 >= wanted
        }
        recorder.send(SIGINT)
        let samples = try Data(contentsOf: URL(fileURLWithPath: path)).withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
        return Tones(samples.suffix(2 * 19_200), channel: 0, sampleRate: 96_000).amplitude(of: 30_000) > 0.4
    }

    private func waitUntilIdle(_ server: SoundServer) throws {
        try server.wait(10, for: "an idle output") {
            try server.control("list", "short", "sinks").split(separator: "\n").allSatisfy { !$0.hasSuffix("RUNNING") }
        }
    }

    @Test(arguments: [44_100, 48_000, nil])
    func `capture of an output: music at another rate is not resampled`(rate: Int?) async throws {
        let server = try SoundServer(.pipeWire, sinks: [.init("stage", sampleRate: 48_000)], sampleRates: Self.rates)
        let recorder = try CaptureRecorder("pulse:server=\(server.address)", rate: rate)
        try await recorder.receive()
        #expect(try passesHighTones(server))
        try waitUntilIdle(server)
        // Once more, now that the stream is open, and after music at a lower rate.
        var low: ChildProcess? = try server.play(left: 440, right: 440, on: "stage", as: "low")
        try await recorder.receive()
        withExtendedLifetime(low) {}
        low = nil
        try waitUntilIdle(server)
        #expect(try passesHighTones(server))
        try await recorder.stop()
        #expect(recorder.current.devices == ["opened stage.monitor"])
        #expect(recorder.current.gaps(of: nil) == [])
    }

    @Test func `capture of an application: its music at another rate is not resampled`() async throws {
        let server = try SoundServer(.pipeWire, sinks: [.init("stage", sampleRate: 48_000)], sampleRates: Self.rates)
        let recorder = try CaptureRecorder("pulse:app:high,server=\(server.address)", rate: 48_000)
        for _ in 0..<2 {
            #expect(try passesHighTones(server))
            try await recorder.wait(for: "the end of the application") { $0.devices.last == "lost app:high" }
            try waitUntilIdle(server)
        }
        try await recorder.stop()
    }

    @Test func `output on which nothing plays: silence at the rate of batches, then the music from its first frame`() async throws {
        let server = try SoundServer(.pipeWire)
        let recorder = try CaptureRecorder("pulse:server=\(server.address)", keepsSamples: true)
        try await recorder.receive(seconds: 1)
        // The first time, the stream is opened after the music has begun.
        for shortest in [0.5, 0.95] {
            let (samples, gaps) = (recorder.current.samples.count, recorder.current.gaps.count)
            let player = try server.play(left: 440, right: 440, on: "stage", seconds: 1)
            _ = try player.finish(timeout: 20)
            try waitUntilIdle(server)
            try await recorder.receive(seconds: 0.5)
            // Counted, because a player on a busy machine may drop out. What this process missed while it stood still is in a gap.
            let log = recorder.current
            let seconds = Double(log.samples[samples...].count { abs($0) > 1e-3 }) / 2 / 44_100
            let missed = log.gaps[gaps...].reduce(0) { $0 + Double($1.frames) / 44_100 }
            #expect((shortest - missed...1.01 + missed).contains(seconds), "\(seconds) s, \(missed) s in gaps")
        }
        try await recorder.stop()
        let log = recorder.current
        #expect(log.devices == ["opened stage.monitor"])
        #expect(log.gaps(of: nil) == [])
        #expect(abs(log.imbalance()) < 0.1, "\(log.imbalance()) \(log.gaps)")
    }

    @Test func `frozen server while music plays: reported during the freeze, then one gap`() async throws {
        let server = try SoundServer(.pipeWire)
        let player = try server.play(left: 440, right: 440, on: "stage", seconds: 60)
        let recorder = try CaptureRecorder("pulse:server=\(server.address)", keepsSamples: true)
        try await recorder.wait(for: "the music") { $0.samples.contains { abs($0) > 0.1 } }
        server.freeze()
        try await recorder.wait(for: "the loss") { $0.allDevices.last == "lost stage.monitor" }
        server.thaw()
        try await recorder.wait(for: "the gap") { !$0.gaps.isEmpty }
        try await recorder.stop()
        withExtendedLifetime(player) {}
        #expect(recorder.current.gaps(of: .frozen).first?.reason == .frozen)
        #expect(abs(recorder.current.imbalance()) < 0.1)
    }

    @Test(
        arguments: [
            ("PulseAudio (on PipeWire 0.3.65)", [0, 3, 65], ["node.passive": "true"], ["node.rate": "0/1"]),
            ("PulseAudio (on PipeWire 1.4.2)", [1, 4, 2], ["node.passive": "true"], [:]),
            ("PulseAudio (on PipeWire 1.8.0)", [1, 8, 0], ["node.passive": "in-follow"], [:]), ("pulseaudio", nil, [:], [:]),
        ] as [(String, [Int]?, [String: String], [String: String])])
    func `name of the server: the properties that this version understands`(
        name: String, version: [Int]?, atCreation: [String: String], whenOpen: [String: String]
    ) {
        #expect(ServerSnapshot.pipeWireVersion(in: name) == version)
        let properties = version.map { GraphProperties(pipeWire: $0) } ?? GraphProperties()
        #expect(properties.atCreation == atCreation && properties.whenOpen == whenOpen)
    }
}
