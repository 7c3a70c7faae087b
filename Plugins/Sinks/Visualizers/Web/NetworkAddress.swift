internal import Glibc

/// The addresses of this machine's network interfaces.
enum NetworkAddress {
    /// The first address by which other machines can reach this one; nil: there is none.
    static func first(isIPv4: Bool) -> String? {
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
            var text = [CChar](repeating: 0, count: 256)
            guard getnameinfo(address, socklen_t(length), &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0 else { continue }
            let name = String(decoding: text.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
            // A link-local address needs the name of an interface, which differs between machines.
            if !name.hasPrefix("fe80:") { return name }
        }
        return nil
    }
}
