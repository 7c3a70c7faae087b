import Hemiola
import HemiolaTesting
import TestSupport
import Testing

@Suite(.mayNotHang) struct DirectorConformanceTests {
    @Test(arguments: DirectorWithFault.Fault.allCases)
    func `director with a fault: the suite names the violated rule`(fault: DirectorWithFault.Fault) {
        let plugin = SinkPlugin(
            PluginDescription(
                "directing", "Emits a record per beat.",
                declares: .init(records: [DirectorWithFault.flash], controls: [DirectorWithFault.setDepth])),
            settings: NoSettings.self
        ) { _ throws(Problem) in TestDirectorSink(fault) }
        guard fault != .none else {
            #expect(throws: Never.self) { try DirectorConformanceSuite(plugin).run() }
            #expect(throws: Never.self) { try SinkConformanceSuite(plugin).run() }
            return
        }
        let failure = #expect(throws: Problem.self) { try DirectorConformanceSuite(plugin).run() }
        #expect(failure?.violations.count == 1)
        #expect(failure?.description.contains(fault.rawValue) == true)
        // The suite of the sink includes that of its director.
        let sinkFailure = #expect(throws: Problem.self) { try SinkConformanceSuite(plugin).run() }
        #expect(sinkFailure?.violations == failure?.violations)
    }

    @Test func `sink without a director: reported`() {
        let plugin = SinkPlugin.collecting(CollectingSink())
        let failure = #expect(throws: Problem.self) { try DirectorConformanceSuite(plugin).run() }
        #expect(failure?.violations == ["The sink is not a DirectingSink."])
    }
}

/// Emits a record per beat.
final class DirectorWithFault: Director, ControlHandler {
    /// The raw value is a part of the violation that the suite reports.
    enum Fault: String, Sendable, CaseIterable {
        case none
        case removesEvents = "removes or changes events"
        case timeWithoutValue = "is not finite"
        case undeclaredRecord = "which its plugin does not declare"
        case wrongType = "is not of its declared type"
        case outsideRange = "is outside its declared range"
        case refusalWithoutReason = "refuses the control setDepth without a reason"
        case handlesEverything = "does not refuse a control that its plugin does not declare"
        case omitsControl = "has no code for the control setDepth"
        case random = "different events for equal input"
    }

    static let flash = RecordType("flash", "A beat.", fields: [.number("depth", in: 0...1, "The depth.")])
    static let other = RecordType("other", "A type that the plugin does not declare.", fields: [])
    static let setDepth = ControlType("setDepth", "Sets the depth.", fields: [.number("depth", in: 0...1, "The depth.")])

    private let fault: Fault
    private var depth = 0.5

    init(_ fault: Fault) {
        self.fault = fault
    }

    func prepare(_ stream: StreamHeader) {}

    func direct(_ moment: BatchMoment, _ row: borrowing FeatureRow, into events: inout EventList) {
        guard events.events.contains(where: { $0.type == .beat }) else { return }
        if fault == .removesEvents { events = EventList() }
        events.append(
            Event(
                at: fault == .timeWithoutValue ? .nan : moment.end, fault == .undeclaredRecord ? Self.other : Self.flash,
                fault == .wrongType ? .text("deep") : .number(value)))
    }

    private var value: Double {
        switch fault {
        case .outsideRange: 2
        case .random: .random(in: 0...1)
        default: depth
        }
    }

    func handle(_ control: StampedControl) -> ControlReply {
        if fault == .handlesEverything { return .done }
        if fault == .omitsControl || control.control.type != Self.setDepth { return .unknown(control.control) }
        if fault == .refusalWithoutReason { return .refused("") }
        depth = control.control["depth"].number ?? depth
        return .done
    }
}

private final class TestDirectorSink: DirectingSink {
    private let fault: DirectorWithFault.Fault

    init(_ fault: DirectorWithFault.Fault) {
        self.fault = fault
    }

    func makeDirector() throws(Problem) -> sending any Director { DirectorWithFault(fault) }
    func open(_ context: SinkContext) throws(Problem) {}
    func begin(_ stream: StreamHeader) throws(Problem) {}
    func write(_ batches: BatchBlock) throws(Problem) {}
    func end(_ summary: StreamSummary) throws(Problem) {}
    func close() throws(Problem) {}
}
