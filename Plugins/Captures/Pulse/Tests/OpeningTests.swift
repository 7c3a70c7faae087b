import Foundation
import Hemiola
import TestSupport
import Testing

@testable import PulseCapture

/// Opening a source, with real servers.
@Suite(.enabled(if: SoundServer.Kind.pulseAudio.tool.isExpected, "\(SoundServer.Kind.pulseAudio.tool.reason)"))
struct OpeningTests {
    private func refusal(_ spec: String) -> Problem? {
        do throws(Problem) {
            guard let capture = try? pulse(spec) else { return nil }
            _ = try capture.open(FormatRequest(sampleRate: 44_100))
            capture.close()
            return nil
        } catch {
            return error
        }
    }

    // MARK: - Opening

    @Test(arguments: SoundServer.Kind.expected)
    func `default output that plays: its samples, channel by channel`(kind: SoundServer.Kind) async throws {
        let server = try SoundServer(kind)
        let player = try server.play(left: 440, right: 1000, on: "stage")
        let recorder = try CaptureRecorder("pulse:server=\(server.address)", keepsSamples: true)
        try await recorder.receive(seconds: 2)
        try await recorder.stop()
        withExtendedLifetime(player) {}
        let log = recorder.current
        #expect(log.source == StreamSource(format: StreamFormat(sampleRate: 44_100, channelCount: 2), kind: "pulse", name: "stage.monitor"))
        guard case .device(let notice) = log.entries.first?.delivery else {
            Issue.record("the first delivery is \(log.events.prefix(1))")
            return
        }
        #expect(notice.state == .opened && notice.name == "stage.monitor" && notice.format == log.source?.format)
        #expect(Tones.arePresent(left: 440, right: 1000, in: log.samples[...]))
        #expect(log.gaps(of: nil) == [])
    }

    @Test(arguments: SoundServer.Kind.expected)
    func `any server: deliveries arrive at the rate of batches`(kind: SoundServer.Kind) async throws {
        let server = try SoundServer(kind)
        let recorder = try CaptureRecorder("pulse:server=\(server.address)")
        try await recorder.receive(seconds: 2)
        try await recorder.stop()
        let log = recorder.current
        let batches = log.entries.filter { $0.delivery == .frames(1024) }
        #expect(batches.count * 1024 >= log.frames * 9 / 10)
        let steps = zip(batches.dropFirst(), batches).map { $0.time - $1.time }.sorted()
        // 1024 frames are 23.2 ms; PipeWire's own are 21.3 ms.
        #expect((0.010...0.045).contains(steps[steps.count / 2]), "\(steps[steps.count / 2])")
        #expect(abs(log.imbalance()) < 0.1)
    }

    @Test(arguments: SoundServer.Kind.expected)
    func `unknown name: an error that suggests a similar name`(kind: SoundServer.Kind) throws {
        let server = try SoundServer(kind)
        let error = try #require(refusal("pulse:stag.monitor,server=\(server.address)"))
        #expect(error.remedy == .giveUp)
        #expect(error.message.contains("stag.monitor") && error.message.contains("did you mean stage.monitor?"))
        #expect(error.message.contains("hemiola devices"))
    }

    @Test func `microphone of a headset: opened by its name only`() throws {
        let server = try SoundServer(.pulseAudio)
        try server.control("load-module", "module-null-source", "source_name=bluez_input.00_11")
        try server.control("set-default-source", "bluez_input.00_11")
        #expect(refusal("pulse:auto-input,server=\(server.address)")?.message.contains("headset") == true)
        #expect(refusal("pulse:bluez_input.00_11,server=\(server.address)") == nil)
        // A monitor is no input.
        try server.control("set-default-source", "stage.monitor")
        #expect(refusal("pulse:auto-input,server=\(server.address)")?.message.contains("no default input") == true)
        try server.control("load-module", "module-null-source", "source_name=microphone")
        try server.control("set-default-source", "microphone")
        #expect(refusal("pulse:auto-input,server=\(server.address)") == nil)
    }

    @Test func `no output: an error, no other source`() throws {
        let server = try SoundServer(.pulseAudio, sinks: [])
        try server.control("load-module", "module-null-source", "source_name=microphone")
        #expect(refusal("pulse:server=\(server.address)")?.message.contains("no default output") == true)
    }

