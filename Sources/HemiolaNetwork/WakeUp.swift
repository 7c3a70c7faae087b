internal import Glibc
public import Hemiola

/// Wakes a thread that waits for time or for a socket. Thread-safe.
public final class WakeUp: Sendable {
    /// What a socket that was waited for is ready for.
    public struct Readiness: Sendable, Hashable {
        /// It can be read without blocking, or was closed by the peer, or has an error.
        public var isReadable = false
        /// It can be written without blocking, or has an error.
        public var isWritable = false
    }

    private let reader: Int32
    private let writer: Int32

    /// A pair of sockets that wakes a waiting thread.
    ///
    /// - Throws: No file descriptor is left.
    public init() throws(SinkError) {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, TCPSocket.type, 0, &ends) == 0 else {
            throw SinkError("cannot create a pair of sockets: \(String(cString: strerror(errno)))")
        }
        (reader, writer) = (ends[0], ends[1])
    }

    deinit {
        close(reader)
        close(writer)
    }

    /// Ends the current or the next ``wait(seconds:for:writing:)``. Does not block or allocate.
    public func signal() {
        var byte: UInt8 = 0
        // A full buffer wakes the thread as well.
        _ = send(writer, &byte, 1, Int32(MSG_NOSIGNAL))
    }

    /// Waits for a signal, for a socket, or until a time is over. A wait may end early.
    ///
    /// - Parameters:
    ///   - seconds: The longest wait; nil: without limit. Accurate to about 0.1 ms on an idle system.
    ///   - socket: A socket; nil: none.
    ///   - writing: Whether the socket is also waited for until it can be written.
    public func wait(seconds: Double?, for socket: Int32? = nil, writing: Bool = false) -> Readiness {
        var requests = [pollfd(fd: reader, events: Int16(POLLIN), revents: 0)]
        if let socket { requests.append(pollfd(fd: socket, events: Int16(writing ? POLLIN | POLLOUT : POLLIN), revents: 0)) }
        var milliseconds: Int32 = -1
        if let seconds {
            milliseconds = Int32(max(0, min(seconds, 60) * 1000))
            // poll(2) waits for whole milliseconds; the rest is too short for a socket to matter.
            if milliseconds == 0, seconds > 0 { usleep(UInt32(seconds * 1e6)) }
        }
        guard poll(&requests, nfds_t(requests.count), milliseconds) > 0 else { return Readiness() }
        if requests[0].revents != 0 {
            var bytes = [UInt8](repeating: 0, count: 64)
            while recv(reader, &bytes, bytes.count, 0) == bytes.count {}
        }
        guard requests.count > 1 else { return Readiness() }
        let events = Int32(requests[1].revents)
        let hasError = events & (POLLERR | POLLHUP | POLLNVAL) != 0
        return Readiness(isReadable: events & POLLIN != 0 || hasError, isWritable: events & POLLOUT != 0 || hasError)
    }
}

/// The pauses between attempts to connect: they double up to a limit.
public struct ReconnectDelay: Sendable {
    private let first: Double
    private let last: Double
    private var pause: Double

    /// Pauses that begin with the first one.
    ///
    /// - Parameters:
    ///   - first: The first pause, in seconds.
    ///   - last: The longest pause, in seconds.
    public init(first: Double = 0.25, last: Double) {
        self.first = first
        self.last = last
        pause = first
    }

    /// The pause before the next attempt, in seconds.
    public mutating func next() -> Double {
        defer { pause = min(pause * 2, last) }
        return pause
    }

    /// Begins with the first pause again, after a success.
    public mutating func reset() {
        pause = first
    }
}
