internal import Hemiola
internal import HemiolaVisualizer
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Sends messages on a TCP connection. Thread-safe; `send` never blocks.
///
/// A thread resolves the name, connects, writes, and connects again when the connection ends. Messages while there is no connection are
/// lost, and those beyond ``queueLimit`` when the receiver is too slow; both are counted. A message is sent whole or not at all.
///
/// `@unchecked Sendable`: everything below the lock is touched only under it; the connection belongs to the thread.
public final class StreamSender: PacketSender, @unchecked Sendable {
    /// The most bytes that wait for a slow receiver: several seconds of all features.
    public static let queueLimit = 1 << 20
    /// Seconds between two attempts to connect.
    private static let pauses = [0.2, 0.5, 1, 2, 5, 10]
    /// Seconds after which an attempt to connect has failed.
    private static let connectTime = 5.0
    /// Seconds that `close` waits for the queue.
    private static let closeTime = 1.0

    private let target: NetworkTarget
    private let losses: LossReport
    /// Wakes up the thread, which waits for the socket too.
    private let wakeUp = WakeUpPipe()
    private let condition = TimedCondition()
    private var queue: [[UInt8]] = []
    private var queuedBytes = 0
    private var reason = "not connected yet"
    private var isConnected = false
    private var isClosing = false
    private var isDone = true

    /// A sender for a target. The thread is started by ``start()``.
    public init(_ target: NetworkTarget, losses: LossReport) {
        self.target = target
        self.losses = losses
    }

    /// Starts the thread, which connects.
    public func start() throws(NetworkError) {
        condition.locked { isDone = false }
        startThread { [self] in work() }
    }

    /// Queues a message, or counts it as lost.
    public func send(_ packet: [UInt8]) {
        let fault: String? = condition.locked {
            guard isConnected, !isClosing else { return reason }
            guard queuedBytes + packet.count <= Self.queueLimit else { return "the receiver is too slow" }
            queue.append(packet)
            queuedBytes += packet.count
            return nil
        }
        if let fault { return losses.lose(1, because: fault) }
        wakeUp.signal()
    }

    /// Waits up to a second for the queue, and closes the connection.
    public func close() {
        let end = MonotonicTime.now + Self.closeTime
        condition.lock()
        isClosing = true
        wakeUp.signal()
        while !isDone, MonotonicTime.now < end { condition.wait(until: end) }
        condition.unlock()
        losses.close()
    }

    // MARK: - The thread

    private var mustEnd: Bool { condition.locked { isClosing } }

    private func work() {
        var attempt = 0
        while !mustEnd {
            switch connectOnce() {
            case .success(let descriptor):
                attempt = 0
                condition.locked { isConnected = true }
                let fault = write(to: descriptor)
                closeSocket(descriptor)
                let lost = condition.locked {
                    defer { (isConnected, reason, queue, queuedBytes) = (false, fault, [], 0) }
                    return queue.count
                }
                if !mustEnd || lost > 0 { losses.lose(lost, because: fault) }
            case .failure(let error):
                condition.locked { reason = error.message }
                if !mustEnd { losses.lose(0, because: error.message) }
            }
            if mustEnd { break }
            _ = wakeUp.wait(for: nil, until: MonotonicTime.now + Self.pauses[min(attempt, Self.pauses.count - 1)])
            attempt += 1
        }
        condition.locked {
            isDone = true
            condition.broadcast()
        }
    }

