public import Glibc
internal import HemiolaSystem

/// The path of the socket. The sink and `hemiola send` use the same default.
public struct SocketPath: Sendable, Hashable {
    /// Maximum length in bytes: that of `sun_path` in `sockaddr_un` without the terminating NUL byte.
    public static let limit = 107

    /// The path, absolute or relative to the working directory.
    public var path: String
    /// Whether the folder is private to Hemiola: the sink creates it if it is missing.
    public var isInOwnFolder: Bool

    /// A path, and whether its folder is private to Hemiola.
    public init(path: String, isInOwnFolder: Bool) {
        self.path = path
        self.isInOwnFolder = isInOwnFolder
    }

    /// Calls a closure with the socket address of a path, which is cut to `limit` bytes.
    public static func withAddress(of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(limit)) }
        return withUnsafePointer(to: address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
        }
    }

    /// The default: `$XDG_RUNTIME_DIR/hemiola.sock`, else `hemiola-UID/hemiola.sock` in the folder for temporary files.
    public static func standard() -> SocketPath {
        if let folder = EnvironmentVariable.absolutePath("XDG_RUNTIME_DIR"), isUsersFolder(folder) {
            return SocketPath(path: "\(folder)/hemiola.sock", isInOwnFolder: false)
        }
        var temporary = EnvironmentVariable.absolutePath("TMPDIR") ?? "/tmp"
        while temporary.count > 1, temporary.last == "/" { temporary.removeLast() }
        return SocketPath(path: "\(temporary)/hemiola-\(geteuid())/hemiola.sock", isInOwnFolder: true)
    }

    /// Whether the folder exists and belongs to the current user. With sudo, the variable can name another user's folder.
    private static func isUsersFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
    }
}

/// The types of sockets, and their flags, as socket(2) takes them: Glibc declares some of them as an enumeration.
package enum SocketType {
    package static let stream = Int32(SOCK_STREAM.rawValue)
    package static let datagram = Int32(SOCK_DGRAM.rawValue)
    package static let nonBlocking = Int32(SOCK_NONBLOCK.rawValue)
    package static let closeOnExec = Int32(SOCK_CLOEXEC.rawValue)
}
