#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
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