    @Test func `output that is muted while it is captured, and one that becomes the default: said once each`() throws {
        let server = try SoundServer(.pulseAudio, sinks: [.init("stage"), .init("hall")])
        let warnings = Watched<[String]>([])
        let capture = try pulse("pulse:server=\(server.address)")
        _ = try capture.open(FormatRequest(sampleRate: 44_100, warn: { text in warnings.change { $0.append(text) } }))
        defer { capture.close() }
        #expect(warnings.value == [])
        try server.control("set-sink-mute", "stage", "1")
        try #require(warnings.wait { $0.count == 1 })
        // More changes of the same output are not said again.
        try server.control("set-sink-volume", "stage", "40%")
        try server.control("set-sink-volume", "hall", "3%")
        try server.setDefault("hall")
        try #require(warnings.wait { $0.count > 1 })
        let texts = warnings.value
        #expect(
            texts.count == 2 && texts[0].contains("the output stage is muted") && texts[1].contains("the output hall is at 3 %"), "\(texts)"
        )
    }

    // MARK: - Waiting

    @Test func `no server: an error that says what to do`() throws {
        let server = try SoundServer(.pulseAudio, isStarted: false)
        let start = CaptureRecorder.now
        let error = try #require(refusal("pulse:server=\(server.address)"))
        #expect(CaptureRecorder.now - start < 2)
        #expect(error.message.contains(server.socket) && error.message.contains("PULSE_SERVER"))
        #expect(throws: Problem.self) { try DeviceProbe.devices(server: server.address) }
    }

    @Test(.mayNotHang) func `server that does not respond: an error`() throws {
        let server = try SoundServer(.pulseAudio)
        server.freeze()
        let error = try #require(refusal("pulse:server=\(server.address)"))
        #expect(error.message.contains("does not respond"))
    }

    @Test(arguments: SoundServer.Kind.expected)
    func `wait=true: waits for a server and a device`(kind: SoundServer.Kind) async throws {
        let server = try SoundServer(kind, isStarted: false)
        let recorder = try CaptureRecorder("pulse:hall,wait=true,server=\(server.address)")
        try await recorder.wait(for: "the waiting") { !$0.warnings.isEmpty }
        try server.start()
        try await recorder.idle(seconds: 0.5)
        #expect(recorder.current.source == nil && !recorder.current.isOver)
        try server.load(.init("hall"))
        try await recorder.receive()
        try await recorder.stop()
        #expect(recorder.current.devices == ["opened hall.monitor"])
    }

    @Test func `wait=true and a cancelled run: ends at once`() async throws {
        let server = try SoundServer(.pulseAudio, isStarted: false)
        let recorder = try CaptureRecorder("pulse:wait=true,server=\(server.address)")
        try await recorder.wait(for: "the waiting") { !$0.warnings.isEmpty }
        try await recorder.stop()
        #expect(recorder.current.cancelledTurns == 1)
        #expect(recorder.current.error?.remedy == .finish)
    }

    // MARK: - Devices and closing

    @Test(arguments: SoundServer.Kind.expected)
    func `device list: monitors with format, output and default`(kind: SoundServer.Kind) throws {
        let server = try SoundServer(kind, sinks: [.init("stage"), .init("hall", sampleRate: 48_000, channelCount: 6)])
        let list = try DeviceProbe.devices(server: server.address)
        #expect(list.server.contains(kind == .pulseAudio ? "PulseAudio 1" : "PipeWire"))
        let stage = try #require(list.devices.first { $0.name == "stage.monitor" })
        let hall = try #require(list.devices.first { $0.name == "hall.monitor" })
        #expect(stage.monitorOf == "stage" && stage.isDefault && !hall.isDefault)
        #expect(hall.format == StreamFormat(sampleRate: 48_000, channelCount: 6))
        #expect(!stage.summary.isEmpty)
    }

    @Test func `open and close 50 times: no session and no client is left`() throws {
        let server = try SoundServer(.pulseAudio)
        for _ in 0..<50 {
            weak var session: CaptureSession?
            do {
                let capture = try #require(try pulse("pulse:server=\(server.address)") as? PulseCapture)
                _ = try capture.open(FormatRequest(sampleRate: 44_100))
                var buffer = [Float](repeating: 0, count: 2048)
                var span = buffer.mutableSpan
                _ = try capture.read(into: &span)
                session = capture.session
                #expect(session != nil)
                capture.close()
            }
            #expect(session == nil)
        }
        // pactl itself is one.
        #expect(try server.control("list", "short", "clients").split(separator: "\n").count == 1)
    }
}
