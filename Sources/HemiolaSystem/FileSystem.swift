internal import Glibc

/// Files and folders by their paths, which are in the form of ``PathText``.
public enum FileSystem {
    // MARK: - Names

    /// The path up to the last slash: `/` for a file there, `.` for a path without a slash. Reads no file.
    public static func folder(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// The path after the last slash; empty for a path that ends with one. Reads no file.
    public static func lastName(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    // MARK: - Files

    /// The status of a file.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - followsLinks: Whether the target of a symbolic link is looked at, and not the link.
    /// - Throws: There is no such file, or the system does not let the user look.
    public static func status(of path: String, followsLinks: Bool = true) throws(SystemCallError) -> FileStatus {
        var status = stat()
        let systemPath = PathText.systemPath(path)
        guard (followsLinks ? stat(systemPath, &status) : lstat(systemPath, &status)) == 0 else { throw SystemCallError.last }
        return FileStatus(status)
    }

    /// What a process may do with a file, as access(2) has it.
    public enum Permission: Int32, Sendable {
        /// Read it.
        case read = 4
        /// Write it, or create files in it.
        case write = 2
        /// Execute it, or reach the files in it.
        case execute = 1
    }

    /// Checks whether this process may use a file in some ways; links are followed.
    ///
    /// - Throws: Why not, or there is no such file.
    public static func checkPermissions(_ permissions: Set<Permission>, of path: String) throws(SystemCallError) {
        let mode = permissions.reduce(0) { $0 | $1.rawValue }
        guard access(PathText.systemPath(path), mode) == 0 else { throw SystemCallError.last }
    }

    /// Whether a path is a regular file that this process may execute; links are followed.
    public static func isExecutable(_ path: String) -> Bool {
        (try? status(of: path).kind) == .file && (try? checkPermissions([.execute], of: path)) != nil
    }

    /// Whether a file, folder or anything else is at a path; links are followed. Also false where the system does not let the user look.
    public static func exists(_ path: String) -> Bool {
        (try? status(of: path)) != nil
    }

    /// Whether a folder is at a path; links are followed.
    package static func isFolder(_ path: String) -> Bool {
        (try? status(of: path).kind) == .folder
    }

    /// The names in a folder and their types, without `.` and `..`, in no order.
    ///
    /// - Parameter limit: How many are read at most.
    package static func entries(of folder: String, limit: Int = .max) throws(SystemCallError) -> [(name: String, kind: FileKind)] {
        guard let stream = opendir(PathText.systemPath(folder)) else { throw SystemCallError.last }
        defer { closedir(stream) }
        var entries: [(name: String, kind: FileKind)] = []
        while entries.count < limit {
            errno = 0
            guard let entry = readdir(stream) else {
                guard errno == 0 else { throw SystemCallError.last }
                break
            }
            // Safe: the system ends the name with a zero byte.
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in PathText.text(of: bytes.prefix { $0 != 0 }) }
            guard name != ".", name != ".." else { continue }
            let kind: FileKind =
                switch Int(entry.pointee.d_type) {
                case Int(DT_REG): .file
                case Int(DT_DIR): .folder
                case Int(DT_LNK): .link
                case Int(DT_FIFO): .pipe
                case Int(DT_SOCK): .socket
                case Int(DT_CHR): .device
                case Int(DT_UNKNOWN): .unknown
                default: .other
                }
            entries.append((name, kind))
        }
        return entries
    }

    /// The names in a folder, without `.` and `..`, in no order.
    ///
    /// - Parameters:
    ///   - folder: The path of the folder.
    ///   - limit: How many are read at most.
    /// - Throws: The folder does not exist or cannot be read.
    public static func names(in folder: String, limit: Int = .max) throws(SystemCallError) -> [String] {
        try entries(of: folder, limit: limit).map(\.name)
    }

    /// The absolute path with all links resolved; nil when there is no such file.
    public static func realPath(_ path: String) -> String? {
        guard let pointer = realpath(PathText.systemPath(path), nil) else { return nil }
        defer { free(pointer) }
        return PathText.text(of: UnsafeRawBufferPointer(start: pointer, count: strlen(pointer)))
    }

    /// The target of a symbolic link, as it is written there; nil for anything else.
    public static func linkTarget(of path: String) -> String? {
        let target = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            buffer.withMemoryRebound(to: CChar.self) { text in
                count = max(0, readlink(PathText.systemPath(path), text.baseAddress!, text.count))
            }
        }
        return target.isEmpty ? nil : PathText.text(of: target)
    }

