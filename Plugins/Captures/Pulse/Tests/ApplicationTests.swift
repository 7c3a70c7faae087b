import Foundation
import Hemiola
import TestSupport
import Testing

@testable import PulseCapture

/// Capture of one application, with real servers.
@Suite(.enabled(if: SoundServer.Kind.pulseAudio.tool.isExpected, "\(SoundServer.Kind.pulseAudio.tool.reason)"))
struct ApplicationTests {
    @Test(arguments: SoundServer.Kind.expected)
    func `app:NAME: only that application, and silence while it does not play`(kind: SoundServer.Kind) async throws {
        let server = try SoundServer(kind)
        // Longer than the test takes on a busy machine.
        let other = try server.play(left: 1000, right: 1000, on: "stage", as: "other", seconds: 90)
        let recorder = try CaptureRecorder("pulse:app:Solo,server=\(server.address)", keepsSamples: true)
        try await recorder.receive(seconds: 0.5)
        #expect(recorder.current.source?.name == "app:Solo")
        #expect(recorder.current.source?.format == StreamFormat(sampleRate: 44_100, channelCount: 2))

        var solo: ChildProcess? = try server.play(left: 440, right: 660, on: "stage", as: "solo", seconds: 90)
        try await recorder.wait(for: "the application") { $0.devices.last == "opened app:Solo" && $0.devices.count > 2 }
        try await recorder.receive(seconds: 1)
        let played = recorder.current.samples
        withExtendedLifetime(solo) {}
        solo = nil
        try await recorder.wait(for: "the end of the application") { $0.devices.last == "lost app:Solo" }
        try await recorder.receive(seconds: 0.6)
        let silence = recorder.current.samples.suffix(2 * 8_820)
        try await recorder.stop()
        withExtendedLifetime(other) {}

        let log = recorder.current
        #expect(log.devices == ["opened app:Solo", "lost app:Solo", "opened app:Solo", "lost app:Solo"])
        #expect(Tones.arePresent(left: 440, right: 660, without: 1000, in: played[...]))
        #expect(silence.allSatisfy { $0 == 0 })
        #expect(log.gaps(of: nil) == [])
        #expect(abs(log.imbalance()) < 0.1)
    }

    @Test func `app:NAME and a server that restarts: a gap, no silence`() async throws {
        let server = try SoundServer(.pulseAudio)
        let recorder = try CaptureRecorder("pulse:app:solo,server=\(server.address)")
        try await recorder.receive()
        server.kill()
        try await recorder.idle(seconds: 0.7)
        try server.start()
        try await recorder.receive()
        try await recorder.stop()
        let log = recorder.current
        #expect(log.gaps(of: .serverLost).map(\.reason) == [.serverLost])
        #expect(abs(log.imbalance()) < 0.1)
    }
}
