internal import Glibc
internal import HemiolaSystem

/// A resolved address of a socket.
struct SocketAddress: Sendable {
    private var storage: sockaddr_storage
    private let length: socklen_t

    /// Calls a function with the address as the system takes it.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        // Safe: sockaddr is the common beginning of all addresses, and the pointer is valid during the call.
        withUnsafePointer(to: storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    /// `AF_INET` or `AF_INET6`.
    var domain: Int32 { Int32(storage.ss_family) }

    /// Whether it is that of a group: 224.0.0.0/4 or ff00::/8.
    var isMulticast: Bool {
        withPointer { address, _ in
            // Safe: the domain says which of the two it is.
            switch domain {
            case AF_INET:
                address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                    UInt32(bigEndian: $0.pointee.sin_addr.s_addr) >> 28 == 0xE
                }
            case AF_INET6:
                address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { address in
                    withUnsafeBytes(of: address.pointee.sin6_addr) { $0[0] == 0xFF }
                }
            default: false
            }
        }
    }

    private init(_ address: UnsafePointer<sockaddr>, _ length: socklen_t) {
        storage = sockaddr_storage()
        self.length = length
        // Safe: an address is not longer than sockaddr_storage.
        withUnsafeMutableBytes(of: &storage) { $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(length))) }
    }

    /// Resolves a name. Blocks for as long as the system's resolver takes, except for an address.
    ///
    /// - Parameter isNumeric: Whether only an address is accepted, which needs no resolver.
    /// - Returns: The first address, or the resolver's error.
    static func resolve(_ target: NetworkTarget, isNumeric: Bool) -> Result<SocketAddress, Problem> {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICSERV | (isNumeric ? AI_NUMERICHOST : 0)
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = target.transport == .udp ? SocketType.datagram : SocketType.stream
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(target.endpoint.host, String(target.endpoint.port), &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard code == 0, let first = list?.pointee, let address = first.ai_addr else {
            return .failure(Problem(code == EAI_SYSTEM ? SystemCallError.last.description : String(cString: gai_strerror(code))))
        }
        return .success(SocketAddress(address, first.ai_addrlen))
    }

}
