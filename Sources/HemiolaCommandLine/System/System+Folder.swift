internal import Glibc
internal import HemiolaSignal
internal import HemiolaSystem

extension System {
    /// The type of a file.
    enum FileKind: Sendable {
        case file, folder, link
        /// A pipe, socket or device.
        case other
        /// The file system does not report it with the name.
        case unknown

        fileprivate init(mode: mode_t) {
            switch mode & S_IFMT {
            case S_IFREG: self = .file
            case S_IFDIR: self = .folder
            case S_IFLNK: self = .link
            default: self = .other
            }
        }
    }

    /// What the system reports about a file.
    struct FileStatus: Sendable {
        /// Identifies a file or folder while it exists.
        struct Identity: Hashable, Sendable {
            fileprivate var device: UInt64
            fileprivate var number: UInt64
        }

        var kind: FileKind
        var identity: Identity
        var size: Int
        /// The time of the last modification, in seconds and nanoseconds.
        private var seconds: Int
        private var nanoseconds: Int

        fileprivate init(_ status: stat) {
            kind = FileKind(mode: status.st_mode)
            identity = Identity(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
            size = Int(status.st_size)
            (seconds, nanoseconds) = (Int(status.st_mtim.tv_sec), Int(status.st_mtim.tv_nsec))
        }

        /// Whether it was modified after another file.
        func isNewer(than other: FileStatus) -> Bool {
            (seconds, nanoseconds) > (other.seconds, other.nanoseconds)
        }
    }

    /// The status of a file; links are followed.
    static func status(of path: String) throws(CallError) -> FileStatus {
        var status = stat()
        guard stat(PathText.systemPath(path), &status) == 0 else { throw CallError(number: errno) }
        return FileStatus(status)
    }

    /// Whether a folder is at a path; links are followed.
    static func isFolder(_ path: String) -> Bool {
        (try? status(of: path).kind) == .folder
    }

    /// The names in a folder and their types, without `.` and `..`, in no order.
    static func entries(of folder: String) throws(CallError) -> [(name: String, kind: FileKind)] {
        guard let stream = opendir(PathText.systemPath(folder)) else { throw CallError(number: errno) }
        defer { closedir(stream) }
        var entries: [(name: String, kind: FileKind)] = []
        while true {
            errno = 0
            guard let entry = readdir(stream) else { break }
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
        guard errno == 0 else { throw CallError(number: errno) }
        return entries
    }

    /// The absolute path with all links resolved; nil when there is no such file.
    static func realPath(_ path: String) -> String? {
        guard let pointer = realpath(PathText.systemPath(path), nil) else { return nil }
        defer { free(pointer) }
        return PathText.text(of: UnsafeRawBufferPointer(start: pointer, count: strlen(pointer)))
    }

    /// The working directory.
    static var workingFolder: String { realPath(".") ?? "/" }

    /// Creates a folder and the missing folders above it.
    static func createFolder(_ path: String) throws(CallError) {
        if mkdir(PathText.systemPath(path), 0o777) == 0 { return }
        let number = errno
        if number == EEXIST, isFolder(path) { return }
        guard number == ENOENT, let slash = path.dropLast().lastIndex(of: "/"), slash != path.startIndex else {
            throw CallError(number: number == EEXIST ? ENOTDIR : number)
        }
        try createFolder(String(path[..<slash]))
        guard mkdir(PathText.systemPath(path), 0o777) == 0 || errno == EEXIST && isFolder(path) else { throw CallError(number: errno) }
    }

    /// Removes a file, if it exists.
    static func removeFile(_ path: String) {
        unlink(PathText.systemPath(path))
    }

    /// Bytes of a file: up to `count` from an offset, which is counted from the end if it is negative.
    static func bytes(of path: String, from offset: Int = 0, count: Int) throws(CallError) -> [UInt8] {
        // A pipe that replaced the file would block the call.
        let descriptor = open(PathText.systemPath(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw CallError(number: errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw CallError(number: errno) }
        let start = offset < 0 ? max(0, Int(status.st_size) + offset) : offset
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            // Safe: at most the rest of the array is filled.
            let result = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress! + filled, count - filled, off_t(start + filled)) }
            if result < 0, errno == EINTR { continue }
            guard result >= 0 else { throw CallError(number: errno) }
            if result == 0 { break }
            filled += result
        }
        bytes.removeSubrange(filled...)
        return bytes
    }
}
