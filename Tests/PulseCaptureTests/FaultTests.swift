import Foundation
import Hemiola
import HemiolaSignal
import TestSupport
import Testing

@testable import PulseCapture

/// What can befall a source that is open, with real servers.
@Suite(.enabled(if: SoundServer.Kind.pulseAudio.tool.isExpected, "\(SoundServer.Kind.pulseAudio.tool.reason)"))
struct FaultTests {
    /// What scheduling on a busy machine may add to a fragment or two, in seconds.
    private static let tolerance = 0.1

    /// What a listener heard, once it has ended.
    private func end(_ listener: Listener) async throws -> Listener.Log {
        try await listener.hear()
        try await listener.stop()
        #expect(listener.current.error == nil)
        return listener.current
    }

    /// One gap, of the time between the last audio before it and the first after it: with it nothing is missing and nothing too much.
    private func expectOneGap(_ log: Listener.Log, _ reason: Gap.Reason, atLeast seconds: Double) {
        #expect(log.gaps(of: reason).map(\.reason) == [reason], "\(log.told)")
        let duration = Double(log.gaps.reduce(0) { $0 + $1.frames }) / 44_100
        #expect(duration >= seconds)
        #expect(abs(log.imbalance()) < Self.tolerance, "\(log.told)")
    }

    // MARK: - The server

    @Test(arguments: SoundServer.Kind.expected)
    func `a server that is killed and comes back makes one gap`(kind: SoundServer.Kind) async throws {
        let server = try SoundServer(kind)
        let listener = try Listener("pulse:stage,server=\(server.address)")
        try await listener.hear()
        server.kill()
        try await listener.wait(for: "the loss") { $0.devices.count > 1 }
        try await Task.sleep(for: .milliseconds(600))
        try server.start()
        let back = Listener.now
        try await listener.wait(for: "its return") { $0.devices.count > 2 }
        let log = try await end(listener)
        let gap = try #require(log.gaps(of: .serverLost).first)
        #expect(try #require(log.entries.last { $0.delivery == .gap(gap) }).time - back < 1)
        #expect(log.devices == ["opened stage.monitor", "lost stage.monitor", "opened stage.monitor"])
        expectOneGap(log, .serverLost, atLeast: 0.6)
    }

    @Test(arguments: SoundServer.Kind.expected, [0.9, 3.0])
    func `a server that is frozen makes one gap`(kind: SoundServer.Kind, seconds: Double) async throws {
        let server = try SoundServer(kind)
        let listener = try Listener("pulse:server=\(server.address)")
        try await listener.hear()
        server.freeze()
        try await Task.sleep(for: .seconds(seconds))
        server.thaw()
        let log = try await end(listener)
        #expect(log.devices == ["opened stage.monitor"])
        expectOneGap(log, .frozen, atLeast: seconds - 0.1)
    }

    // MARK: - The source

    /// Skipped, it says that every test here was without PipeWire.
    @Test(.enabled(if: SoundServer.Kind.pipeWire.tool.isExpected, "\(SoundServer.Kind.pipeWire.tool.reason)"))
    func `PipeWire does not suspend a source that is listened to`() async throws {
        let server = try SoundServer(.pipeWire)
        let listener = try Listener("pulse:server=\(server.address)")
        try await listener.hear()
        try server.suspend("stage", true)
        let log = try await end(listener)
        #expect(log.gaps(of: nil) == [])
        #expect(abs(log.imbalance()) < Self.tolerance, "\(log.told)")
    }

    @Test func `a source that is suspended makes one gap`() async throws {
        let server = try SoundServer(.pulseAudio)
        let listener = try Listener("pulse:server=\(server.address)")
        try await listener.hear()
        try server.suspend("stage", true)
        try await Task.sleep(for: .seconds(2.5))
        try server.suspend("stage", false)
        let log = try await end(listener)
        #expect(log.devices == ["opened stage.monitor"])
        expectOneGap(log, .suspended, atLeast: 2.4)
    }

