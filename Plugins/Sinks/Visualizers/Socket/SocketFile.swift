internal import Hemiola

/// A listening Unix socket and its file.
///
/// From its creation on, only the user (and the members of a group, if one is given) can connect. A socket on which a process listens, and
/// a file that is not a socket, are never replaced. The file is removed at the end.
struct SocketFile: Sendable {
    let path: String
    let descriptor: FileDescriptor
    /// Identifies the file, in case another one has replaced it.
    private let identity: FileStatus.Identity

    /// - Parameter group: Name or number of a group whose members may also connect.
    init(_ location: SocketPath, group: String?) throws(Problem) {
        path = location.path
        if let error = Self.error(inPath: path) { throw Problem(error) }
        let folder = location.folder
        if location.origin == .ownFolder { try Self.makePrivate(folder) }
        try Self.checkExists(folder)
        try location.checkFolder()

        // Two processes that check and bind at the same time could each remove the other's socket before it listens.
        let lock = Self.lock(folder)
        defer { lock?.close() }
        try Self.removeStale(path)
        descriptor = try UnixAddress.listen(at: path, group: group)
        do { identity = try FileSystem.status(of: path, followsLinks: false).identity } catch {
            descriptor.close()
            FileSystem.remove(path)
            throw Self.problem("stat", path, error)
        }
    }

    /// Closes the descriptor, if no bridge owns it.
    func close() {
        descriptor.close()
    }

    /// Removes the file, unless another one has replaced it.
    func remove() {
        if (try? FileSystem.status(of: path, followsLinks: false).identity) == identity { FileSystem.remove(path) }
    }

    /// Whether the socket was removed from its path, and another one can be created there: the path is free, and its folder exists.
    var wasRemoved: Bool {
        do { _ = try FileSystem.status(of: path, followsLinks: false) } catch {
            return error.code == .noSuchFileOrDirectory && FileSystem.exists(FileSystem.folder(of: path))
        }
        return false
    }

    /// The error of a path that is invalid independent of the file system; nil if it is valid.
    static func error(inPath path: String) -> String? {
        let count = path.utf8.count
        if path.utf8.contains(0) { return "the path contains a NUL byte" }
        if count <= UnixAddress.limit { return nil }
        return "the socket path is too long: \(count) bytes, maximum \(UnixAddress.limit); use a shorter path"
    }

    // MARK: - The folder

    private static func makePrivate(_ folder: String) throws(Problem) {
        do { try FileSystem.createFolder(folder, permissions: 0o700) } catch {
            throw problem("create the folder", folder, error)
        }
    }

    private static func checkExists(_ folder: String) throws(Problem) {
        let kind: FileKind
        do { kind = try FileSystem.status(of: folder).kind } catch {
            if error.code == .noSuchFileOrDirectory {
                throw Problem("\(folder): No such file or directory; create it: mkdir -m 700 '\(folder)'")
            }
            throw problem("stat", folder, error)
        }
        guard kind == .folder else { throw Problem("\(folder): Not a directory; use another path: socket:PATH") }
    }

    /// Locks the folder. After two seconds the lock is skipped, because in a shared folder any user can hold it.
    ///
    /// - Returns: The folder; nil if it cannot be opened.
    private static func lock(_ folder: String) -> FileDescriptor? {
        guard let file = try? FileDescriptor.open(folder) else { return nil }
        for _ in 0..<100 where !file.lock() { MonotonicTime.sleep(for: 0.02) }
        return file
    }

    // MARK: - An existing file

    /// Removes a socket on which no process listens. Nothing else is removed.
    private static func removeStale(_ path: String) throws(Problem) {
        let kind: FileKind
        do { kind = try FileSystem.status(of: path, followsLinks: false).kind } catch {
            if error.code == .noSuchFileOrDirectory { return }
            throw problem("stat", path, error)
        }
        guard kind == .socket else { throw Problem("\(path): File exists and is not a socket; use another path: socket:PATH") }
        let isInUse: Bool
        do { isInUse = try UnixAddress.isListening(at: path) } catch {
            throw problem("connect to", path, error)
        }
        if isInUse {
            throw Problem("\(path): Address already in use: another process listens on it; stop it, or use another path: socket:PATH")
        }
        FileSystem.remove(path)
    }

    private static func problem(_ action: String, _ path: String, _ error: SystemCallError) -> Problem {
        Problem("cannot \(action) \(path): \(error)")
    }
}
