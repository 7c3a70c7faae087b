internal import Glibc
internal import Hemiola

/// A listening TCP socket.
struct ListeningSocket {
    /// Number of ports after the given one that are tried if it is in use.
    static let furtherPorts = 20

    let descriptor: Int32
    /// The address in its canonical form, which browsers send as `Host`.
    let address: String
    /// The port that the system has assigned.
    let port: Int

    /// - Parameters:
    ///   - address: An IPv4 or IPv6 address of this machine, as text.
    ///   - port: 0: any free port.
    /// - Throws: An error that names the address and port, and the remedy.
    init(address: String, port: Int) throws(Problem) {
        let place = "\(address.contains(":") ? "[\(address)]" : address):\(port)"
        var info: UnsafeMutablePointer<addrinfo>?
        var hints = addrinfo()
        (hints.ai_socktype, hints.ai_flags) = (SocketType.stream, AI_NUMERICHOST | AI_PASSIVE)
        guard getaddrinfo(address, nil, &hints, &info) == 0, let info else { throw Problem(Self.fault(inAddress: address)) }
        defer { freeaddrinfo(info) }
        var storage = sockaddr_storage()
        memcpy(&storage, info.pointee.ai_addr, Int(info.pointee.ai_addrlen))
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard
            getnameinfo(info.pointee.ai_addr, info.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
        else { throw Problem(Self.fault(inAddress: address)) }
        self.address = String(decoding: text.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
        let last = port == 0 ? 0 : min(65_535, port + Self.furtherPorts)
        for candidate in port...last {
            Self.setPort(candidate, of: &storage)
            let descriptor = socket(info.pointee.ai_family, SocketType.stream | SocketType.nonBlocking | SocketType.closeOnExec, 0)
            guard descriptor >= 0 else { throw Self.error("create a socket for", place) }
            if Self.listen(descriptor, &storage, info.pointee.ai_addrlen) {
                self.descriptor = descriptor
                self.port = Self.port(of: descriptor) ?? candidate
                return
            }
            let number = errno
            _ = systemClose(descriptor)
            errno = number
            guard number == EADDRINUSE else { throw Self.error("listen on", place) }
        }
        throw Problem("\(place): Address already in use, as are the ports up to \(last); choose another one: --sink web:port=NUMBER")
    }

    /// The message for text that is not an IP address.
    static func fault(inAddress address: String) -> String {
        "\"\(address)\" is not an IP address; use 127.0.0.1, 0.0.0.0 (all addresses of this machine), or one of its addresses"
    }

    /// Whether a text is an IPv4 or IPv6 address.
    static func isAddress(_ text: String) -> Bool {
        var info: UnsafeMutablePointer<addrinfo>?
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST
        guard getaddrinfo(text, nil, &hints, &info) == 0 else { return false }
        freeaddrinfo(info)
        return true
    }

    /// Closes the descriptor, if no bridge owns it.
    func close() {
        _ = systemClose(descriptor)
    }

    private static func listen(_ descriptor: Int32, _ storage: inout sockaddr_storage, _ length: socklen_t) -> Bool {
        var isOn: Int32 = 1
        // A port whose last connections are closing (TIME_WAIT) can be used again. A port with a listening socket cannot.
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        let result = withUnsafePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        return result == 0 && systemListen(descriptor, 1024) == 0
    }

    private static func setPort(_ port: Int, of storage: inout sockaddr_storage) {
        let port = in_port_t(port).bigEndian
        withUnsafeMutablePointer(to: &storage) { storage in
            if Int32(storage.pointee.ss_family) == AF_INET6 {
                storage.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { $0.pointee.sin6_port = port }
            } else {
                storage.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { $0.pointee.sin_port = port }
            }
        }
    }

    private static func port(of descriptor: Int32) -> Int? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        return withUnsafeMutablePointer(to: &storage) { storage in
            let result = storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
            guard result == 0 else { return nil }
            // The port has the same position in both types of addresses.
            return storage.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { Int(in_port_t(bigEndian: $0.pointee.sin_port)) }
        }
    }

    private static func error(_ action: String, _ place: String) -> Problem {
        let hint = errno == EADDRNOTAVAIL ? "; bind= must be an address of this machine" : errno == EACCES ? "; use a port above 1023" : ""
        return Problem("cannot \(action) \(place): \(SystemCallError.last)\(hint)")
    }
}

// System calls whose names are also names of methods here.

private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

private func systemListen(_ descriptor: Int32, _ backlog: Int32) -> Int32 { listen(descriptor, backlog) }
