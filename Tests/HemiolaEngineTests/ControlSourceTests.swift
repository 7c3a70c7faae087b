import Glibc
import Hemiola
import HemiolaEngine
import HemiolaVisualizer
import Synchronization
import Testing

@testable import HemiolaTesting

/// A control source that submits a control 100 times a second. Notes its calls.
private final class Ticker: ControlSource {
    enum Fault: CaseIterable {
        case none, failsToOpen, isMute, leavesDescriptors, submitsUnknown
    }

    private let fault: Fault
    private let calls: Calls
    private var left: [Int32] = []

    init(_ fault: Fault, _ calls: Calls) { (self.fault, self.calls) = (fault, calls) }

    func open(_ input: ControlInput) throws(Problem) {
        calls.add("open")
        if fault == .failsToOpen { throw Problem("nothing there") }
        if fault == .leavesDescriptors { left.append(dup(0)) }
    }

    func run(_ input: ControlInput) {
        calls.add("run")
        while input.wait(seconds: 0.01) {
            if fault != .isMute { input.submit(Control(fault == .submitsUnknown ? ControlType("probe", "Is not declared.") : .nextPreset)) }
        }
        calls.add("ran")
    }

    func close() { calls.add("close") }

    deinit { for descriptor in left { Glibc.close(descriptor) } }
}

private final class Calls: Sendable {
    private let list = Mutex<[String]>([])

    var all: [String] { list.withLock { $0 } }

    func add(_ call: String) { list.withLock { $0.append(call) } }
}

@Suite(.timeLimit(.minutes(5))) struct ControlSourceTests {
    private func plugin(_ fault: Ticker.Fault = .none, _ calls: Calls = Calls()) -> ControlPlugin {
        ControlPlugin(PluginDescription("ticker", "Submits controls."), settings: NoSettings.self, make: { _ in Ticker(fault, calls) })
    }

    @Test func `opened and closed twice: the thread has ended before close`() throws {
        let calls = Calls()
        let sink = try plugin(.none, calls).sink.make(settings: "")
        for _ in 0..<2 {
            try sink.open(SinkContext(name: "ticker"))
            try sink.close()
        }
        #expect(calls.all == ["open", "run", "ran", "close", "open", "run", "ran", "close"])
    }

    @Test func `open throws: neither run nor closed`() throws {
        let calls = Calls()
        let sink = try plugin(.failsToOpen, calls).sink.make(settings: "")
        #expect(throws: Problem.self) { try sink.open(SinkContext(name: "ticker")) }
        #expect(calls.all == ["open"])
    }

    // MARK: - Pipelines

    private func assemble(sinks: [PluginSpec] = [], _ controls: [PluginSpec]) throws -> Pipeline {
        let registry = PluginRegistry(captures: [.scripted([])], sinks: [.collecting(CollectingSink())], controls: [plugin()])
        return try registry.assemble(PipelineConfiguration(captures: [PluginSpec("scripted")], sinks: sinks, controls: controls))
    }

    @Test func `names in a pipeline: ID-control or as=, each once`() throws {
        let pipeline = try assemble(
            sinks: [PluginSpec("collecting"), PluginSpec("collecting", as: "pads")],
            [PluginSpec("ticker"), PluginSpec("ticker"), PluginSpec("ticker", as: "pads")])
        #expect(pipeline.sinkNames == ["collecting", "pads", "ticker-control", "ticker-control-2", "pads-2"])
        #expect(pipeline.isPaced)
    }

    @Test func `named as a sink ID-control: the same source`() throws {
        let pipeline = try assemble(sinks: [PluginSpec("ticker-control")], [PluginSpec("ticker")])
        #expect(pipeline.sinkNames == ["ticker-control", "ticker-control-2"])
        #expect(pipeline.isPaced)
    }

    @Test func `unknown control source, and a setting of sinks: a problem with its place`() throws {
        let error = #expect(throws: Problem.self) {
            try assemble([PluginSpec("tikcer"), PluginSpec("ticker", settings: ["lead_ms": .integer(1)])])
        }
        #expect(
            error?.all.map(\.description) == [
                "controls[0]: there is no control source \"tikcer\"; did you mean ticker?",
                "controls[1].lead_ms: ticker has no such setting; there are: on_error, min_version",
            ])
    }

    // MARK: - Conformance

    @Test func `source without a fault: conforms`() throws {
        try ControlSourceConformanceSuite(plugin(), send: {}).run()
    }

    @Test(arguments: [
        (Ticker.Fault.failsToOpen, "The control source fails: nothing there."),
        (.leavesDescriptors, "A closed source leaves descriptors open."),
        (.submitsUnknown, "The control probe is not declared by the program."),
        (.isMute, "No control is submitted twice, although messages are sent."),
    ])
    private func `source with a fault: reported`(fault: Ticker.Fault, violation: String) {
        var suite = ControlSourceConformanceSuite(plugin(fault), send: {})
        suite.patience = 1
        let failure = #expect(throws: Problem.self) { try suite.run() }
        #expect(failure?.violations == [violation])
    }
}
