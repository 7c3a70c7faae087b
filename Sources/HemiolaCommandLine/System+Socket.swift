internal import HemiolaBridge

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

extension System {
    /// A connection to a Unix socket; closed with this object.
    final class UnixConnection {
        private let descriptor: Int32
        /// What was read and not yet taken.
        private var received: ArraySlice<UInt8> = []

        init(to path: String) throws(CallError) {
            descriptor = try Self.connected(to: path)
        }

        private static func connected(to path: String) throws(CallError) -> Int32 {
            guard path.utf8.count <= SocketPath.limit else { throw CallError(number: ENAMETOOLONG) }
            #if canImport(Glibc)
                let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            #else
                let type = SOCK_STREAM | SOCK_CLOEXEC
            #endif
            let descriptor = socket(AF_UNIX, type, 0)
            guard descriptor >= 0 else { throw CallError(number: errno) }
            let code = SocketPath.withAddress(of: path) { connect(descriptor, $0, $1) }
            guard code == 0 else {
                let number = errno
                close(descriptor)
                throw CallError(number: number)
            }
            return descriptor
        }

        deinit {
            close(descriptor)
        }

        func write(_ bytes: [UInt8]) throws(CallError) {
            try System.write(String(decoding: bytes, as: UTF8.self), to: descriptor)
        }

        /// - Returns: The next line, without its newline; nil at the end.
        func readLine(until deadline: Double) throws(CallError) -> [UInt8]? {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            while true {
                if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
                    defer { received = received[(end + 1)...] }
                    return Array(received[..<end])
                }
                var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                let wait = Int32(max(0, (deadline - System.now) * 1000))
                let ready = poll(&request, 1, wait)
                if ready == 0 { throw CallError(number: ETIMEDOUT) }
                guard ready > 0 else {
                    if errno == EINTR { continue }
                    throw CallError(number: errno)
                }
                let count = read(descriptor, &buffer, buffer.count)
                if count == 0 { return nil }
                guard count > 0 else { throw CallError(number: errno) }
                received += buffer[..<count]
            }
        }
    }
}

extension System.CallError {
    /// Whether nobody listens at a socket, or there is none.
    var isNobodyThere: Bool { number == ENOENT || number == ECONNREFUSED }
}
