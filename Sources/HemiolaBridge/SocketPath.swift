#if canImport(Glibc)
    package import Glibc
#else
    package import Musl
#endif

/// Where the socket is when nobody says otherwise: whoever listens and whoever calls look in the same place.
package struct SocketPath: Sendable, Hashable {
    /// Bytes that the system's address of a Unix socket has room for, without the zero at its end.
    package static let limit = 107

    package var path: String
    /// Whether its folder is Hemiola's own, made when it is needed.
    package var isInOwnFolder: Bool

    package init(path: String, isInOwnFolder: Bool) {
        self.path = path
        self.isInOwnFolder = isInOwnFolder
    }

    /// Lends a path, of which `limit` bytes count, as the system's address.
    package static func withAddress(of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(limit)) }
        return withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }

    /// `$XDG_RUNTIME_DIR/hemiola.sock`, else in a folder of one's own in the folder of temporary files.
    package static func standard() -> SocketPath {
        // What is no absolute path has to be ignored, says the XDG Base Directory Specification.
        if let folder = environment("XDG_RUNTIME_DIR"), isUsersFolder(folder) {
            return SocketPath(path: "\(folder)/hemiola.sock", isInOwnFolder: false)
        }
        var temporary = environment("TMPDIR") ?? "/tmp"
        while temporary.count > 1, temporary.last == "/" { temporary.removeLast() }
        return SocketPath(path: "\(temporary)/hemiola-\(geteuid())/hemiola.sock", isInOwnFolder: true)
    }

    private static func environment(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.hasPrefix("/") ? text : nil
    }

    /// Whether it is there and belongs to whoever runs this: sudo passes on the folder of another.
    private static func isUsersFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
    }
}
