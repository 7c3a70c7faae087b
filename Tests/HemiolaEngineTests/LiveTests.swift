import Hemiola
import HemiolaEngine
import HemiolaTesting
import TestSupport
import Testing

/// Behaviour of live sources only.
@Suite(.mayNotHang) struct LiveTests {
    private static let quiet = [Float](repeating: 1e-5, count: 44_100)

    private func silences(_ steps: [CaptureStep], isLive: Bool = true) async throws -> [String] {
        let notices = Notices()
        try await Trial(steps, isLive: isLive, analyzers: [.witness()]).run(report: notices)
        return notices.texts.filter { $0.hasPrefix("silence") }
    }

    @Test func `five seconds of silence: reported once`() async throws {
        let second = CaptureStep.samples(Self.quiet)
        #expect(try await silences([second, second, second, second]) == [])
        let reports = try await silences(Array(repeating: second, count: 12))
        #expect(reports.count == 1)
        #expect(reports.first?.contains("script") == true)
    }

    @Test func `sound between silences: restarts the count, and only a long silence after it is reported`() async throws {
        let (second, sound) = (CaptureStep.samples(Self.quiet), CaptureStep.samples([0.5]))
        let four = Array(repeating: second, count: 4)
        #expect(try await silences(four + [sound] + four) == [])
        #expect(try await silences(four + four + [sound] + four + four).count == 1)
        let minutes = Array(repeating: second, count: 610)
        #expect(try await silences(four + four + [sound] + minutes).count == 2)
    }

    @Test func `silent file: not reported`() async throws {
        #expect(try await silences(Array(repeating: .samples(Self.quiet), count: 8), isLive: false) == [])
    }

    @Test func `silence of a device: reported with the device's description`() async throws {
        let device = DeviceEvent(name: "hdmi.monitor", summary: "Monitor of HDMI", state: .opened, format: TestSignal.mono)
        let reports = try await silences([.device(device)] + Array(repeating: .samples(Self.quiet), count: 6))
        #expect(reports.first?.contains("Monitor of HDMI") == true)
    }

    @Test func `device event: a notice and a record`() async throws {
        let device = DeviceEvent(name: "hdmi.monitor", summary: "Monitor of HDMI", state: .moved, format: TestSignal.mono)
        let (notices, sink) = (Notices(), CollectingSink())
        let trial = Trial(
            [silence(batches: 1), .device(device), silence(batches: 1)], isLive: true, sinks: [.collecting(sink)])
        try await trial.run(report: notices)
        #expect(notices.count("device") == 1)
        #expect(sink.streams[0].recordTypes == ["device"])
    }

    @Test(arguments: [(nil, nil, false), (0, nil, true), (48_000, 48_000, false)] as [(Int?, Int?, Bool)])
    func `sample rate requested from a live capture: as configured, 0 is that of the device`(
        rate: Int?, expected: Int?, followsDevice: Bool
    ) async throws {
        let requests = Log<FormatRequest>()
        var trial = Trial([])
        trial.captures = [
            CapturePlugin(PluginDescription("requested", "Notes its request."), settings: NoSettings.self) { _ throws(Problem) in
                RequestedCapture(requests)
            }
        ]
        trial.configuration.sampleRate = rate
        try await trial.run()
        #expect(requests.items.map(\.sampleRate) == [expected] && requests.items.map(\.followsDeviceRate) == [followsDevice])
    }

    @Test func `gap after a change of the device: the notice names the device from which the sound comes now`() async throws {
        func device(_ name: String, _ state: DeviceEvent.State) -> CaptureStep {
            .device(DeviceEvent(name: name, summary: "Monitor of \(name)", state: state, format: TestSignal.mono))
        }
        func gap(_ reason: Gap.Reason) -> CaptureStep { .gap(Gap(frames: 100, reason: reason)) }
        let notices = Notices()
        let steps: [CaptureStep] = [
            device("stage", .opened), silence(batches: 1), gap(.frozen), silence(batches: 1), device("hall", .moved), silence(batches: 1),
            gap(.overrun), silence(batches: 1), device("hall", .lost), device("hall", .opened), gap(.serverLost), silence(batches: 1),
            .source("roof", TestSignal.mono), silence(batches: 1), gap(.overrun), silence(batches: 1),
        ]
        try await Trial(steps, isLive: true).run(report: notices)
        let names = notices.texts.filter { $0.hasPrefix("gap(") }.map { $0.split(separator: "\"")[1] }
        #expect(names == ["stage", "hall", "hall", "roof"])
    }
}

/// A live capture without audio that notes its request.
private final class RequestedCapture: Capture {
    private let requests: Log<FormatRequest>

    init(_ requests: Log<FormatRequest>) { self.requests = requests }

    var isLive: Bool { true }

    func open(_ request: FormatRequest) throws(Problem) -> StreamSource {
        requests.append(request)
        return StreamSource(format: TestSignal.mono, kind: "requested", name: "requested")
    }

    func read(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult { .end }

    func close() {}
}
