import Foundation
import Hemiola
import HemiolaSignal
import TestSupport
import Testing

@testable import PulseCapture

/// One application's sound and no other, with real servers.
@Suite(.enabled(if: SoundServer.Kind.pulseAudio.tool.isExpected, "\(SoundServer.Kind.pulseAudio.tool.reason)"))
struct ApplicationTests {
    @Test(arguments: SoundServer.Kind.expected)
    func `an application is heard alone, and silence while it is gone`(kind: SoundServer.Kind) async throws {
        let server = try SoundServer(kind)
        // Longer than the test takes on a busy machine: it ends the sound itself.
        let other = try server.play(left: 1000, right: 1000, on: "stage", as: "other", seconds: 90)
        let listener = try Listener("pulse:app:Solo,server=\(server.address)", keepsSamples: true)
        try await listener.hear(seconds: 0.5)
        #expect(listener.current.source?.name == "app:Solo")
        #expect(listener.current.source?.format == StreamFormat(sampleRate: 44_100, channelCount: 2))

        var solo: ChildProcess? = try server.play(left: 440, right: 660, on: "stage", as: "solo", seconds: 90)
        try await listener.wait(for: "the application") { $0.devices.last == "opened app:Solo" && $0.devices.count > 2 }
        try await listener.hear(seconds: 1)
        let played = listener.current.samples
        withExtendedLifetime(solo) {}
        solo = nil
        try await listener.wait(for: "its end") { $0.devices.last == "lost app:Solo" }
        try await listener.hear(seconds: 0.6)
        let silence = listener.current.samples.suffix(2 * 8_820)
        try await listener.stop()
        withExtendedLifetime(other) {}

        let log = listener.current
        #expect(log.devices == ["opened app:Solo", "lost app:Solo", "opened app:Solo", "lost app:Solo"])
        #expect(Tones.areHeard(left: 440, right: 660, without: 1000, in: played[...]))
        #expect(silence.allSatisfy { $0 == 0 })
        #expect(log.gaps(of: nil) == [])
        #expect(abs(log.imbalance()) < 0.1)
    }

    @Test func `a server that is gone is a gap and no silence`() async throws {
        let server = try SoundServer(.pulseAudio)
        let listener = try Listener("pulse:app:solo,server=\(server.address)")
        try await listener.hear()
        server.kill()
        try await Task.sleep(for: .milliseconds(700))
        try server.start()
        try await listener.hear()
        try await listener.stop()
        let log = listener.current
        #expect(log.gaps(of: .serverLost).map(\.reason) == [.serverLost])
        #expect(abs(log.imbalance()) < 0.1)
    }
}
