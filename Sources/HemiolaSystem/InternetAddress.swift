package import Glibc

/// IPv4 and IPv6 addresses as text, and sockets of this computer at them. Names are not resolved.
public enum InternetAddress {
    /// An address in its canonical form, which browsers send as `Host`.
    ///
    /// - Returns: nil: the text is no address.
    public static func canonical(_ text: String) -> String? {
        guard let info = self.info(of: text) else { return nil }
        defer { freeaddrinfo(info) }
        return self.text(of: info.pointee.ai_addr, info.pointee.ai_addrlen)
    }

    /// The first address of the network interfaces by which other computers can reach this one; nil: there is none.
    public static func reachable(isIPv4: Bool) -> String? {
        var list: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&list) == 0 else { return nil }
        defer { freeifaddrs(list) }
        var next = list
        while let entry = next?.pointee {
            next = entry.ifa_next
            let isUsable = entry.ifa_flags & UInt32(IFF_UP) != 0 && entry.ifa_flags & UInt32(IFF_LOOPBACK) == 0
            guard isUsable, let address = entry.ifa_addr, Int32(address.pointee.sa_family) == (isIPv4 ? AF_INET : AF_INET6) else {
                continue
            }
            let length = isIPv4 ? MemoryLayout<sockaddr_in>.size : MemoryLayout<sockaddr_in6>.size
            // A link-local address needs the name of an interface, which differs between computers.
            if let text = self.text(of: address, socklen_t(length)), !text.hasPrefix("fe80:") { return text }
        }
        return nil
    }

    /// The number of a network interface; nil: there is none of that name.
    package static func interfaceNumber(_ name: String) -> UInt32? {
        let number = if_nametoindex(name)
        return number == 0 ? nil : number
    }

    /// Creates a TCP socket that listens at an address of this computer, in non-blocking mode.
    ///
    /// - Parameters:
    ///   - address: The address.
    ///   - port: The port; 0: any free one.
    /// - Returns: The socket, and its port.
    /// - Throws: The port is in use, or the address is not one of this computer. `EINVAL` for a text that is no address.
    public static func listen(at address: String, port: Int) throws(SystemCallError) -> (socket: FileDescriptor, port: Int) {
        guard let info = self.info(of: address, port: port) else { throw SystemCallError(.invalidArgument) }
        defer { freeaddrinfo(info) }
        let descriptor = socket(info.pointee.ai_family, SocketType.stream | SocketType.nonBlocking | SocketType.closeOnExec, 0)
        guard descriptor >= 0 else { throw SystemCallError.last }
        var isOn: Int32 = 1
        // A port whose last connections are closing (TIME_WAIT) can be used again. A port with a listening socket cannot.
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<Int32>.size))
        guard bind(descriptor, info.pointee.ai_addr, info.pointee.ai_addrlen) == 0, Glibc.listen(descriptor, 1024) == 0 else {
            let error = SystemCallError.last
            close(descriptor)
            throw error
        }
        return (FileDescriptor(descriptor), self.port(of: descriptor) ?? port)
    }

    /// Creates a UDP socket that receives at an address of this computer, in non-blocking mode.
    package static func receiver(at address: UnsafePointer<sockaddr>, length: Int) throws(SystemCallError) -> FileDescriptor {
        let descriptor = socket(
            Int32(address.pointee.sa_family), SocketType.datagram | SocketType.nonBlocking | SocketType.closeOnExec, 0)
        guard descriptor >= 0 else { throw SystemCallError.last }
        guard bind(descriptor, address, socklen_t(length)) == 0 else {
            let error = SystemCallError.last
            close(descriptor)
            throw error
        }
        return FileDescriptor(descriptor)
    }

    // MARK: - Structures of the system

    /// What the system knows about an address. The caller frees it.
    private static func info(of text: String, port: Int = 0) -> UnsafeMutablePointer<addrinfo>? {
        var info: UnsafeMutablePointer<addrinfo>?
        var hints = addrinfo()
        (hints.ai_socktype, hints.ai_flags) = (SocketType.stream, AI_NUMERICHOST | AI_PASSIVE)
        return getaddrinfo(text, "\(port)", &hints, &info) == 0 ? info : nil
    }

    private static func text(of address: UnsafePointer<sockaddr>, _ length: socklen_t) -> String? {
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(address, length, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
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
}
