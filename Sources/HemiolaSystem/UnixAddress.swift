public import Glibc

/// The address of a Unix socket.
public enum UnixAddress {
    /// Maximum length of a path in bytes: that of `sun_path` in `sockaddr_un` without the terminating NUL byte.
    public static let limit = 107

    /// Calls a closure with the address of a path: for `bind` and `connect`.
    ///
    /// - Parameters:
    ///   - path: The path; what follows after ``limit`` bytes is left out, so check its length before.
    ///   - body: Gets the address and its size, which are valid until it returns.
    /// - Returns: What the closure returns.
    public static func with(path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(limit)) }
        return withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }
}
