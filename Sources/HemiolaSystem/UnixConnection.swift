internal import Glibc

/// A connection to a Unix socket; closed with this object.
package final class UnixConnection {
    private let socket: FileDescriptor
    /// Maximum length of a line in bytes; hemiola sends shorter lines only.
    private static let longestLine = 16 << 20

    /// Bytes that were received but not yet returned.
    private var lines = LineSplitter(limit: longestLine)

    /// Connects.
    ///
    /// - Parameters:
    ///   - path: The path of the socket.
    ///   - deadline: When to give up. connect(2) blocks while the backlog of the server is full.
    /// - Throws: `ETIMEDOUT` at the deadline, else the error of the system call.
    package init(to path: String, until deadline: Deadline) throws(SystemCallError) {
        socket = FileDescriptor(try Self.connected(to: path, until: deadline))
    }

    private static func connected(to path: String, until deadline: Deadline) throws(SystemCallError) -> Int32 {
        guard path.utf8.count <= UnixAddress.limit else { throw SystemCallError(number: ENAMETOOLONG) }
        let descriptor = Glibc.socket(AF_UNIX, SocketType.stream | SocketType.closeOnExec, 0)
        guard descriptor >= 0 else { throw SystemCallError.last }
        while true {
            let number = UnixAddress.with(path: path) { connect(descriptor, $0, $1, until: deadline) }
            if number == 0 { return descriptor }
            // A signal interrupted the call.
            if number == EINTR { continue }
            close(descriptor)
            throw SystemCallError(number: number)
        }
    }

    /// Calls connect(2), which waits for a place in the backlog until the send timeout of the socket has passed.
    ///
    /// - Returns: 0 or the error number; `ETIMEDOUT` at the deadline.
    private static func connect(
        _ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t, until deadline: Deadline
    ) -> Int32 {
        let seconds = deadline.rest
        guard seconds > 0 else { return ETIMEDOUT }
        // At least a microsecond: 0 means no limit.
        var limit = timeval()
        limit.tv_sec = .init(seconds)
        limit.tv_usec = .init(max(1, seconds.truncatingRemainder(dividingBy: 1) * 1e6))
        guard setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size)) == 0 else {
            return errno
        }
        let code = Glibc.connect(descriptor, address, length)
        if code == 0 { return 0 }
        return errno == EAGAIN ? ETIMEDOUT : errno
    }

    /// The user of the process that listens, as the kernel reports it; nil if it reports none.
    package var serverUser: UInt32? { PeerCredentials.of(socket)?.user }

    deinit {
        socket.close()
    }

    /// Writes all bytes, or throws `ETIMEDOUT` at the deadline.
    package func write(_ bytes: [UInt8], until deadline: Deadline) throws(SystemCallError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            try wait(for: Int16(POLLOUT), until: deadline)
            let count = rest.withUnsafeBytes { send(socket.number, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)) }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { throw SystemCallError.last }
            rest = rest.dropFirst(count)
        }
    }

    /// Waits until the socket can be read or written.
    private func wait(for events: Int16, until deadline: Deadline) throws(SystemCallError) {
        while true {
            let seconds = deadline.rest
            guard seconds > 0 else { throw SystemCallError(number: ETIMEDOUT) }
            var request = pollfd(fd: socket.number, events: events, revents: 0)
            let ready = poll(&request, 1, Int32((seconds * 1000).rounded(.up)))
            if ready > 0 { return }
            if ready < 0, errno != EINTR { throw SystemCallError.last }
        }
    }

    /// Waits for the next line.
    ///
    /// - Returns: The line, without its newline; nil at the end.
    /// - Throws: `ETIMEDOUT` at the deadline, else the error of the system call.
    package func readLine(until deadline: Deadline) throws(SystemCallError) -> [UInt8]? {
        while true {
            guard !deadline.hasPassed else { throw SystemCallError(number: ETIMEDOUT) }
            if let line = lines.next() {
                guard !line.isCut else { throw SystemCallError(number: EMSGSIZE) }
                return line.bytes
            }
            try wait(for: Int16(POLLIN), until: deadline)
            let bytes = try socket.read(atMost: 65_536)
            if bytes.isEmpty { return nil }
            lines.append(bytes)
        }
    }
}
