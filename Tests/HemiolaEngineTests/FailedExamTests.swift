import Hemiola
import HemiolaSignal
import HemiolaTesting
import TestSupport
import Testing

/// The exams find what is wrong: each plugin here has one fault.
@Suite(.mayNotHang) struct FailedExamTests {
    @Test(arguments: Faulty.Fault.allCases)
    func `a faulty analyzer fails, and the exam says why`(fault: Faulty.Fault) {
        let plugin = AnalyzerPlugin("faulty", "Has a fault.") { _ throws(ConfigurationError) in Faulty(fault) }
        guard fault != .none else {
            #expect(throws: Never.self) { try AnalyzerExam(plugin).sit() }
            return
        }
        let failure = #expect(throws: ExamFailure.self) { try AnalyzerExam(plugin).sit() }
        #expect(failure?.description.contains(fault.rawValue) == true)
    }

    @Test func `an analyzer that refuses every format fails`() {
        let plugin = AnalyzerPlugin("refusing", "Refuses.") { _ throws(ConfigurationError) in Refusing() }
        let failure = #expect(throws: ExamFailure.self) { try AnalyzerExam(plugin).sit() }
        #expect(failure?.faults == ["It refuses every format of the exam."])
    }

    @Test func `settings that do not fit are told`() {
        let failure = #expect(throws: ExamFailure.self) { try AnalyzerExam(.witness(), settings: "size=3").sit() }
        #expect(failure?.faults == ["The exam's settings do not fit: witness.size: witness has no such setting; it has none."])
    }

    @Test func `what a plugin tells about itself is checked`() {
        let odd = Setting("Size", default: 3, in: 5...10, "How large")
        let plugin = AnalyzerPlugin("Odd_Name", "No sentence", settings: [odd.declared], primary: "length", version: 0) {
            _ throws(ConfigurationError) in Faulty(.none)
        }
        let failure = #expect(throws: ExamFailure.self) { try AnalyzerExam(plugin).sit() }
        #expect(failure?.faults.count == 7)
    }

    @Test(arguments: [
        ("delivers more", [Delivery.frames(9999)]), ("delivers nothing", [.frames(0)]),
        ("loses less than nothing", [.gap(Gap(frames: -1, reason: .frozen))]),
        ("goes on after the end", [.end, .idle]), ("writes nothing", [.frames(1)]),
        ("changes to nothing", [.format(StreamFormat(sampleRate: 1, channelCount: 1))]),
    ])
    func `a faulty capture fails`(fault: String, deliveries: [Delivery]) {
        let plugin = CapturePlugin("faulty", "Has a fault.") { _ throws(ConfigurationError) in FaultyCapture(deliveries) }
        #expect(throws: ExamFailure.self) { try CaptureExam(plugin).sit() }
    }

    @Test func `a capture that cannot be opened fails`() {
        let failure = #expect(throws: ExamFailure.self) {
            try CaptureExam(.scripted(openFailure: CaptureError("nothing there"), [])).sit()
        }
        #expect(failure?.faults.contains("It cannot be opened: nothing there.") == true)
    }

    @Test func `a capture whose length is not what it states fails`() {
        #expect(throws: ExamFailure.self) { try CaptureExam(.scripted(duration: 1, [silence(batches: 3)])).sit() }
        #expect(throws: Never.self) { try CaptureExam(.scripted(duration: 1, [.samples(TestSignal.silence(frames: 44_100))])).sit() }
    }

    @Test(arguments: [CollectingSink.Call.open, .begin, .write, .end, .close])
    func `a sink that fails anywhere fails`(call: CollectingSink.Call) async {
        let plugin = SinkPlugin("faulty", "Has a fault.") { _ throws(ConfigurationError) in
            let sink = CollectingSink()
            sink.fail(call, with: SinkError("broken"))
            return sink
        }
        let failure = await #expect(throws: ExamFailure.self) { try await SinkExam(plugin).sit() }
        #expect(failure?.description.contains("broken") == true)
    }

    @Test func `a sink that can be opened only once fails`() async {
        let plugin = SinkPlugin("faulty", "Has a fault.") { _ throws(ConfigurationError) in
            let sink = CollectingSink()
            sink.fail(.open, after: 1, with: SinkError("broken"))
            return sink
        }
        let failure = await #expect(throws: ExamFailure.self) { try await SinkExam(plugin).sit() }
        #expect(failure?.faults.count == 1)
    }
}

