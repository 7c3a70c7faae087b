import Hemiola
import HemiolaEngine
import HemiolaSignal
import HemiolaTesting
import TestSupport
import Testing

/// What only a live source does.
@Suite(.mayNotHang) struct LiveTests {
    private static let hush = [Float](repeating: 1e-5, count: 44_100)

    private func silences(_ steps: [CaptureStep], isLive: Bool = true) async throws -> [String] {
        let notices = Notices()
        try await Trial(steps, isLive: isLive, analyzers: [.witness()]).run(report: notices)
        return notices.texts.filter { $0.hasPrefix("silence") }
    }

    @Test func `five seconds of silence are told, once`() async throws {
        let second = CaptureStep.samples(Self.hush)
        #expect(try await silences([second, second, second, second]) == [])
        let told = try await silences(Array(repeating: second, count: 12))
        #expect(told.count == 1)
        #expect(told.first?.contains("script") == true)
    }

    @Test func `sound begins the count anew, and a second silence is told again`() async throws {
        let (second, sound) = (CaptureStep.samples(Self.hush), CaptureStep.samples([0.5]))
        let four = Array(repeating: second, count: 4)
        #expect(try await silences(four + [sound] + four) == [])
        #expect(try await silences(four + four + [sound] + four + four).count == 2)
    }

    @Test func `a silent file is nobody's business`() async throws {
        #expect(try await silences(Array(repeating: .samples(Self.hush), count: 8), isLive: false) == [])
    }

    @Test func `silence is told by the device's name for people`() async throws {
        let device = DeviceEvent(name: "hdmi.monitor", summary: "Monitor of HDMI", state: .opened, format: TestSignal.mono)
        let told = try await silences([.device(device)] + Array(repeating: .samples(Self.hush), count: 6))
        #expect(told.first?.contains("Monitor of HDMI") == true)
    }

    @Test func `a device's fate is told and recorded`() async throws {
        let device = DeviceEvent(name: "hdmi.monitor", summary: "Monitor of HDMI", state: .moved, format: TestSignal.mono)
        let (notices, sink) = (Notices(), CollectingSink())
        let trial = Trial(
            [silence(batches: 1), .device(device), silence(batches: 1)], isLive: true, sinks: [.collecting(sink)])
        try await trial.run(report: notices)
        #expect(notices.count("device") == 1)
        #expect(sink.streams[0].recordTypes == ["device"])
    }

    @Test(arguments: [(nil, 44_100), (0, nil), (48_000, 48_000)] as [(Int?, Int?)])
    func `a live capture is asked for 44.1 kHz unless it is told otherwise`(rate: Int?, wish: Int?) {
        var configuration = PipelineConfiguration()
        configuration.sampleRate = rate
        #expect(configuration.requestedSampleRate(isLive: true) == wish)
    }
}
