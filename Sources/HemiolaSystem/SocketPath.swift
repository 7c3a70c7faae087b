/// The path of the socket. The sink, `hemiola send` and the window use the same default.
public struct SocketPath: Sendable, Hashable {
    /// Where a path comes from.
    public enum Origin: Sendable, Hashable {
        /// The user has named it.
        case named
        /// The default, in the user's folder for sockets.
        case runtimeFolder
        /// The default, in a folder that is private to Hemiola. The sink creates it if it is missing.
        case ownFolder
    }

    /// The path, absolute or relative to the working directory.
    public var path: String
    /// Where the path comes from.
    public var origin: Origin

    /// A path that the user has named.
    public init(path: String) {
        self.init(path: path, origin: .named)
    }

    private init(path: String, origin: Origin) {
        self.path = path
        self.origin = origin
    }

    /// The default: `$XDG_RUNTIME_DIR/hemiola.sock`, else `hemiola-UID/hemiola.sock` in the folder for temporary files.
    public static func standard() -> SocketPath {
        if let folder = EnvironmentVariable.absolutePath("XDG_RUNTIME_DIR"), isUsersFolder(folder) {
            return SocketPath(path: "\(folder)/hemiola.sock", origin: .runtimeFolder)
        }
        var temporary = EnvironmentVariable.absolutePath("TMPDIR") ?? "/tmp"
        while temporary.count > 1, temporary.last == "/" { temporary.removeLast() }
        return SocketPath(path: "\(temporary)/hemiola-\(CurrentProcess.user)/hemiola.sock", origin: .ownFolder)
    }

    /// The folder of the socket.
    public var folder: String { FileSystem.folder(of: path) }

    /// Checks that no other user can put a socket of their own at the path. The folder exists.
    public func checkFolder() throws(Problem) {
        if origin == .ownFolder {
            let status: FileStatus
            do { status = try FileSystem.status(of: folder, followsLinks: false) } catch {
                throw Problem("cannot stat \(folder): \(error)")
            }
            guard status.kind == .folder, status.isPrivate else {
                throw Problem("\(folder): must be a folder of this user with mode 700; remove it, or use another path for the socket")
            }
        }
        try TrustedPath.check(folder, for: "the socket")
    }

    /// Whether the folder exists and belongs to the current user. With sudo, the variable can name another user's folder.
    private static func isUsersFolder(_ path: String) -> Bool {
        (try? FileSystem.status(of: path)).map { $0.kind == .folder && $0.isOwn } ?? false
    }
}