/// An analyzer with one fault.
final class Faulty: Analyzer, Controllable {
    /// With what the exam should say about it.
    enum Fault: String, Sendable, CaseIterable {
        case none
        case forgetsToReset = "After reset() it answers otherwise"
        case forgetsToPrepare = "Prepared a second time"
        case aboveMaximum = "rises above its maximum"
        case belowMinimum = "falls below its minimum"
        case infinite = "is infinite"
        case mute = "was declared and never had a value"
        case undeclaredEvent = "which it has not declared"
        case foreignEvent = "not an analyzer's to tell"
        case loudSilence = "in digital silence"
        case timeless = "at a time that is no number"
        case camelCase = "not named in snake_case"
        case wrongEdges = "edges for"
        case dumbRefusal = "refuses a control and does not say why"
        case byChance = "answers otherwise than a new one"
    }

    private let fault: Fault
    private var value = FeatureHandle(offset: 0, count: 0)
    private var other: FeatureHandle?
    private var hops = 0

    init(_ fault: Fault) {
        self.fault = fault
    }

    func prepare(_ stream: AnalysisFormat) throws(AnalyzerError) -> AnalyzerOutputs {
        if fault != .forgetsToPrepare { hops = 0 }
        var outputs = AnalyzerOutputs()
        value = outputs.add(Feature(fault == .camelCase ? "myValue" : "value", .none, in: 0...1, "A value."))
        if fault == .mute { other = outputs.add(Feature("mute", .none, "Nothing.")) }
        if fault == .wrongEdges {
            other = outputs.add(Feature("bands", .none, count: 3, edges: [1, 2], "Bands."))
        }
        outputs.add(EventOutput("onset", .none, "An onset."))
        return outputs
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        hops += 1
        row[value] = Float(hops % 10) / 10
        if let other, fault == .wrongEdges { row[other, 0] = 1 }
        switch fault {
        case .aboveMaximum: row[value] = 1.5
        case .belowMinimum: row[value] = -0.5
        case .infinite: row[value] = .infinity
        case .byChance: row[value] = .random(in: 0...1)
        case .undeclaredEvent: events.append(.finding(Finding(output: "note")), at: 0)
        case .foreignEvent: events.append(.speed(1), at: 0)
        case .loudSilence: events.append(.onset(Onset(strength: 1)), at: 0)
        case .timeless where hop.mono[0] != 0: events.append(.onset(Onset(strength: 1)), at: .nan)
        default: break
        }
    }

    func reset() {
        if fault != .forgetsToReset { hops = 0 }
    }

    func obey(_ control: StampedControl) -> ControlReply? {
        fault == .dumbRefusal ? .refused("") : nil
    }
}

private final class Refusing: Analyzer {
    func prepare(_ stream: AnalysisFormat) throws(AnalyzerError) -> AnalyzerOutputs { throw AnalyzerError("never") }
    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {}
    func reset() {}
}

/// Says what it was told to, and writes nothing.
private final class FaultyCapture: Capture {
    private let deliveries: [Delivery]
    private var next = 0

    init(_ deliveries: [Delivery]) {
        self.deliveries = deliveries
    }

    var isLive: Bool { false }

    func open(_ wish: FormatWish) throws(CaptureError) -> StreamSource {
        StreamSource(format: TestSignal.mono, kind: "faulty", name: "faulty")
    }

    func read(into samples: inout MutableSpan<Float>) throws(CaptureError) -> Delivery {
        next += 1
        return next <= deliveries.count ? deliveries[next - 1] : .end
    }

    func close() {}
}
