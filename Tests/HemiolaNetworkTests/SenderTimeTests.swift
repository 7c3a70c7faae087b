import Hemiola
import NetworkSupport
import Testing

@testable import HemiolaNetwork

/// When messages are sent, and what happens to those that cannot be, in virtual time.
@Suite struct SenderTimeTests {
    private let network = VirtualNetwork()

    private func sender(over transport: NetworkTarget.Transport = .udp, spacing: Double = 0) throws -> MessageSender {
        try MessageSender(to: NetworkTarget(transport, host: "192.0.2.1", port: 9000), spacing: spacing, network.context("test"))
    }

    private var sent: [[UInt8]] { network.packets.map(\.bytes) }
    private var times: [Double] { network.packets.map(\.time) }
    private var lost: Int { network.drops.reduce(0) { $0 + $1.batches } }

    /// The time of the clock, for messages that are due so many seconds after the start.
    private func clock(_ seconds: Double) -> Double { network.clock.now - network.now + seconds }

    @Test func `messages: sent in the order of their times, each at its own`() throws {
        let sender = try sender()
        sender.send([3], at: clock(0.15))
        sender.send([2], at: clock(0.05))
        sender.send([1], at: clock(-1))
        sender.send([4], at: clock(0.15))
        try sender.close(within: 5)
        #expect(sent == [[1], [2], [3], [4]] && times == [0, 0.05, 0.15, 0.15])
    }

    @Test func `close: what is not due in time is not waited for, and counted as lost`() throws {
        let sender = try sender()
        sender.send([1], at: clock(60))
        try sender.close(within: 1)
        #expect(network.now == 0 && lost == 1 && sent == [])
    }

    @Test func `more messages than the capacity: the oldest are discarded, with a warning`() throws {
        let sender = try sender()
        for _ in 0..<MessageSender.capacity + 5 { sender.send([1], at: clock(60)) }
        #expect(network.lines.first?.contains("too many messages wait") == true && lost == 5)
        try sender.close(within: 0)
        #expect(lost == MessageSender.capacity + 5)
    }

    @Test func `spacing: messages of one time are sent apart, and none is lost because it is late`() throws {
        let sender = try sender(spacing: 0.1)
        for number in 1...3 { sender.send([UInt8(number)], at: clock(0)) }
        try sender.close(within: 5)
        #expect(sent == [[1], [2], [3]] && times == [0, 0.1, 0.2] && lost == 0)
    }

    @Test func `an outage of ten minutes: attempts two seconds apart at most, one warning, one line at its end, every loss counted`() throws
    {
        let sender = try sender(over: .tcp)
        network.set(.refuses)
        network.advance(by: 1)
        for second in 1...600 {
            sender.send([UInt8(second % 251)], at: clock(Double(second)))
            network.advance(to: Double(second))
        }
        #expect(network.lines.count == 1)
        network.set(.reads)
        network.advance(to: 603)
        sender.send([9], at: clock(603))
        network.advance(to: 604)
        #expect(times == [603] && lost == 600)
        #expect(network.lines.last == "test: tcp://192.0.2.1:9000: available again; 600 messages were lost")
        try sender.close(within: 1)
        #expect(network.lines.count == 2)
    }

    @Test func `receiver that refuses: one warning with the remedy, and the sender ends at once with an error`() throws {
        network.set(.refuses)
        let sender = try sender(over: .tcp)
        sender.send([1], at: 0)
        #expect(network.lines.first?.contains("Connection refused; start the program that receives there") == true)
        sender.send([2], at: clock(10))
        let error = #expect(throws: Problem.self) { try sender.close(within: 60) }
        #expect(error?.message == "test: tcp://192.0.2.1:9000: not one of 2 messages could be sent")
        #expect(network.now == 0 && lost == 2 && network.lines.count == 1)
    }

    @Test func `receiver that reads nothing: close ends in time, and what was not written is counted`() throws {
        network.set(.stalls)
        let sender = try sender(over: .tcp)
        for _ in 0..<400 { sender.send([UInt8](repeating: 1, count: 64 << 10), at: 0) }
        #expect(network.lines.contains { $0.contains("the receiver is too slow") })
        try sender.close(within: 0.2)
        #expect(network.now <= 0.21 && lost == 400)
    }
}