    @Test(arguments: SoundServer.Kind.expected)
    func `the default output is followed, and back when it goes`(kind: SoundServer.Kind) async throws {
        let server = try SoundServer(kind, sinks: [.init("stage"), .init("hall")])
        let listener = try Listener("pulse:auto,server=\(server.address)")
        try await listener.hear()
        try server.setDefault("hall")
        try await listener.wait(for: "the move") { $0.devices.last == "moved hall.monitor" }
        try await listener.hear()
        try server.unload("hall")
        try await listener.wait(for: "the move back") { $0.devices.last == "moved stage.monitor" }
        let log = try await end(listener)
        #expect(log.devices.filter { !$0.hasPrefix("lost") } == ["opened stage.monitor", "moved hall.monitor", "moved stage.monitor"])
        let gaps = log.gaps(of: .deviceLost)
        #expect(gaps.count <= 2 && gaps.allSatisfy { $0.reason == .deviceLost }, "\(log.told)")
        #expect(abs(log.imbalance()) < Self.tolerance, "\(log.told)")
    }

    @Test func `without any output it waits for the next`() async throws {
        let server = try SoundServer(.pulseAudio)
        let listener = try Listener("pulse:server=\(server.address)")
        try await listener.hear()
        try server.unload("stage")
        try await listener.wait(for: "the loss") { $0.devices.last == "lost stage.monitor" }
        try await Task.sleep(for: .milliseconds(600))
        try server.load(.init("hall"))
        try await listener.wait(for: "the next") { $0.devices.last == "moved hall.monitor" }
        let log = try await end(listener)
        expectOneGap(log, .deviceLost, atLeast: 0.6)
    }

    @Test(arguments: SoundServer.Kind.expected)
    func `for a named device that vanishes it waits, and hears no other`(kind: SoundServer.Kind) async throws {
        let server = try SoundServer(kind, sinks: [.init("stage"), .init("hall")])
        let other = try server.play(left: 1000, right: 1000, on: "stage")
        let listener = try Listener("pulse:hall,server=\(server.address)", keepsSamples: true)
        try await listener.hear()
        try server.unload("hall")
        try await listener.wait(for: "the loss") { $0.devices.last == "lost hall.monitor" }
        try await Task.sleep(for: .milliseconds(600))
        try server.load(.init("hall"))
        try await listener.wait(for: "its return") { $0.devices.last == "opened hall.monitor" }
        let log = try await end(listener)
        withExtendedLifetime(other) {}
        #expect(log.devices == ["opened hall.monitor", "lost hall.monitor", "opened hall.monitor"])
        expectOneGap(log, .deviceLost, atLeast: 0.6)
        #expect(log.samples.allSatisfy { abs($0) < 1e-4 })
    }

    @Test(arguments: SoundServer.Kind.expected)
    func `another format is a new stream`(kind: SoundServer.Kind) async throws {
        let server = try SoundServer(kind, sinks: [.init("stage"), .init("hall", sampleRate: 48_000, channelCount: 1)])
        let listener = try Listener("pulse:server=\(server.address)", rate: nil)
        try await listener.hear()
        let first = try #require(listener.current.source?.format)
        try server.setDefault("hall")
        try await listener.wait(for: "the format") { !$0.formats.isEmpty }
        try await listener.hear(seconds: 0.5, rate: 48_000)
        try server.setDefault("stage")
        try await listener.wait(for: "the format") { $0.formats.count > 1 }
        let log = try await end(listener)
        #expect(first == StreamFormat(sampleRate: 44_100, channelCount: 2))
        #expect(log.formats == [StreamFormat(sampleRate: 48_000, channelCount: 1), first])
        #expect(log.notices.map(\.format) == [first] + log.formats)
    }

    @Test(arguments: SoundServer.Kind.expected)
    func `channels change, the wished rate stays`(kind: SoundServer.Kind) async throws {
        let server = try SoundServer(kind, sinks: [.init("stage"), .init("hall", sampleRate: 48_000, channelCount: 6)])
        let listener = try Listener("pulse:server=\(server.address)", rate: 44_100)
        try await listener.hear()
        try server.setDefault("hall")
        try await listener.wait(for: "the format") { !$0.formats.isEmpty }
        let log = try await end(listener)
        #expect(log.formats.map(\.channelCount) == [6] && log.formats.map(\.sampleRate) == [44_100])
        #expect(abs(log.imbalance()) < Self.tolerance, "\(log.told)")
    }

    // MARK: - The reader

    @Test(arguments: SoundServer.Kind.expected)
    func `a reader that is too slow loses what it is told`(kind: SoundServer.Kind) async throws {
        let server = try SoundServer(kind)
        let listener = try Listener("pulse:server=\(server.address)")
        try await listener.hear()
        listener.pause(true)
        try await Task.sleep(for: .seconds(4.5))
        listener.pause(false)
        try await listener.hear(seconds: 3)
        let log = try await end(listener)
        expectOneGap(log, .overrun, atLeast: 0.5)
    }
}
