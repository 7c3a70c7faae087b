import Hemiola
import HemiolaTesting
import HemiolaVisualizer
import TestSupport
import Testing

/// Each plugin here violates one rule of its role.
@Suite(.mayNotHang) struct ConformanceFailureTests {
    @Test(arguments: Faulty.Fault.allCases)
    func `analyzer with a fault: the suite names the violated rule`(fault: Faulty.Fault) {
        let plugin = AnalyzerPlugin(
            PluginDescription("faulty", "Has a fault.", declares: .init(controls: [.tap])), settings: NoSettings.self
        ) { _ throws(Problem) in
            Faulty(fault)
        }
        guard fault != .none else {
            #expect(throws: Never.self) { try AnalyzerConformanceSuite(plugin).run() }
            return
        }
        let failure = #expect(throws: Problem.self) { try AnalyzerConformanceSuite(plugin).run() }
        #expect(failure?.description.contains(fault.rawValue) == true)
    }

    @Test func `analyzer that refuses every format: reported`() {
        let plugin = AnalyzerPlugin(PluginDescription("refusing", "Refuses."), settings: NoSettings.self) { _ throws(Problem) in
            Refusing()
        }
        let failure = #expect(throws: Problem.self) { try AnalyzerConformanceSuite(plugin).run() }
        #expect(failure?.violations == ["The analyzer refuses every format of the suite."])
        #expect(failure?.description == "refusing violates the rules of its role:\n- The analyzer refuses every format of the suite.")
    }

    @Test func `settings that are not valid: reported`() {
        let failure = #expect(throws: Problem.self) { try AnalyzerConformanceSuite(.witness(), settings: "size=3").run() }
        #expect(
            failure?.violations == [
                "The settings of the conformance suite are not valid: witness.size: witness has no such setting; it has none."
            ])
    }

    @Test func `declaration with seven faults: seven violations`() {
        struct Odd: PluginSettings {
            var size: Int

            init(_ read: inout SettingReader) {
                size = read.integer("Size", default: 3, in: 5...10, "How large")
            }
        }
        let plugin = AnalyzerPlugin(PluginDescription("Odd_Name", "No sentence", primary: "length", version: 0), settings: Odd.self) {
            _ throws(Problem) in Faulty(.none)
        }
        let failure = #expect(throws: Problem.self) { try AnalyzerConformanceSuite(plugin).run() }
        #expect(failure?.violations.count == 7)
    }

    @Test func `analyzer whose id is a key of the batch record: reported`() {
        let plugin = AnalyzerPlugin(
            PluginDescription("partial", "Has the id of a key.", declares: .init(controls: [.tap])), settings: NoSettings.self
        ) { _ throws(Problem) in
            Faulty(.none)
        }
        let failure = #expect(throws: Problem.self) { try AnalyzerConformanceSuite(plugin).run() }
        let conflict = "the analyzer \"partial\" has the name of the field \"partial\" of \"batch\" records; rename it"
        #expect(failure?.violations == ["The id conflicts with the records: \(conflict)."])
    }

    @Test func `record type with the name of a field that Hemiola writes: reported`() {
        let type = RecordType("odd", "An odd record.", fields: [.integer("frame", "Not the frame of its time.")])
        let plugin = AnalyzerPlugin(
            PluginDescription("faulty", "Has a fault.", declares: .init(records: [type], controls: [.tap])), settings: NoSettings.self
        ) {
            _ throws(Problem) in Faulty(.none)
        }
        let failure = #expect(throws: Problem.self) { try AnalyzerConformanceSuite(plugin).run() }
        #expect(failure?.violations.first?.contains("the field \"frame\" of \"odd\" records") == true, "\(failure?.violations ?? [])")
    }

    @Test(arguments: [
        ("delivers more", [ReadResult.frames(9999)]), ("delivers nothing", [.frames(0)]),
        ("loses less than nothing", [.gap(Gap(frames: -1, reason: .frozen))]),
        ("goes on after the end", [.end, .idle]), ("writes nothing", [.frames(1)]),
        ("changes to nothing", [.format(StreamFormat(sampleRate: 1, channelCount: 1))]),
    ])
    func `capture with a fault: reported`(fault: String, deliveries: [ReadResult]) {
        let plugin = CapturePlugin(PluginDescription("faulty", "Has a fault."), settings: NoSettings.self) { _ throws(Problem) in
            FaultyCapture(deliveries)
        }
        #expect(throws: Problem.self) { try CaptureConformanceSuite(plugin).run() }
    }

    @Test func `capture that cannot be opened: reported`() {
        let failure = #expect(throws: Problem.self) {
            try CaptureConformanceSuite(.scripted(openFailure: Problem("nothing there"), [])).run()
        }
        #expect(failure?.violations.contains("The capture cannot be opened: nothing there.") == true)
    }

    @Test func `capture with a wrong declared length: reported`() {
        #expect(throws: Problem.self) { try CaptureConformanceSuite(.scripted(duration: 1, [silence(batches: 3)])).run() }
        #expect(throws: Never.self) {
            try CaptureConformanceSuite(.scripted(duration: 1, [.samples(TestSignal.silence(frames: 44_100))])).run()
        }
    }

    @Test(arguments: [CollectingSink.Call.open, .begin, .write, .end, .close])
    func `sink that throws in one call: reported`(call: CollectingSink.Call) {
        let plugin = SinkPlugin(PluginDescription("faulty", "Has a fault."), settings: NoSettings.self) { _ throws(Problem) in
            let sink = CollectingSink()
            sink.fail(call, with: Problem("broken"))
            return sink
        }
        let failure = #expect(throws: Problem.self) { try SinkConformanceSuite(plugin).run() }
        #expect(failure?.description.contains("broken") == true)
    }

    @Test func `sink that can be opened only once: reported`() {
        let plugin = SinkPlugin(PluginDescription("faulty", "Has a fault."), settings: NoSettings.self) { _ throws(Problem) in
            let sink = CollectingSink()
            sink.fail(.open, after: 1, with: Problem("broken"))
            return sink
        }
        let failure = #expect(throws: Problem.self) { try SinkConformanceSuite(plugin).run() }
        #expect(failure?.violations.count == 1)
    }
}