    private func connectOnce() -> Result<Int32, NetworkError> {
        let address: SocketAddress
        switch SocketAddress.resolve(target, isNumeric: false) {
        case .success(let found): address = found
        case .failure(let error): return .failure(NetworkError("cannot resolve the name: \(error.text)"))
        }
        let descriptor: Int32
        do throws(NetworkError) {
            descriptor = try SocketType.makeSocket(address, SocketType.stream)
        } catch {
            return .failure(error)
        }
        // Small messages are sent at once.
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        var code: Int32 = 0
        if address.withPointer({ connect(descriptor, $0, $1) }) != 0 {
            code = errno
            if code == EINPROGRESS {
                let end = MonotonicTime.now + Self.connectTime
                code = ETIMEDOUT
                while MonotonicTime.now < end, !mustEnd {
                    guard wakeUp.wait(for: (descriptor, Int16(POLLOUT)), until: end) else { continue }
                    var length = socklen_t(MemoryLayout<Int32>.size)
                    getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length)
                    break
                }
            }
        }
        if code == 0 { return .success(descriptor) }
        closeSocket(descriptor)
        let remedy = code == ECONNREFUSED ? "; start the program that receives there" : ""
        return .failure(NetworkError(String(cString: strerror(code)) + remedy))
    }

    /// Writes messages until the connection ends, or the output is closed and the queue empty.
    ///
    /// - Returns: Why it ended.
    private func write(to descriptor: Int32) -> String {
        var rest: ArraySlice<UInt8> = []
        var closeLimit: Double?
        while true {
            if rest.isEmpty {
                let next: [UInt8]? = condition.locked {
                    guard !queue.isEmpty else { return nil }
                    let packet = queue.removeFirst()
                    queuedBytes -= packet.count
                    return packet
                }
                if let next { rest = next[...] }
            }
            if mustEnd {
                let limit = closeLimit ?? MonotonicTime.now + Self.closeTime * 0.8
                closeLimit = limit
                if rest.isEmpty || MonotonicTime.now > limit { return "the output is closed" }
            }
            let events = Int16(POLLIN) | (rest.isEmpty ? 0 : Int16(POLLOUT))
            guard wakeUp.wait(for: (descriptor, events), until: MonotonicTime.now + 1) else { continue }
            if let fault = readAway(descriptor) { return fault }
            if rest.isEmpty { continue }
            let count = rest.withUnsafeBytes { sendBytes(descriptor, $0) }
            if count >= 0 {
                rest = rest.dropFirst(count)
                if rest.isEmpty { losses.send() }
            } else if errno != EAGAIN, errno != EINTR {
                return String(cString: strerror(errno))
            }
        }
    }

    /// Discards what the receiver sends: up to 4 KiB per call.
    ///
    /// - Returns: Why the connection has ended; nil: it has not.
    private func readAway(_ descriptor: Int32) -> String? {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count > 0 || count < 0 && (errno == EAGAIN || errno == EINTR) { return nil }
        return count == 0 ? "the receiver closed the connection" : String(cString: strerror(errno))
    }
}

/// A pipe that wakes up a thread in `poll`.
private final class WakeUpPipe: Sendable {
    private let reader: Int32
    private let writer: Int32

    init() {
        var ends: [Int32] = [-1, -1]
        let result = pipe(&ends)
        precondition(result == 0, "cannot make a pipe: error \(errno)")
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (reader, writer) = (ends[0], ends[1])
    }

    deinit {
        close(reader)
        close(writer)
    }

    /// Never blocks: a full pipe wakes up the thread too.
    func signal() {
        var byte: UInt8 = 0
        _ = write(writer, &byte, 1)
    }

    /// Waits for a descriptor, a signal or a time.
    ///
    /// - Returns: Whether the descriptor is ready.
    func wait(for watched: (descriptor: Int32, events: Int16)?, until end: Double) -> Bool {
        var requests = [pollfd(fd: reader, events: Int16(POLLIN), revents: 0)]
        if let watched { requests.append(pollfd(fd: watched.descriptor, events: watched.events, revents: 0)) }
        let wait = Int32(min(max(0, (end - MonotonicTime.now) * 1000).rounded(.up), 60_000))
        guard poll(&requests, nfds_t(requests.count), wait) > 0 else { return false }
        if requests[0].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 64)
            while read(reader, &bytes, bytes.count) > 0 {}
        }
        return requests.count > 1 && requests[1].revents != 0
    }
}
