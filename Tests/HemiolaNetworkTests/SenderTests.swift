import Dispatch
import Hemiola
import Synchronization
import TestSupport
import Testing

@testable import HemiolaNetwork

/// Sends to real sockets on the loopback interface.
@Suite(.mayNotHang, .serialized) struct SenderTests {
    /// What a sink reports.
    private final class Reports: Sendable {
        let warnings = Mutex<[String]>([])
        let drops = Mutex<[DropReport]>([])
        /// Signals each report.
        private let isNew = DispatchSemaphore(value: 0)

        var context: SinkContext {
            SinkContext(
                name: "test",
                controls: ControlPort(
                    submit: { _, _, _ in },
                    report: { [self] drop in
                        drops.withLock { $0.append(drop) }
                        isNew.signal()
                    }),
                messages: SinkMessages(warn: { [self] text in
                    warnings.withLock { $0.append(text) }
                    isNew.signal()
                }))
        }

        var lines: [String] { warnings.withLock { $0 } }
        var lost: Int { drops.withLock { $0.reduce(0) { $0 + $1.batches } } }

        /// Whether something was reported, or is within some seconds.
        func isReported(within seconds: Double) -> Bool { isNew.wait(timeout: .now() + seconds) == .success }

        /// Waits for a report after which a condition holds.
        func wait(for condition: (Reports) -> Bool) {
            while !condition(self) { isNew.wait() }
        }
    }

    private func sender(_ target: NetworkTarget, _ reports: Reports) throws -> MessageSender {
        try MessageSender(to: target, reports.context)
    }

    private func target(_ port: Int, host: String = "127.0.0.1", over transport: NetworkTarget.Transport = .udp) -> NetworkTarget {
        NetworkTarget(transport, host: host, port: port)
    }

    @Test func `datagrams: arrive whole and in order`() throws {
        let receiver = try DatagramReceiver()
        let reports = Reports()
        let sender = try sender(target(receiver.port), reports)
        sender.send([1, 2, 3], at: 0)
        sender.send([4], at: 0)
        #expect(receiver.receive() == [1, 2, 3])
        #expect(receiver.receive() == [4])
        try sender.close(within: 1)
        #expect(reports.lines.isEmpty)
    }

    @Test func `name: resolved beside the caller, messages before that are counted as lost`() throws {
        let receiver = try DatagramReceiver()
        let reports = Reports()
        let sender = try sender(target(receiver.port, host: "localhost"), reports)
        var packet: [UInt8]?
        for _ in 0..<100 where packet == nil {
            sender.send([7], at: 0)
            packet = receiver.receive(timeout: 0.05)
        }
        #expect(packet == [7])
        try sender.close(within: 1)
    }

    @Test func `name that does not exist: one warning, and every message counted`() throws {
        let reports = Reports()
        let target = target(9000, host: "no-such-host.invalid")
        let sender = try sender(target, reports)
        for _ in 0..<10 { sender.send([1], at: 0) }
        reports.wait { !$0.lines.isEmpty }
        try sender.close(within: 1)
        #expect(reports.lost == 10)
        // The first message, and the end of the outage: the others belong to its record.
        #expect(reports.drops.withLock { $0.count { !$0.isOngoing } } == 2)
        #expect(reports.lines.count == 2)
        #expect(reports.lines.first?.hasPrefix("test: no-such-host.invalid:9000: ") == true)
        #expect(reports.lines.last == "test: no-such-host.invalid:9000: 10 messages were lost")
    }

