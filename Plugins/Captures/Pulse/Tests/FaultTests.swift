import Foundation
import Hemiola
import TestSupport
import Testing

@testable import PulseCapture

/// Outages and changes of an open source, with real servers.
@Suite(.enabled(if: SoundServer.Kind.pulseAudio.tool.isExpected, "\(SoundServer.Kind.pulseAudio.tool.reason)"))
struct FaultTests {
    /// Maximum scheduling delay of a fragment on a busy machine, in seconds.
    private static let tolerance = 0.1

    /// Receives more audio, stops the recorder, and returns its log.
    private func end(_ recorder: CaptureRecorder) async throws -> CaptureRecorder.Log {
        try await recorder.receive()
        try await recorder.stop()
        #expect(recorder.current.error == nil)
        return recorder.current
    }

    /// Expects one gap of the time between the last audio before it and the first after it.
    private func expectOneGap(_ log: CaptureRecorder.Log, _ reason: Gap.Reason, atLeast seconds: Double) {
        #expect(log.gaps(of: reason).map(\.reason) == [reason], "\(log.events)")
        let duration = Double(log.gaps.reduce(0) { $0 + $1.frames }) / 44_100
        #expect(duration >= seconds)
        #expect(abs(log.imbalance()) < Self.tolerance, "\(log.events)")
    }

    // MARK: - The server

    @Test(arguments: SoundServer.Kind.expected)
    func `server that is killed and restarts: one gap of its duration`(kind: SoundServer.Kind) async throws {
        let server = try SoundServer(kind)
        let recorder = try CaptureRecorder("pulse:stage,server=\(server.address)")
        try await recorder.receive()
        server.kill()
        try await recorder.wait(for: "the loss") { $0.devices.count > 1 }
        try await recorder.idle(seconds: 0.6)
        try server.start()
        let back = CaptureRecorder.now
        try await recorder.wait(for: "the return") { $0.devices.count > 2 }
        let log = try await end(recorder)
        let gap = try #require(log.gaps(of: .serverLost).first)
        #expect(try #require(log.entries.last { $0.delivery == .gap(gap) }).time - back < 1)
        #expect(log.devices == ["opened stage.monitor", "lost stage.monitor", "opened stage.monitor"])
        expectOneGap(log, .serverLost, atLeast: 0.6)
    }

    /// After 30 s libpulse ends the requests without a response.
    @Test(arguments: SoundServer.Kind.expected, [0.9, 3.0, 33.0])
    func `frozen server: the loss is reported during the freeze, then one gap`(kind: SoundServer.Kind, seconds: Double) async throws {
        let server = try SoundServer(kind)
        let recorder = try CaptureRecorder("pulse:server=\(server.address)")
        try await recorder.receive()
        server.freeze()
        // After half a second.
        try await recorder.wait(for: "the loss") { $0.allDevices.last == "lost stage.monitor" }
        try await recorder.idle(seconds: seconds - 0.5)
        server.thaw()
        let log = try await end(recorder)
        #expect(log.allDevices == ["opened stage.monitor", "lost stage.monitor", "opened stage.monitor"])
        // The device event precedes the gap, and the gap precedes the audio.
        let gap = log.entries.lastIndex { if case .gap = $0.delivery { true } else { false } }
        let opened = log.entries.lastIndex { if case .device = $0.delivery { true } else { false } }
        #expect(try #require(opened) < #require(gap))
        expectOneGap(log, .frozen, atLeast: seconds - 0.1)
    }

    // MARK: - The source

    /// Skipped where PipeWire is missing, which shows that the other tests ran without it.
    @Test(.enabled(if: SoundServer.Kind.pipeWire.tool.isExpected, "\(SoundServer.Kind.pipeWire.tool.reason)"))
    func `PipeWire: an output that is suspended while nothing plays is no outage`() async throws {
        let server = try SoundServer(.pipeWire)
        let recorder = try CaptureRecorder("pulse:server=\(server.address)")
        try await recorder.receive()
        try server.suspend("stage", true)
        let log = try await end(recorder)
        #expect(log.gaps(of: nil) == [])
        #expect(abs(log.imbalance()) < Self.tolerance, "\(log.events)")
    }

    @Test func `suspended source: the loss is reported at once, then one gap`() async throws {
        let server = try SoundServer(.pulseAudio)
        let recorder = try CaptureRecorder("pulse:server=\(server.address)")
        try await recorder.receive()
        try server.suspend("stage", true)
        try await recorder.wait(for: "the loss") { $0.devices.last == "lost stage.monitor" }
        try await recorder.idle(seconds: 2.5)
        try server.suspend("stage", false)
        let log = try await end(recorder)
        #expect(log.devices == ["opened stage.monitor", "lost stage.monitor", "opened stage.monitor"])
        expectOneGap(log, .suspended, atLeast: 2.4)
    }

