internal import Glibc

/// Wakes a thread that waits for time or for a descriptor. Thread-safe. A thread that waits for other threads only uses a ``Condition``.
public final class WakeUp: Sendable {
    /// How a wait has ended; all false: its time is over.
    public struct Readiness: Sendable, Hashable {
        /// ``WakeUp/signal()`` was called.
        public var isSignalled = false
        /// The descriptor can be read without blocking, or was closed by the peer, or has an error.
        public var isReadable = false
        /// The descriptor can be written without blocking, or has an error.
        public var isWritable = false
    }

    private let ends: PipeEnds

    /// Not signalled.
    ///
    /// - Throws: No file descriptor is left.
    public init() throws(SystemCallError) {
        ends = try PipeEnds()
        for end in [ends.reader, ends.writer] { _ = fcntl(end, F_SETFL, O_NONBLOCK) }
    }

    deinit {
        close(ends.reader)
        close(ends.writer)
    }

    /// Ends the current or the next ``wait(seconds:for:writing:)``; several signals before it count as one. Does not block or allocate;
    /// async-signal-safe.
    public func signal() {
        let before = errno
        var byte: UInt8 = 0
        // A full pipe wakes the thread as well.
        _ = write(ends.writer, &byte, 1)
        errno = before
    }

    /// Waits for a signal, for a descriptor, or until a time is over. Does not allocate.
    ///
    /// - Parameters:
    ///   - seconds: The longest wait; nil: without limit. Accurate to about 0.1 ms on an idle system.
    ///   - descriptor: A descriptor; nil: none.
    ///   - writing: Whether the descriptor is also waited for until it can be written.
    @discardableResult
    public func wait(seconds: Double?, for descriptor: Int32? = nil, writing: Bool = false) -> Readiness {
        let deadline = Deadline(after: seconds ?? .infinity)
        // poll ignores negative descriptors.
        var requests = (
            pollfd(fd: ends.reader, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor ?? -1, events: Int16(writing ? POLLIN | POLLOUT : POLLIN), revents: 0)
        )
        while true {
            let rest = deadline.rest
            let milliseconds = Int32(max(0, min(rest, 60) * 1000))
            // poll waits for whole milliseconds; the rest is too short for a descriptor to matter.
            if milliseconds == 0, rest > 0 { usleep(UInt32(rest * 1e6)) }
            // Safe: a tuple of two elements of one type is laid out as an array of them.
            let count = withUnsafeMutableBytes(of: &requests) { poll($0.assumingMemoryBound(to: pollfd.self).baseAddress, 2, milliseconds) }
            if count > 0 { break }
            if deadline.hasPassed { return Readiness() }
        }
        let events = Int32(requests.1.revents)
        let hasError = events & (POLLERR | POLLHUP | POLLNVAL) != 0
        let isSignalled = requests.0.revents != 0
        if isSignalled { clear() }
        return Readiness(
            isSignalled: isSignalled, isReadable: events & POLLIN != 0 || hasError, isWritable: events & POLLOUT != 0 || hasError)
    }

    private func clear() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            while read(ends.reader, buffer.baseAddress, buffer.count) == buffer.count {}
        }
    }
}