    @Test func `port on which no program receives: a warning; messages arrive once there is one`() throws {
        let port = try LoopbackPort.reserve()
        let reports = Reports()
        let sender = try sender(target(port), reports)
        // The system's answer to a datagram is reported with the next one, and the lost one before the line about it.
        repeat {
            sender.send([1], at: 0)
            _ = reports.isReported(within: 0.02)
        } while reports.lines.isEmpty
        #expect(
            reports.lines == [
                "test: 127.0.0.1:\(port): Connection refused; start the program that receives there; "
                    + "messages are lost until it is available"
            ])
        let receiver = try DatagramReceiver(port: port)
        sender.send([2], at: 0)
        sender.send([3], at: 0)
        // The last of those before can still be on its way, and the next one be refused for the one before it.
        var packet = receiver.receive()
        while packet == [1] { packet = receiver.receive() }
        #expect(packet == [2] || packet == [3])
        try sender.close(within: 1)
        #expect(reports.lost > 0)
    }

    @Test func `multicast: received by a member of the group on the loopback interface`() throws {
        let receiver = try DatagramReceiver(port: 0, group: "239.7.7.7")
        let sender = try MessageSender(to: target(receiver.port, host: "239.7.7.7"), interface: "lo", Reports().context)
        sender.send([9, 9], at: 0)
        #expect(receiver.receive() == [9, 9])
        try sender.close(within: 1)
    }

    @Test func `interface that does not exist: an error that names it`() throws {
        #expect(throws: Problem("test: 239.7.7.7:9000: there is no network interface \"nope0\"; see: ip link")) {
            try MessageSender(to: target(9000, host: "239.7.7.7"), interface: "nope0", Reports().context)
        }
    }

    @Test func `TCP: connects, sends in order, and connects again when the receiver closes`() throws {
        let receiver = try StreamReceiver()
        let reports = Reports()
        let sender = try sender(target(receiver.port, over: .tcp), reports)
        #expect(receiver.accept())
        var bytes: [UInt8]?
        for _ in 0..<100 where bytes == nil {
            sender.send([1, 2], at: 0)
            bytes = receiver.receive(2, timeout: 0.05)
        }
        #expect(bytes == [1, 2])
        receiver.closeConnection()
        #expect(receiver.accept(timeout: 10))
        reports.wait { $0.lines.first?.contains("the receiver closed the connection") == true }
        bytes = nil
        for _ in 0..<100 where bytes == nil {
            sender.send([3], at: 0)
            bytes = receiver.receive(1, timeout: 0.05)
        }
        #expect(bytes == [3])
        try sender.close(within: 1)
    }

    @Test func `TCP receiver that stalls: the caller never waits, every message arrives whole or is counted as lost`() throws {
        let receiver = try StreamReceiver()
        let reports = Reports()
        let sender = try sender(target(receiver.port, over: .tcp), reports)
        #expect(receiver.accept())
        let size = 64 << 10
        for number in 0..<400 { sender.send([UInt8](repeating: UInt8(number % 251), count: size), at: 0) }
        reports.wait { $0.lines.contains { $0.contains("the receiver is too slow") } }
        var received = 0
        while let bytes = receiver.receive(size, timeout: 0.5) {
            #expect(bytes.allSatisfy { $0 == bytes[0] })
            received += 1
        }
        try sender.close(within: 5)
        #expect(received > 0 && reports.lost > 100 && received + reports.lost == 400, "\(received) + \(reports.lost)")
    }

    @Test func `TCP receiver that never reads: close ends, and what was not written is counted`() throws {
        let receiver = try StreamReceiver()
        let reports = Reports()
        let sender = try sender(target(receiver.port, over: .tcp), reports)
        #expect(receiver.accept())
        for _ in 0..<400 { sender.send([UInt8](repeating: 1, count: 64 << 10), at: 0) }
        try sender.close(within: 0.2)
        #expect(reports.lost > 100)
    }

    @Test func `TCP port that refuses: one warning with the remedy, and an error at the end`() throws {
        let port = try LoopbackPort.reserve()
        let reports = Reports()
        let sender = try sender(target(port, over: .tcp), reports)
        sender.send([1], at: 0)
        reports.wait { !$0.lines.isEmpty }
        #expect(reports.lines[0].contains("Connection refused; start the program that receives there"))
        let error = #expect(throws: Problem.self) { try sender.close(within: 60) }
        #expect(error?.message == "test: tcp://127.0.0.1:\(port): not one of 1 messages could be sent")
        #expect(reports.lost == 1 && reports.lines.count == 1)
    }

    @Test func `TCP name that does not exist: a warning with the reason`() throws {
        let reports = Reports()
        let sender = try sender(target(9000, host: "no-such-host.invalid", over: .tcp), reports)
        reports.wait { !$0.lines.isEmpty }
        let start = "test: tcp://no-such-host.invalid:9000: cannot resolve the name: "
        #expect(reports.lines.first?.hasPrefix(start) == true, "\(reports.lines)")
        try sender.close(within: 1)
    }
}