    @Test func `source without data: lost is reported once, opened with its next audio, then one gap`() async throws {
        let server = try SoundServer(.pulseAudio)
        let pipe = try server.loadPipeSource("pipe")
        let recorder = try CaptureRecorder("pulse:pipe,server=\(server.address)")
        pipe.flow(true)
        try await recorder.receive(seconds: 0.5)
        pipe.flow(false)
        try await recorder.wait(for: "the loss") { $0.allDevices.last == "lost pipe" }
        let before = recorder.current.events.count
        // The session reopens the stream every 2 s.
        try await recorder.idle(seconds: 5)
        #expect(recorder.current.events.count == before, "\(recorder.current.events)")
        pipe.flow(true)
        try await recorder.wait(20, for: "the return") { $0.events.count > before + 1 }
        try await recorder.stop()
        let after = recorder.current.events.dropFirst(before)
        guard case .device(let notice)? = after.first, case .gap(let gap)? = after.dropFirst().first else {
            Issue.record("\(recorder.current.events)")
            return
        }
        #expect(notice.state == .opened && notice.name == "pipe")
        #expect(gap.reason == .frozen && gap.frames > 4 * 44_100)
    }

    @Test(arguments: SoundServer.Kind.expected)
    func `default output that changes: followed, and back when it disappears`(kind: SoundServer.Kind) async throws {
        let server = try SoundServer(kind, sinks: [.init("stage"), .init("hall")])
        let recorder = try CaptureRecorder("pulse:auto,server=\(server.address)")
        try await recorder.receive()
        try server.setDefault("hall")
        try await recorder.wait(for: "the move") { $0.devices.last == "moved hall.monitor" }
        try await recorder.receive()
        try server.unload("hall")
        try await recorder.wait(for: "the move back") { $0.devices.last == "moved stage.monitor" }
        let log = try await end(recorder)
        #expect(log.devices.filter { !$0.hasPrefix("lost") } == ["opened stage.monitor", "moved hall.monitor", "moved stage.monitor"])
        let gaps = log.gaps(of: .deviceLost)
        #expect(gaps.count <= 2 && gaps.allSatisfy { $0.reason == .deviceLost }, "\(log.events)")
        #expect(abs(log.imbalance()) < Self.tolerance, "\(log.events)")
    }

    @Test func `no output left: one gap until the next output`() async throws {
        let server = try SoundServer(.pulseAudio)
        let recorder = try CaptureRecorder("pulse:server=\(server.address)")
        try await recorder.receive()
        try server.unload("stage")
        try await recorder.wait(for: "the loss") { $0.devices.last == "lost stage.monitor" }
        try await recorder.idle(seconds: 0.6)
        try server.load(.init("hall"))
        try await recorder.wait(for: "the next") { $0.devices.last == "moved hall.monitor" }
        let log = try await end(recorder)
        expectOneGap(log, .deviceLost, atLeast: 0.6)
    }

    @Test(arguments: SoundServer.Kind.expected)
    func `named device that disappears: one gap until it returns, no other device`(kind: SoundServer.Kind) async throws {
        let server = try SoundServer(kind, sinks: [.init("stage"), .init("hall")])
        let other = try server.play(left: 1000, right: 1000, on: "stage")
        let recorder = try CaptureRecorder("pulse:hall,server=\(server.address)", keepsSamples: true)
        try await recorder.receive()
        try server.unload("hall")
        try await recorder.wait(for: "the loss") { $0.devices.last == "lost hall.monitor" }
        try await recorder.idle(seconds: 0.6)
        try server.load(.init("hall"))
        try await recorder.wait(for: "its return") { $0.devices.last == "opened hall.monitor" }
        let log = try await end(recorder)
        withExtendedLifetime(other) {}
        #expect(log.devices == ["opened hall.monitor", "lost hall.monitor", "opened hall.monitor"])
        expectOneGap(log, .deviceLost, atLeast: 0.6)
        #expect(log.samples.allSatisfy { abs($0) < 1e-4 })
    }

