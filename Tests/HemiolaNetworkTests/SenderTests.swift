import Glibc
import Hemiola
import HemiolaNetwork
import HemiolaRecords
import HemiolaSystem
import Synchronization
import TestSupport
import Testing

/// Sends to real sockets on the loopback interface.
@Suite(.serialized) struct SenderTests {
    /// What a sink reports.
    private final class Reports: Sendable {
        let warnings = Mutex<[String]>([])
        let drops = Mutex<[DropReport]>([])

        var context: SinkContext {
            SinkContext(
                name: "test",
                controls: ControlPort(submit: { _, _, _ in }, report: { [self] drop in drops.withLock { $0.append(drop) } }),
                warn: { [self] text in warnings.withLock { $0.append(text) } })
        }

        var lines: [String] { warnings.withLock { $0 } }
        var lost: Int { drops.withLock { $0.reduce(0) { $0 + $1.batches } } }

        func wait(for condition: (Reports) -> Bool) -> Bool {
            for _ in 0..<500 {
                if condition(self) { return true }
                usleep(10_000)
            }
            return false
        }
    }

    private func sender(_ target: NetworkTarget, _ reports: Reports) throws -> any PacketSender {
        let sender = try target.makeSender(losses: LossReport(reports.context, receiver: target.description))
        try sender.start()
        return sender
    }

    private func target(_ port: Int, host: String = "127.0.0.1", over transport: NetworkTarget.Transport = .udp) -> NetworkTarget {
        NetworkTarget(transport, host: host, port: port)
    }

    @Test func `datagrams: arrive whole and in order`() throws {
        let receiver = try DatagramReceiver()
        let reports = Reports()
        let sender = try sender(target(receiver.port), reports)
        sender.send([1, 2, 3])
        sender.send([4])
        #expect(receiver.receive() == [1, 2, 3])
        #expect(receiver.receive() == [4])
        sender.close()
        #expect(reports.lines.isEmpty)
    }

    @Test func `name: resolved beside the caller, messages before that are counted as lost`() throws {
        let receiver = try DatagramReceiver()
        let reports = Reports()
        let sender = try sender(target(receiver.port, host: "localhost"), reports)
        var packet: [UInt8]?
        for _ in 0..<100 where packet == nil {
            sender.send([7])
            packet = receiver.receive(timeout: 0.05)
        }
        #expect(packet == [7])
        sender.close()
    }

    @Test func `name that does not exist: one warning, and every message counted`() throws {
        let reports = Reports()
        let target = target(9000, host: "no-such-host.invalid")
        let sender = try sender(target, reports)
        for _ in 0..<10 { sender.send([1]) }
        #expect(reports.wait { !$0.lines.isEmpty })
        sender.close()
        #expect(reports.lost == 10)
        #expect(reports.lines.count == 2)
        #expect(reports.lines.first?.hasPrefix("no-such-host.invalid:9000: ") == true)
        #expect(reports.lines.last == "no-such-host.invalid:9000: 10 messages were lost")
    }

