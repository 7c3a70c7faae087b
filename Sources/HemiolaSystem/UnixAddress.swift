package import Glibc

/// The address of a Unix socket.
package enum UnixAddress {
    /// Maximum length of a path in bytes: that of `sun_path` in `sockaddr_un` without the terminating NUL byte.
    package static let limit = 107

    /// Calls a closure with the address of a path, which is cut to `limit` bytes.
    package static func with(path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(limit)) }
        return withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }
}