    @Test(arguments: SoundServer.Kind.expected)
    func `change of format: a new stream whose source names the new device`(kind: SoundServer.Kind) async throws {
        let server = try SoundServer(kind, sinks: [.init("stage"), .init("hall", sampleRate: 48_000, channelCount: 1)])
        let recorder = try CaptureRecorder("pulse:server=\(server.address)", rate: nil)
        try await recorder.receive()
        let first = try #require(recorder.current.source?.format)
        try server.setDefault("hall")
        try await recorder.wait(for: "the format") { !$0.formats.isEmpty }
        try await recorder.receive(seconds: 0.5, rate: 48_000)
        try server.setDefault("stage")
        try await recorder.wait(for: "the format") { $0.formats.count > 1 }
        let log = try await end(recorder)
        #expect(first == StreamFormat(sampleRate: 44_100, channelCount: 2))
        #expect(log.formats == [StreamFormat(sampleRate: 48_000, channelCount: 1), first])
        #expect(log.deviceEvents.filter { $0.state != .lost }.map(\.format) == [first] + log.formats)
        #expect(log.sources.map(\.name) == ["hall.monitor", "stage.monitor"])
        // The device record comes first in the new stream.
        for (index, entry) in log.entries.enumerated() {
            guard case .source(let source) = entry.delivery else { continue }
            guard case .device(let notice) = log.entries[index + 1].delivery else {
                Issue.record("\(log.events)")
                continue
            }
            #expect(notice.name == source.name && notice.state == .moved && notice.format == source.format)
        }
    }

    @Test(arguments: SoundServer.Kind.expected)
    func `change of channels with a requested rate: the rate stays`(kind: SoundServer.Kind) async throws {
        let server = try SoundServer(kind, sinks: [.init("stage"), .init("hall", sampleRate: 48_000, channelCount: 6)])
        let recorder = try CaptureRecorder("pulse:server=\(server.address)", rate: 44_100)
        try await recorder.receive()
        try server.setDefault("hall")
        try await recorder.wait(for: "the format") { !$0.formats.isEmpty }
        let log = try await end(recorder)
        #expect(log.formats.map(\.channelCount) == [6] && log.formats.map(\.sampleRate) == [44_100])
        #expect(abs(log.imbalance()) < Self.tolerance, "\(log.events)")
    }

    @Test(arguments: SoundServer.Kind.expected)
    func `stereo on a 5.1 output: the level is that of stereo`(kind: SoundServer.Kind) async throws {
        let map = "front-left,front-right,front-center,lfe,rear-left,rear-right"
        let server = try SoundServer(kind, sinks: [.init("stage", channelCount: 6, channelMap: map)])
        let player = try server.play(left: 1000, right: 1000, on: "stage")
        let recorder = try CaptureRecorder("pulse:server=\(server.address)", keepsSamples: true)
        try await recorder.wait(60, for: "the player") { log in
            // Samples every 601st value, because the log may be long on a busy machine.
            stride(from: 0, to: log.samples.count, by: 601).contains { abs(log.samples[$0]) > 0.1 }
        }
        try await recorder.receive(seconds: 1)
        let log = try await end(recorder)
        withExtendedLifetime(player) {}
        let format = try #require(log.source?.format)
        #expect(format.channelMap?.names == ["FL", "FR", "FC", "LFE", "BL", "BR"])
        let mix = ChannelMix(format)
        let first = try #require(log.samples.firstIndex { abs($0) > 0.1 }) / 6 * 6
        let samples = log.samples[(first + 6 * 8_820)...].prefix(6 * 22_050)
        try #require(samples.count == 6 * 22_050)
        var squares = [0.0, 0.0]
        for frame in stride(from: samples.startIndex, to: samples.endIndex, by: 6) {
            var (mono, stereo) = (0.0, 0.0)
            for channel in 0..<6 { mono += Double(samples[frame + channel] * mix.mono[channel]) }
            for channel in 0..<2 { stereo += Double(samples[frame + channel]) / 2 }
            squares[0] += mono * mono
            squares[1] += stereo * stereo
        }
        // −9.03 dB: a sine of half the full scale. A server that spreads stereo over all loudspeakers makes it louder, never softer.
        let levels = squares.map { 10 * log10($0 / 22_050) }
        #expect(abs(levels[1] + 9.03) < 0.2)
        #expect(levels[0] > -9.3, "\(levels)")
    }

    // MARK: - The reader

    @Test(arguments: SoundServer.Kind.expected)
    func `reader that is too slow: one gap with the reason overrun`(kind: SoundServer.Kind) async throws {
        let server = try SoundServer(kind)
        let recorder = try CaptureRecorder("pulse:server=\(server.address)")
        try await recorder.receive()
        // Another reader gets all of what this one misses.
        let other = try CaptureRecorder("pulse:server=\(server.address)")
        try await other.receive()
        recorder.pause(true)
        try await other.receive(seconds: 4.5)
        recorder.pause(false)
        try await other.stop()
        try await recorder.receive(seconds: 3)
        let log = try await end(recorder)
        expectOneGap(log, .overrun, atLeast: 0.5)
    }
}
