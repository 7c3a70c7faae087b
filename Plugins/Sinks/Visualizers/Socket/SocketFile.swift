internal import Glibc
internal import Hemiola

/// A listening Unix socket and its file.
///
/// From its creation on, only the user (and the members of a group, if one is given) can connect. A socket on which a process listens, and
/// a file that is not a socket, are never replaced. The file is removed at the end.
struct SocketFile: Sendable {
    let path: String
    let descriptor: Int32
    private let identity: Identity

    /// Identifies the file, in case another one has replaced it.
    private struct Identity: Sendable, Equatable {
        var device: UInt64
        var number: UInt64
    }

    /// - Parameter group: Name or number of a group whose members may also connect.
    init(_ location: SocketPath, group: String?) throws(Problem) {
        path = location.path
        if let error = Self.error(inPath: path) { throw Problem(error) }
        let folder = location.folder
        if location.origin == .ownFolder { try Self.makePrivate(folder) }
        try Self.checkExists(folder)
        try location.checkFolder()
        let groupNumber: gid_t? = if let group { try Self.number(ofGroup: group) } else { nil }

        // Two processes that check and bind at the same time could each remove the other's socket before it listens.
        let lock = Self.lock(folder)
        defer { if lock >= 0 { _ = systemClose(lock) } }
        try Self.removeStale(path)
        descriptor = socket(AF_UNIX, SocketType.stream | SocketType.nonBlocking | SocketType.closeOnExec, 0)
        guard descriptor >= 0 else { throw Self.error("create a socket for", path) }
        do throws(Problem) {
            identity = try Self.bind(descriptor, path, group: groupNumber)
        } catch {
            _ = systemClose(descriptor)
            throw error
        }
    }

    /// Closes the descriptor, if no bridge owns it.
    func close() {
        _ = systemClose(descriptor)
    }

    /// Removes the file, unless another one has replaced it.
    func remove() {
        if Self.identity(of: path) == identity { unlink(path) }
    }

    /// Whether the socket was removed from its path, and another one can be created there: the path is free, and its folder exists.
    var wasRemoved: Bool {
        var status = stat()
        guard lstat(path, &status) == -1, errno == ENOENT else { return false }
        return stat(FileSystem.folder(of: path), &status) == 0
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
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw error("create the folder", folder) }
    }

    private static func checkExists(_ folder: String) throws(Problem) {
        var status = stat()
        guard stat(folder, &status) == 0 else {
            if errno == ENOENT {
                throw Problem("\(folder): No such file or directory; create it: mkdir -m 700 '\(folder)'")
            }
            throw error("stat", folder)
        }
        guard status.st_mode & S_IFMT == S_IFDIR else { throw Problem("\(folder): Not a directory; use another path: socket:PATH") }
    }

    /// Locks the folder. After two seconds the lock is skipped, because in a shared folder any user can hold it.
    ///
    /// - Returns: The folder's descriptor; negative if it cannot be opened.
    private static func lock(_ folder: String) -> Int32 {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return -1 }
        for _ in 0..<100 where flock(descriptor, LOCK_EX | LOCK_NB) != 0 { MonotonicTime.sleep(for: 0.02) }
        return descriptor
    }

    // MARK: - An existing file

    /// Removes a socket on which no process listens. Nothing else is removed.
    private static func removeStale(_ path: String) throws(Problem) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw error("stat", path)
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw Problem("\(path): File exists and is not a socket; use another path: socket:PATH")
        }
        let probe = socket(AF_UNIX, SocketType.stream | SocketType.nonBlocking | SocketType.closeOnExec, 0)
        guard probe >= 0 else { throw error("create a socket for", path) }
        defer { _ = systemClose(probe) }
        let code = UnixAddress.with(path: path) { connect(probe, $0, $1) }
        if code == 0 || errno == EAGAIN || errno == EINPROGRESS {
            throw Problem("\(path): Address already in use: another process listens on it; stop it, or use another path: socket:PATH")
        }
        guard errno == ECONNREFUSED || errno == ENOENT else { throw error("connect to", path) }
        guard unlink(path) == 0 || errno == ENOENT else { throw error("remove", path) }
    }

    // MARK: - Binding

    private static func bind(_ descriptor: Int32, _ path: String, group: gid_t?) throws(Problem) -> Identity {
        // The file gets the mode of the socket's descriptor, so that it is never accessible to others. The umask, which is shared by all
        // threads, is not changed.
        _ = fchmod(descriptor, 0o600)
        guard UnixAddress.with(path: path, { systemBind(descriptor, $0, $1) }) == 0 else { throw error("bind the socket", path) }
        guard let identity = identity(of: path) else { throw error("stat", path) }
        do throws(Problem) {
            guard chmod(path, 0o600) == 0 else { throw error("change the mode of", path) }
            if let group {
                guard chown(path, uid_t.max, group) == 0 else { throw error("change the group of", path) }
                guard chmod(path, 0o660) == 0 else { throw error("change the mode of", path) }
            }
            guard listen(descriptor, 1024) == 0 else { throw error("listen on", path) }
        } catch {
            unlink(path)
            throw error
        }
        return identity
    }

    private static func identity(of path: String) -> Identity? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        return Identity(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
    }

    private static func number(ofGroup name: String) throws(Problem) -> gid_t {
        if let number = gid_t(name) { return number }
        guard let entry = getgrnam(name) else { throw Problem("unknown group \"\(name)\"; list the groups: getent group") }
        return entry.pointee.gr_gid
    }

    private static func error(_ action: String, _ path: String) -> Problem {
        Problem("cannot \(action) \(path): \(SystemCallError.last)")
    }
}

// System calls whose names are also names of methods here.

private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

private func systemBind(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    bind(descriptor, address, length)
}
