import Hemiola
import Synchronization
import Testing

@Suite struct ControlPortTests {
    private static let dim = ControlType("dim", "Dims the lights.", fields: [.number("level", in: 0...1, "0: dark.")])

    @Test(arguments: [(0.5, nil), (1.5, "\"level\": 1.5 is outside 0...1"), (-0.1, "\"level\": -0.1 is outside 0...1")])
    func `control with a value outside the declared range: refused, and not submitted`(level: Double, fault: String?) {
        let submitted = Mutex(0)
        let port = ControlPort(
            submit: { _, _, reply in
                submitted.withLock { $0 += 1 }
                reply?(.done)
            }, report: { _ in })
        let reply = Mutex<ControlReply?>(nil)
        port.submit(Control(Self.dim, .number(level)), from: "test") { answer in reply.withLock { $0 = answer } }
        #expect(reply.withLock { $0 } == fault.map { .refused($0) } ?? .done)
        #expect(submitted.withLock { $0 } == (fault == nil ? 1 : 0))
    }
}
