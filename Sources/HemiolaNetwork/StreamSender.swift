internal import Glibc
internal import Hemiola
public import HemiolaSystem
internal import Synchronization

/// Sends messages on a TCP connection. Thread-safe; `send` never blocks.
///
/// A thread resolves the name, connects, writes, and connects again when the connection ends. Messages while there is no connection are
/// lost, and those beyond ``queueLimit`` when the receiver is too slow; both are counted. A message is sent whole or not at all.
///
/// `@unchecked Sendable`: everything below the lock is touched only under it; the connection belongs to the thread.
public final class StreamSender: PacketSender, @unchecked Sendable {
    /// The most bytes that wait for a slow receiver: several seconds of all features.
    public static let queueLimit = 1 << 20
    /// Seconds after which an attempt to connect has failed.
    private static let connectTime = 5.0
    /// Seconds that `close` waits for the queue.
    private static let closeTime = 1.0

    private let target: NetworkTarget
    private let losses: LossReport
    /// Wakes up the thread, which waits for the socket too.
    private let wakeUp: WakeUp
    private let condition = Condition()
    private var queue: [[UInt8]] = []
    private var queuedBytes = 0
    private var reason = ""
    /// Whether messages are queued: there is a connection, or the first attempt has no result yet.
    private var isAccepting = true
    /// The connection while nothing is being sent by the thread; else -1.
    private var idleDescriptor: Int32 = -1
    private var isClosing = false
    private var isDone = true

    /// A sender for a target. The thread is started by ``start()``.
    ///
    /// - Throws: No file descriptor is left.
    public init(_ target: NetworkTarget, losses: LossReport) throws(Problem) {
        self.target = target
        self.losses = losses
        do throws(SystemCallError) {
            wakeUp = try WakeUp()
        } catch {
            throw Problem("cannot create a pipe: \(error)")
        }
    }

    /// Starts the thread, which connects.
    public func start() throws(Problem) {
        condition.locked { isDone = false }
        startThread { [self] in work() }
    }

    /// Sends a message at once if the system takes it, else queues it, or counts it as lost.
    public func send(_ packet: [UInt8]) {
        var isSent = false
        let fault: String? = condition.locked {
            guard isAccepting, !isClosing else { return isClosing ? Self.closed : reason }
            guard queuedBytes + packet.count <= Self.queueLimit else { return "the receiver is too slow" }
            var packet = packet
            if idleDescriptor >= 0, queue.isEmpty {
                // An error is found by the thread too. Of a message that is sent in part, the thread sends the rest.
                let count = max(0, packet.withUnsafeBytes { sendBytes(idleDescriptor, $0) })
                if count == packet.count {
                    isSent = true
                    return nil
                }
                packet.removeFirst(count)
                idleDescriptor = -1
            }
            queue.append(packet)
            queuedBytes += packet.count
            return nil
        }
        if let fault { return losses.lose(1, because: fault) }
        if isSent { losses.send() } else { wakeUp.signal() }
    }

    /// Waits up to a second for the queue, and closes the connection.
    @discardableResult
    public func close() -> String? {
        let end = MonotonicTime.now + Self.closeTime
        condition.lock()
        isClosing = true
        wakeUp.signal()
        while !isDone, MonotonicTime.now < end { condition.wait(until: end) }
        condition.unlock()
        if let lost = losses.totalLoss { return "not one of \(lost) messages could be sent" }
        losses.close()
        return nil
    }

    // MARK: - The thread

    private var mustEnd: Bool { condition.locked { isClosing } }

    private func work() {
        var delay = RetryDelay(first: 0.2, longest: 10)
        while !mustEnd {
            do throws(Problem) {
                let socket = try TCPSocket.connect(to: target.endpoint, timeout: Self.connectTime, wakeUp) { mustEnd }
                delay.reset()
                condition.locked { isAccepting = true }
                let fault = write(to: socket)
                discardQueue(because: fault)
            } catch {
                let remedy = error.message == Self.refused ? "; start the program that receives there" : ""
                let fault = error.message + remedy
                discardQueue(because: fault)
            }
            delay.noteFailure(at: MonotonicTime.now)
            while !mustEnd, case let rest = delay.nextAttempt - MonotonicTime.now, rest > 0 { _ = wakeUp.wait(seconds: rest) }
        }
        condition.locked {
            isDone = true
            condition.broadcast()
        }
    }

    /// Counts what is queued as lost, and accepts no more until there is a connection.
    private func discardQueue(because fault: String) {
        let lost = condition.locked {
            defer { (isAccepting, reason, queue, queuedBytes) = (false, fault, [], 0) }
            return queue.count
        }
        if !mustEnd || lost > 0 { losses.lose(lost, because: fault) }
    }

    private static let closed = "the output is closed"
    private static let refused = SystemCallError(number: ECONNREFUSED).description

    /// Writes messages until the connection ends, or the output is closed and the queue empty.
    ///
    /// - Returns: Why it ended.
    private func write(to socket: borrowing TCPSocket) -> String {
        defer { condition.locked { idleDescriptor = -1 } }
        var rest: ArraySlice<UInt8> = []
        var closeLimit: Double?
        while true {
            if rest.isEmpty {
                let next: [UInt8]? = condition.locked {
                    guard !queue.isEmpty else {
                        idleDescriptor = socket.descriptor
                        return nil
                    }
                    idleDescriptor = -1
                    let packet = queue.removeFirst()
                    queuedBytes -= packet.count
                    return packet
                }
                if let next { rest = next[...] }
            }
            if mustEnd {
                let limit = closeLimit ?? MonotonicTime.now + Self.closeTime * 0.8
                closeLimit = limit
                if rest.isEmpty || MonotonicTime.now > limit { return Self.closed }
            }
            let readiness = wakeUp.wait(seconds: closeLimit == nil ? nil : 0.05, for: socket.descriptor, writing: !rest.isEmpty)
            // What the receiver sends is discarded.
            if readiness.isReadable, !socket.discardInput() { return "the receiver closed the connection" }
            if rest.isEmpty || !readiness.isWritable { continue }
            let count = rest.withUnsafeBytes { sendBytes(socket.descriptor, $0) }
            if count >= 0 {
                rest = rest.dropFirst(count)
                if rest.isEmpty { losses.send() }
            } else if errno != EAGAIN, errno != EINTR {
                return SystemCallError.last.description
            }
        }
    }
}
