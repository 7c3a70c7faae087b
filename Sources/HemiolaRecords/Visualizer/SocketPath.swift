internal import Glibc
internal import HemiolaSystem

/// The path of the socket. The sink and `hemiola send` use the same default.
public struct SocketPath: Sendable, Hashable {
    /// The path, absolute or relative to the working directory.
    public var path: String
    /// Whether the folder is private to Hemiola: the sink creates it if it is missing.
    public var isInOwnFolder: Bool

    /// A path, and whether its folder is private to Hemiola.
    public init(path: String, isInOwnFolder: Bool) {
        self.path = path
        self.isInOwnFolder = isInOwnFolder
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
