internal import Hemiola
internal import HemiolaSystem

/// Passes messages on at given times: those that are due at once, the others from a thread of its own, which starts with the first of them.
///
/// Thread-safe. `@unchecked Sendable`: everything below the condition is touched only under its lock.
public final class SendSchedule: @unchecked Sendable {
    /// The most messages that wait: more than a minute of events, or ten seconds of batches.
    public static let capacity = 1000
    /// A message that is due within so many seconds is sent at once: a thread wakes up no more exactly than that.
    static let tolerance = 0.0002

    private struct Entry {
        var time: Double
        var packet: [UInt8]
    }

    private let send: @Sendable ([UInt8]) -> Void
    private let overflow: @Sendable () -> Void
    private let condition = Condition()
    /// In order of time; those of one time in the order in which they were added.
    private var entries: [Entry] = []
    private var isClosed = false
    private var hasThread = false

    /// A schedule.
    ///
    /// - Parameters:
    ///   - send: Sends a message. Called from any thread, one at a time; must not block.
    ///   - overflow: Called for each message that is discarded, because too many wait.
    public init(send: @escaping @Sendable ([UInt8]) -> Void, overflow: @escaping @Sendable () -> Void = {}) {
        self.send = send
        self.overflow = overflow
    }

    /// Adds a message.
    ///
    /// - Parameters:
    ///   - packet: The message.
    ///   - time: When it is sent, in monotonic seconds; a time in the past: now.
    public func add(_ packet: [UInt8], at time: Double) {
        condition.lock()
        defer { condition.unlock() }
        if isClosed { return }
        let now = MonotonicTime.now
        if time <= now + Self.tolerance, entries.first.map({ $0.time > time }) ?? true { return send(packet) }
        if entries.count >= Self.capacity {
            entries.removeFirst()
            overflow()
        }
        let place = entries.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
        entries.insert(Entry(time: time, packet: packet), at: place)
        if !hasThread {
            hasThread = true
            startThread { [self] in work() }
        } else if place == 0 {
            condition.broadcast()
        }
    }

    /// Removes all messages that wait.
    public func removeAll() {
        condition.locked { entries.removeAll() }
    }

    /// Waits until all messages are sent, at most so many seconds, then ends the thread.
    public func close(within seconds: Double) {
        condition.lock()
        defer { condition.unlock() }
        let end = MonotonicTime.now + seconds
        while !entries.isEmpty, MonotonicTime.now < end { condition.wait(until: end) }
        isClosed = true
        entries.removeAll()
        condition.broadcast()
    }

    private func work() {
        condition.lock()
        defer { condition.unlock() }
        while !isClosed {
            guard let first = entries.first else {
                condition.wait()
                continue
            }
            if first.time > MonotonicTime.now + Self.tolerance {
                condition.wait(until: first.time)
                continue
            }
            entries.removeFirst()
            send(first.packet)
            if entries.isEmpty { condition.broadcast() }
        }
    }
}
