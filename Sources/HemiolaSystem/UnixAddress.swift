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

// MARK: - Listening

extension UnixAddress {
    /// Creates a socket that listens at a path where no file is yet, in non-blocking mode.
    ///
    /// From its creation on, only this user, and the members of a group if one is given, can connect.
    ///
    /// - Parameters:
    ///   - path: The path, of at most ``limit`` bytes.
    ///   - group: The name or the number of the group; nil: none.
    /// - Throws: The socket cannot be created, or there is no such group. Nothing is left at the path.
    public static func listen(at path: String, group: String? = nil) throws(Problem) -> FileDescriptor {
        let groupNumber: gid_t? = if let group { try number(ofGroup: group) } else { nil }
        let descriptor = socket(AF_UNIX, SocketType.stream | SocketType.nonBlocking | SocketType.closeOnExec, 0)
        guard descriptor >= 0 else { throw problem("create a socket for", path) }
        do {
            try bind(descriptor, to: path, group: groupNumber)
        } catch {
            close(descriptor)
            throw error
        }
        return FileDescriptor(descriptor)
    }

    private static func bind(_ descriptor: Int32, to path: String, group: gid_t?) throws(Problem) {
        // The file gets the mode of the socket's descriptor, so that it is never accessible to others. The umask, which is shared by all
        // threads, is not changed.
        _ = fchmod(descriptor, 0o600)
        guard with(path: path, { Glibc.bind(descriptor, $0, $1) }) == 0 else { throw problem("bind the socket", path) }
        do throws(Problem) {
            guard chmod(path, 0o600) == 0 else { throw problem("change the mode of", path) }
            if let group {
                guard chown(path, uid_t.max, group) == 0 else { throw problem("change the group of", path) }
                guard chmod(path, 0o660) == 0 else { throw problem("change the mode of", path) }
            }
            guard Glibc.listen(descriptor, 1024) == 0 else { throw problem("listen on", path) }
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Connects to the socket at a path, in non-blocking mode.
    ///
    /// - Throws: ``SystemCallError/Code/wouldBlock`` while the program that listens there does not accept more connections.
    public static func connect(to path: String) throws(SystemCallError) -> FileDescriptor {
        guard path.utf8.count <= limit else { throw SystemCallError(.fileNameTooLong) }
        let descriptor = socket(AF_UNIX, SocketType.stream | SocketType.nonBlocking | SocketType.closeOnExec, 0)
        guard descriptor >= 0 else { throw SystemCallError.last }
        guard with(path: path, { Glibc.connect(descriptor, $0, $1) }) == 0 else {
            let error = SystemCallError.last
            close(descriptor)
            throw error
        }
        return FileDescriptor(descriptor)
    }

    /// Whether a process listens at the path of a socket.
    ///
    /// - Throws: It cannot be connected to for another reason than that nobody listens.
    public static func isListening(at path: String) throws(SystemCallError) -> Bool {
        do {
            try connect(to: path).close()
            return true
        } catch {
            switch error.code {
            case .wouldBlock: return true
            case .connectionRefused, .noSuchFileOrDirectory: return false
            default: throw error
            }
        }
    }

    private static func number(ofGroup name: String) throws(Problem) -> gid_t {
        if let number = gid_t(name) { return number }
        guard let entry = getgrnam(name) else { throw Problem("unknown group \"\(name)\"; list the groups: getent group") }
        return entry.pointee.gr_gid
    }

    private static func problem(_ action: String, _ path: String) -> Problem {
        Problem("cannot \(action) \(path): \(SystemCallError.last)")
    }
}

/// The process at the other end of a Unix socket, as the kernel reports it (`struct ucred`, which the headers declare for GNU sources only).
public struct PeerCredentials: Sendable {
    /// The option of the socket that has this value (`SO_PEERCRED`).
    package static let option = SO_PEERCRED

    /// The number of the process.
    public private(set) var process: Int32 = 0
    /// The number of the user.
    public private(set) var user: UInt32 = 0
    private var group: gid_t = 0

    /// What the kernel reports about the other end of a socket; nil: nothing.
    public static func of(_ socket: FileDescriptor) -> PeerCredentials? {
        var credentials = PeerCredentials()
        var size = socklen_t(MemoryLayout<PeerCredentials>.size)
        return getsockopt(socket.number, SOL_SOCKET, option, &credentials, &size) == 0 ? credentials : nil
    }
}
