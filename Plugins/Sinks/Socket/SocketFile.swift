internal import Hemiola
internal import HemiolaBridge

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// A listening socket in the file system: never open to more than its user, or a group, from the moment it is there; never in
/// the place of a living one or of anything else; gone when it is done with.
struct SocketFile: Sendable {
    let path: String
    let descriptor: Int32
    private let identity: Identity

    /// Which file is ours, should another be there one day.
    private struct Identity: Sendable, Equatable {
        var device: UInt64
        var number: UInt64
    }

    /// - Parameter group: Whose members may connect too: a name or a number.
    init(_ place: SocketPath, group: String?) throws(SinkError) {
        path = place.path
        if let fault = Self.fault(inPath: path) { throw SinkError(fault) }
        let folder = Self.folder(of: path)
        if place.isInOwnFolder { try Self.makeOwn(folder) }
        try Self.check(folder, isOwn: place.isInOwnFolder)
        try SocketFolder.check(folder)
        let groupNumber: gid_t? = if let group { try Self.number(ofGroup: group) } else { nil }

        // Who looks and who binds at the same time would each think the other's socket dead.
        let lock = Self.lock(folder)
        defer { if lock >= 0 { _ = systemClose(lock) } }
        try Self.clear(path)
        descriptor = socket(AF_UNIX, streamType | nonBlocking | closingOnExec, 0)
        guard descriptor >= 0 else { throw Self.error("make a socket for", path) }
        do throws(SinkError) {
            identity = try Self.bind(descriptor, path, group: groupNumber)
        } catch {
            _ = systemClose(descriptor)
            throw error
        }
    }

    /// Gives up a socket that nobody has taken over.
    func close() {
        _ = systemClose(descriptor)
    }

    /// Removes it, if it is still there and still this one.
    func remove() {
        if Self.identity(of: path) == identity { unlink(path) }
    }

    /// What is wrong with a path, whatever is there.
    static func fault(inPath path: String) -> String? {
        let count = path.utf8.count
        if path.utf8.contains(0) { return "a path has no zero bytes" }
        if count <= SocketPath.limit { return nil }
        return "the path of a socket has \(SocketPath.limit) bytes at most, this one \(count); take a shorter one"
    }

    // MARK: - The folder

    private static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func makeOwn(_ folder: String) throws(SinkError) {
        guard mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw error("make the folder", folder) }
    }

    /// What others may write to, they may put another socket into.
    private static func check(_ folder: String, isOwn: Bool) throws(SinkError) {
        var status = stat()
        guard (isOwn ? lstat(folder, &status) : stat(folder, &status)) == 0 else {
            if errno == ENOENT {
                throw SinkError("there is no folder \(folder) for a socket; make it: mkdir -m 700 '\(folder)'")
            }
            throw error("look at the folder", folder)
        }
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        if isOwn {
            guard isFolder, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
                throw SinkError(
                    "\(folder) should be a folder of this user alone (mode 700), and is not; remove it, or name another: socket:PATH")
            }
            return
        }
        guard isFolder else { throw SinkError("\(folder) is no folder, and no place for a socket") }
    }

    /// - Returns: The folder's descriptor, locked; it is tried for two seconds, for anybody may hold the lock of a common folder.
    private static func lock(_ folder: String) -> Int32 {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return -1 }
        for _ in 0..<100 where flock(descriptor, LOCK_EX | LOCK_NB) != 0 { usleep(20_000) }
        return descriptor
    }

    // MARK: - What is there already

    /// Removes a socket that nobody listens at any more. Nothing else is removed.
    private static func clear(_ path: String) throws(SinkError) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw error("look at", path)
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw SinkError("\(path) is there, and is no socket; it is left as it is: take another path")
        }
        let probe = socket(AF_UNIX, streamType | nonBlocking | closingOnExec, 0)
        guard probe >= 0 else { throw error("make a socket for", path) }
        defer { _ = systemClose(probe) }
        let code = SocketPath.withAddress(of: path) { connect(probe, $0, $1) }
        if code == 0 || errno == EAGAIN || errno == EINPROGRESS {
            throw SinkError("somebody listens at \(path) already; end that, or take another path: socket:PATH")
        }
        guard errno == ECONNREFUSED || errno == ENOENT else { throw error("connect to", path) }
        guard unlink(path) == 0 || errno == ENOENT else { throw error("remove the old", path) }
    }

    // MARK: - Binding

    private static func bind(_ descriptor: Int32, _ path: String, group: gid_t?) throws(SinkError) -> Identity {
        // A socket's own mode is that of the file it becomes, so that there is no moment at which it is open to others; the
        // process's umask, which is every thread's, stays as it is.
        _ = fchmod(descriptor, 0o600)
        guard SocketPath.withAddress(of: path, { systemBind(descriptor, $0, $1) }) == 0 else { throw error("make the socket", path) }
        guard let identity = identity(of: path) else { throw error("find the socket", path) }
        do throws(SinkError) {
            guard chmod(path, 0o600) == 0 else { throw error("change the mode of", path) }
            if let group {
                guard chown(path, uid_t.max, group) == 0 else { throw error("give to that group the socket", path) }
                guard chmod(path, 0o660) == 0 else { throw error("change the mode of", path) }
            }
            guard listen(descriptor, 1024) == 0 else { throw error("listen at", path) }
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

    private static func number(ofGroup name: String) throws(SinkError) -> gid_t {
        if let number = gid_t(name) { return number }
        guard let entry = getgrnam(name) else { throw SinkError("there is no group \"\(name)\"; see: getent group") }
        return entry.pointee.gr_gid
    }

    private static func error(_ what: String, _ path: String) -> SinkError {
        SinkError("cannot \(what) \(path): \(String(cString: strerror(errno)))")
    }
}

// The system's names, where a method has the same.

private func systemClose(_ descriptor: Int32) -> Int32 { close(descriptor) }

private func systemBind(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> Int32 {
    bind(descriptor, address, length)
}

#if canImport(Glibc)
    private let streamType = Int32(SOCK_STREAM.rawValue)
    private let nonBlocking = Int32(SOCK_NONBLOCK.rawValue)
    private let closingOnExec = Int32(SOCK_CLOEXEC.rawValue)
#else
    private let streamType = SOCK_STREAM
    private let nonBlocking = SOCK_NONBLOCK
    private let closingOnExec = SOCK_CLOEXEC
#endif
