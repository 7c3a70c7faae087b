internal import Glibc
internal import Hemiola
public import HemiolaSystem

/// A TCP connection to a server, which never blocks once it is established. Closed on deinitialization.
public struct TCPSocket: ~Copyable, Sendable {
    /// The result of sending a message.
    public enum SendResult: Sendable, Hashable {
        /// The system has accepted the whole message.
        case sent
        /// The peer does not read: nothing was sent.
        case full
        /// The connection is broken, or only a part of the message was sent.
        case broken
    }

    private static let stream = Int32(SOCK_STREAM.rawValue)
    static let type = stream | Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)

    /// For `WakeUp.wait`.
    public let descriptor: Int32

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        _ = systemClose(descriptor)
    }

    /// Resolves the name, which may block for as long as the system's resolver does, and connects to the first address that answers.
    /// Messages are sent at once (`TCP_NODELAY`).
    ///
    /// - Parameters:
    ///   - endpoint: The server.
    ///   - timeout: The longest wait for each address, in seconds.
    ///   - wakeUp: Its signal makes the connection check `isCancelled`.
    ///   - isCancelled: Whether the attempt is given up.
    /// - Throws: The reason of the last address, or why the name has none.
    public static func connect(
        to endpoint: NetworkEndpoint, timeout: Double, _ wakeUp: WakeUp, isCancelled: () -> Bool
    ) throws(Problem) -> TCPSocket {
        var list: UnsafeMutablePointer<addrinfo>?
        var hints = addrinfo()
        hints.ai_socktype = stream
        let code = getaddrinfo(endpoint.host, String(endpoint.port), &hints, &list)
        guard code == 0 else {
            throw Problem(code == EAI_SYSTEM ? SystemCallError.last.description : String(cString: gai_strerror(code)))
        }
        defer { freeaddrinfo(list) }
        var reason = "no address"
        var next = list
        while let address = next?.pointee, !isCancelled() {
            next = address.ai_next
            do throws(Problem) {
                return try connect(to: address, timeout: timeout, wakeUp, isCancelled)
            } catch {
                reason = error.message
            }
        }
        throw Problem(reason)
    }

    private static func connect(
        to address: addrinfo, timeout: Double, _ wakeUp: WakeUp, _ isCancelled: () -> Bool
    ) throws(Problem) -> TCPSocket {
        let descriptor = socket(address.ai_family, type, 0)
        guard descriptor >= 0 else { throw Problem(SystemCallError.last.description) }
        let connection = TCPSocket(descriptor)
        var isOn: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        if systemConnect(descriptor, address.ai_addr, address.ai_addrlen) == 0 { return connection }
        guard errno == EINPROGRESS else { throw Problem(SystemCallError.last.description) }
        let deadline = MonotonicTime.now + timeout
        while !isCancelled() {
            let wait = deadline - MonotonicTime.now
            guard wait > 0 else { throw Problem("no answer within \(Int(timeout)) s") }
            guard wakeUp.wait(seconds: wait, for: descriptor, writing: true).isWritable else { continue }
            var number: Int32 = 0
            var size = socklen_t(MemoryLayout<Int32>.size)
            getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &size)
            guard number == 0 else { throw Problem(SystemCallError(number: number).description) }
            return connection
        }
        throw Problem("cancelled")
    }

    /// Sends a message with one system call. Never blocks.
    public func send(_ bytes: [UInt8]) -> SendResult {
        let count = bytes.withUnsafeBytes { systemSend(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count == bytes.count { return .sent }
        return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) ? .full : .broken
    }

    /// Reads and discards what has arrived, at most 64 KiB. Never blocks.
    ///
    /// - Returns: Whether the peer has kept the connection open.
    public func discardInput() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count > 0 || count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)
    }
}

// System calls whose names are also names of methods here.

private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

private func systemConnect(_ descriptor: Int32, _ address: UnsafeMutablePointer<sockaddr>?, _ length: socklen_t) -> Int32 {
    connect(descriptor, address, length)
}

private func systemSend(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(descriptor, bytes, count, flags)
}
