#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Sends messages to one receiver. Thread-safe; no call blocks, except that ``close()`` may wait a second for what is queued.
public protocol PacketSender: Sendable {
    /// Begins. Called once, before the first message.
    ///
    /// - Throws: The configuration is impossible on this computer. A receiver that is not available is no error.
    func start() throws(NetworkError)
    /// Sends a message, or counts it as lost.
    func send(_ packet: [UInt8])
    /// Ends: nothing is sent after that. Reports losses.
    func close()
}

/// A socket cannot be made.
public struct NetworkError: Error, Sendable, Hashable, CustomStringConvertible {
    /// One line: what is wrong, and what to do where that is known.
    public var message: String

    /// An error in one line.
    public init(_ message: String) {
        self.message = message
    }

    public var description: String { message }
}

extension NetworkTarget {
    /// Makes the sender of this target's transport.
    ///
    /// - Parameters:
    ///   - options: For datagrams.
    ///   - losses: Counts the messages that are lost.
    /// - Throws: No file descriptor is left.
    public func makeSender(
        options: DatagramSender.Options = DatagramSender.Options(), losses: LossReport
    ) throws(NetworkError) -> any PacketSender {
        switch transport {
        case .udp: DatagramSender(self, options: options, losses: losses)
        case .tcp: try StreamSender(self, losses: losses)
        }
    }
}

/// A lock and a condition on which threads wait until a monotonic time.
///
/// `@unchecked Sendable`: the two are made for use by several threads, and are not moved.
final class TimedCondition: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let variable: UnsafeMutablePointer<pthread_cond_t>

    init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        variable = .allocate(capacity: 1)
        variable.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(variable, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(variable)
        pthread_mutex_destroy(mutex)
        variable.deallocate()
        mutex.deallocate()
    }

    func lock() { pthread_mutex_lock(mutex) }
    func unlock() { pthread_mutex_unlock(mutex) }
    func wait() { pthread_cond_wait(variable, mutex) }
    func broadcast() { pthread_cond_broadcast(variable) }

    /// Waits until the time or a broadcast, under the lock.
    func wait(until time: Double) {
        let seconds = max(0, time).rounded(.down)
        var limit = timespec(tv_sec: Int(seconds), tv_nsec: Int((max(0, time) - seconds) * 1e9))
        pthread_cond_timedwait(variable, mutex, &limit)
    }

    func locked<Result>(_ body: () -> Result) -> Result {
        lock()
        defer { unlock() }
        return body()
    }
}
