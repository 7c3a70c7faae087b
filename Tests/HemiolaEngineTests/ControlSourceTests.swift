import Glibc
import Hemiola
import HemiolaRecords
import HemiolaSystem
import HemiolaTesting
import Synchronization
import Testing

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
    private func plugin(_ fault: Ticker.Fault = .none, _ calls: Calls = Calls()) -> SinkPlugin {
        SinkPlugin("ticker", "Submits controls.", settings: NoSettings.self, makeSource: { _ in Ticker(fault, calls) })
    }

    @Test func `opened and closed twice: the thread has ended before close`() throws {
        let calls = Calls()
        let sink = try plugin(.none, calls).make(settings: "")
        for _ in 0..<2 {
            try sink.open(SinkContext(name: "ticker"))
            try sink.close()
        }
        #expect(calls.all == ["open", "run", "ran", "close", "open", "run", "ran", "close"])
    }

    @Test func `open throws: neither run nor closed`() throws {
        let calls = Calls()
        let sink = try plugin(.failsToOpen, calls).make(settings: "")
        #expect(throws: Problem.self) { try sink.open(SinkContext(name: "ticker")) }
        #expect(calls.all == ["open"])
    }

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
