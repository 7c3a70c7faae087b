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

    /// The status of a file; links are followed.
    package static func status(of path: String) throws(SystemCallError) -> FileStatus {
        var status = stat()
        guard stat(PathText.systemPath(path), &status) == 0 else { throw SystemCallError.last }
        return FileStatus(status)
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
    package static func linkTarget(of path: String) -> String? {
        let target = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            buffer.withMemoryRebound(to: CChar.self) { text in
                count = max(0, readlink(PathText.systemPath(path), text.baseAddress!, text.count))
            }
        }
        return target.isEmpty ? nil : PathText.text(of: target)
    }

    /// The absolute path of the working directory.
    public static var workingFolder: String { realPath(".") ?? "/" }

    /// Creates a folder and the missing folders above it, with the permissions that the umask leaves. Does nothing if it exists.
    ///
    /// - Throws: A folder cannot be created: `ENOTDIR` where a file is in the way.
    public static func createFolder(_ path: String) throws(SystemCallError) {
        if mkdir(PathText.systemPath(path), 0o777) == 0 { return }
        let number = errno
        if number == EEXIST, isFolder(path) { return }
        guard number == ENOENT, let slash = path.dropLast().lastIndex(of: "/"), slash != path.startIndex else {
            throw SystemCallError(number: number == EEXIST ? ENOTDIR : number)
        }
        try createFolder(String(path[..<slash]))
        guard mkdir(PathText.systemPath(path), 0o777) == 0 || errno == EEXIST && isFolder(path) else { throw SystemCallError.last }
    }

    /// Whether an empty regular file is at a path; links are followed.
    static func isEmptyFile(_ path: String) -> Bool {
        (try? status(of: path)).map { $0.kind == .file && $0.size == 0 } ?? false
    }

    /// Calls `fsync` for the folder of a path. Errors are ignored: not every file system supports it, and the data does not depend on it.
    package static func synchronizeFolder(of path: String) {
        let descriptor = open(PathText.systemPath(folder(of: path)), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor != -1 else { return }
        _ = fsync(descriptor)
        close(descriptor)
    }

    /// Removes a file, if it exists.
    package static func remove(_ path: String) {
        unlink(PathText.systemPath(path))
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
        let descriptor = open(PathText.systemPath(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw SystemCallError.last }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemCallError.last }
        let start = offset < 0 ? max(0, Int(status.st_size) + offset) : offset
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            // Safe: at most the rest of the array is filled.
            let result = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress! + filled, count - filled, off_t(start + filled)) }
            if result < 0, errno == EINTR { continue }
            guard result >= 0 else { throw SystemCallError.last }
            if result == 0 { break }
            filled += result
        }
        bytes.removeSubrange(filled...)
        return bytes
    }
}