    /// The absolute path of the working directory.
    public static var workingFolder: String { realPath(".") ?? "/" }

    /// Creates a folder and the missing folders above it. Does nothing if it exists.
    ///
    /// - Parameters:
    ///   - path: The path of the folder.
    ///   - permissions: Of each new folder, but for those that the umask takes away.
    /// - Throws: A folder cannot be created: `ENOTDIR` where a file is in the way.
    public static func createFolder(_ path: String, permissions: UInt32 = 0o777) throws(SystemCallError) {
        if mkdir(PathText.systemPath(path), permissions) == 0 { return }
        let number = errno
        if number == EEXIST, isFolder(path) { return }
        guard number == ENOENT, let slash = path.dropLast().lastIndex(of: "/"), slash != path.startIndex else {
            throw SystemCallError(number: number == EEXIST ? ENOTDIR : number)
        }
        try createFolder(String(path[..<slash]), permissions: permissions)
        guard mkdir(PathText.systemPath(path), permissions) == 0 || errno == EEXIST && isFolder(path) else { throw SystemCallError.last }
    }

    /// Whether an empty regular file is at a path; links are followed.
    static func isEmptyFile(_ path: String) -> Bool {
        (try? status(of: path)).map { $0.kind == .file && $0.size == 0 } ?? false
    }

    /// Calls `fsync` for the folder of a path. Errors are ignored: not every file system supports it, and the data does not depend on it.
    package static func synchronizeFolder(of path: String) {
        guard let file = try? FileDescriptor.open(folder(of: path)) else { return }
        _ = fsync(file.number)
        file.close()
    }

    /// Removes a file, if it exists.
    ///
    /// - Returns: Whether it existed and was removed.
    @discardableResult
    public static func remove(_ path: String) -> Bool {
        unlink(PathText.systemPath(path)) == 0
    }

    /// A part of a file. Never waits for a pipe.
    ///
    /// - Parameters:
    ///   - path: The path of the file; links are followed.
    ///   - offset: The first byte; a negative number is counted from the end.
    ///   - count: How many bytes are read at most. So much memory is taken.
    /// - Returns: Fewer bytes where the file ends.
    /// - Throws: The file does not exist or cannot be read: `ESPIPE` for a pipe, `EISDIR` for a folder.
    public static func bytes(of path: String, from offset: Int = 0, count: Int) throws(SystemCallError) -> [UInt8] {
        // A pipe that replaced the file would block the call.
        let file = try FileDescriptor.open(path, [.nonBlocking])
        defer { file.close() }
        let start = try offset < 0 ? max(0, file.status().size + offset) : offset
        return try file.bytes(at: Int64(start), count: count)
    }

    /// The bytes of a file that another program of this user has just written.
    ///
    /// - Parameters:
    ///   - path: The path of the file; a symbolic link is an error.
    ///   - limit: A larger file is an error.
    /// - Throws: `EPERM` for a file of another user, `EINVAL` for another kind of file, `EFBIG` for a file above the limit, else the error
    ///   of the system call.
    public static func ownBytes(of path: String, atMost limit: Int) throws(SystemCallError) -> [UInt8] {
        let file = try FileDescriptor.open(path, [.noFollow, .nonBlocking])
        defer { file.close() }
        let status = try file.status()
        guard status.kind == .file else { throw SystemCallError(.invalidArgument) }
        guard status.isOwn else { throw SystemCallError(.notPermitted) }
        let bytes = try file.readAll(atMost: limit + 1)
        guard bytes.count <= limit else { throw SystemCallError(.fileTooLarge) }
        return bytes
    }
}