extension Problem {
    /// The sentences of a conformance suite.
    var violations: [String] { others.map { String($0.message.dropFirst(2)) } }
}

/// An analyzer with one fault.
final class Faulty: Analyzer, ControlHandler {
    /// The raw value is a part of the violation that the suite reports.
    enum Fault: String, Sendable, CaseIterable {
        case none
        case forgetsToPrepare = "After a second prepare() the output differs"
        case aboveMaximum = "rises above its maximum"
        case belowMinimum = "falls below its minimum"
        case infinite = "is infinite"
        case mute = "is declared and has no value in any batch"
        case undeclaredEvent = "which it does not declare in prepare()"
        case undeclaredRecord = "which its plugin does not declare"
        case loudSilence = "in digital silence"
        case timeless = "is not finite"
        case camelCase = "not named in snake_case"
        case wrongEdges = "edges for"
        case dumbRefusal = "refuses a control without a reason"
        case handlesEverything = "does not refuse a control that its plugin does not declare"
        case omitsControl = "has no code for the control tap"
        case byChance = "differs from that of a new analyzer"
    }

    private let fault: Fault
    private var value = FeatureHandle(offset: 0, count: 0)
    private var other: FeatureHandle?
    private var hops = 0

    init(_ fault: Fault) {
        self.fault = fault
    }

    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
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
        case .undeclaredEvent: events.append(AnalyzerEvent(output: "note"), at: 0)
        case .undeclaredRecord: events.append(SpeedChange(1), at: 0)
        case .loudSilence: events.append(Onset(strength: 1), at: 0)
        case .timeless where hop.mono[0] != 0: events.append(Onset(strength: 1), at: .nan)
        default: break
        }
    }

    func handle(_ control: StampedControl) -> ControlReply {
        switch fault {
        case .dumbRefusal: .refused("")
        case .handlesEverything: .done
        case .omitsControl: .unknown(control.control)
        default: control.control.type == .tap ? .done : .unknown(control.control)
        }
    }
}

private final class Refusing: Analyzer {
    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs { throw Problem("never") }
    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {}
}

/// Returns the given results and writes no samples.
private final class FaultyCapture: Capture {
    private let deliveries: [ReadResult]
    private var next = 0

    init(_ deliveries: [ReadResult]) {
        self.deliveries = deliveries
    }

    var isLive: Bool { false }

    func open(_ request: FormatRequest) throws(Problem) -> StreamSource {
        StreamSource(format: TestSignal.mono, kind: "faulty", name: "faulty")
    }

    func read(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult {
        next += 1
        return next <= deliveries.count ? deliveries[next - 1] : .end
    }

    func close() {}
}