    @Test func `port on which no program receives: a warning; messages arrive once there is one`() throws {
        let port = try DatagramReceiver().port
        let reports = Reports()
        let sender = try sender(target(port), reports)
        for _ in 0..<5 {
            sender.send([1])
            usleep(20_000)
        }
        #expect(
            reports.lines == [
                "127.0.0.1:\(port): Connection refused; start the program that receives there; messages are lost until it is available"
            ])
        let receiver = try DatagramReceiver(port: port)
        sender.send([2])
        sender.send([3])
        #expect([2, 3].contains(receiver.receive()?.first))
        sender.close()
        #expect(reports.lost > 0)
    }

    @Test func `multicast: received by a member of the group on the loopback interface`() throws {
        let receiver = try DatagramReceiver(port: 0, group: "239.7.7.7")
        let target = target(receiver.port, host: "239.7.7.7")
        let reports = Reports()
        let sender = DatagramSender(
            target, options: DatagramSender.Options(interface: "lo"), losses: LossReport(reports.context, receiver: target.description))
        try sender.start()
        sender.send([9, 9])
        #expect(receiver.receive() == [9, 9])
        sender.close()
    }

    @Test func `interface that does not exist: an error that names it`() throws {
        let target = target(9000, host: "239.7.7.7")
        let sender = DatagramSender(
            target, options: DatagramSender.Options(interface: "nope0"), losses: LossReport(Reports().context, receiver: "x"))
        #expect(throws: Problem("there is no network interface \"nope0\"; see: ip link")) { try sender.start() }
    }

    @Test func `TCP: connects, sends in order, and connects again when the receiver closes`() throws {
        let receiver = try StreamReceiver()
        let reports = Reports()
        let sender = try sender(target(receiver.port, over: .tcp), reports)
        #expect(receiver.accept())
        var bytes: [UInt8]?
        for _ in 0..<100 where bytes == nil {
            sender.send([1, 2])
            bytes = receiver.receive(2, timeout: 0.05)
        }
        #expect(bytes == [1, 2])
        receiver.closeConnection()
        #expect(receiver.accept(timeout: 10))
        #expect(reports.wait { $0.lines.first?.contains("the receiver closed the connection") == true })
        bytes = nil
        for _ in 0..<100 where bytes == nil {
            sender.send([3])
            bytes = receiver.receive(1, timeout: 0.05)
        }
        #expect(bytes == [3])
        sender.close()
    }

    @Test func `TCP receiver that never reads: memory is bounded, the caller never waits, losses are counted`() throws {
        let receiver = try StreamReceiver()
        let reports = Reports()
        let sender = try sender(target(receiver.port, over: .tcp), reports)
        #expect(receiver.accept())
        usleep(100_000)
        let packet = [UInt8](repeating: 1, count: 64 << 10)
        let start = MonotonicTime.now
        for _ in 0..<400 { sender.send(packet) }
        #expect(MonotonicTime.now - start < 2 * Sanitizer.slowness)
        #expect(reports.lines.contains { $0.contains("the receiver is too slow") })
        sender.close()
        #expect(reports.lost > 100)
    }

    @Test func `TCP port that refuses: one warning with the remedy, and the program ends at once`() throws {
        let port = try StreamReceiver().port
        let reports = Reports()
        let sender = try sender(target(port, over: .tcp), reports)
        #expect(reports.wait { !$0.lines.isEmpty })
        #expect(reports.lines[0].contains("Connection refused; start the program that receives there"))
        let start = MonotonicTime.now
        sender.close()
        #expect(MonotonicTime.now - start < 2 * Sanitizer.slowness)
    }
}

@Suite struct SendScheduleTests {
    private final class Sent: Sendable {
        let packets = Mutex<[(time: Double, first: UInt8)]>([])
        var order: [UInt8] { packets.withLock { $0.map(\.first) } }
    }

    private func schedule(_ sent: Sent) -> SendSchedule {
        SendSchedule(send: { packet in sent.packets.withLock { $0.append((MonotonicTime.now, packet[0])) } })
    }

    @Test func `messages: sent in the order of their times, none early, at most a few milliseconds late`() {
        let sent = Sent()
        let schedule = schedule(sent)
        let now = MonotonicTime.now
        schedule.add([3], at: now + 0.15)
        schedule.add([2], at: now + 0.05)
        schedule.add([1], at: now - 1)
        schedule.add([4], at: now + 0.15)
        schedule.close(within: 5)
        #expect(sent.order == [1, 2, 3, 4])
        let times = sent.packets.withLock { $0.map { $0.time - now } }
        #expect(times[1] >= 0.0497 && times[2] >= 0.1497)
    }

    @Test func `close: what is not due in time is discarded`() {
        let sent = Sent()
        let schedule = schedule(sent)
        schedule.add([1], at: MonotonicTime.now + 60)
        let start = MonotonicTime.now
        schedule.close(within: 0.05)
        #expect(MonotonicTime.now - start < 2)
        #expect(sent.order.isEmpty)
    }

    @Test func `more messages than the capacity: the oldest are discarded and reported`() {
        let sent = Sent()
        let lost = Atomic<Int>(0)
        let schedule = SendSchedule(send: { _ in }, overflow: { lost.add(1, ordering: .relaxed) })
        for _ in 0..<SendSchedule.capacity + 5 { schedule.add([1], at: MonotonicTime.now + 60) }
        schedule.close(within: 0)
        #expect(lost.load(ordering: .relaxed) == 5)
        #expect(sent.order.isEmpty)
    }
}
