internal import Glibc

/// The type of a file.
public enum FileKind: Sendable {
    /// A regular file.
    case file
    /// A folder.
    case folder
    /// A symbolic link.
    case link
    /// A pipe, with or without a name.
    case pipe
    /// A Unix socket.
    case socket
    /// A character device, such as a terminal.
    case device
    /// Something else, such as a disk.
    case other
    /// The file system does not report it with the name.
    case unknown

    init(mode: mode_t) {
        switch mode & S_IFMT {
        case S_IFREG: self = .file
        case S_IFDIR: self = .folder
        case S_IFLNK: self = .link
        case S_IFIFO: self = .pipe
        case S_IFSOCK: self = .socket
        case S_IFCHR: self = .device
        default: self = .other
        }
    }
}

/// What the system reports about a file.
public struct FileStatus: Sendable {
    /// Identifies a file or folder while it exists.
    public struct Identity: Hashable, Sendable {
        fileprivate var device: UInt64
        fileprivate var number: UInt64
    }

    /// The type.
    public var kind: FileKind
    /// Which file it is, whatever its path.
    public var identity: Identity
    /// In bytes.
    public var size: Int
    /// The permissions, with the bits for set user, set group and sticky.
    public var permissions: UInt32
    /// The number of the user to whom it belongs.
    public var owner: UInt32
    /// How many names it has; 0: it was removed, and is still open.
    package var linkCount: Int
    /// The time of the last modification, in seconds and nanoseconds.
    private var seconds: Int
    private var nanoseconds: Int
    /// The time of the last change of content, name or permissions, which no program can set.
    private var changeSeconds: Int
    private var changeNanoseconds: Int
    /// Size and times: they differ where the file was written or replaced, also by a program that keeps the time of the last modification.
    package var version: String { "\(size) \(seconds).\(nanoseconds) \(changeSeconds).\(changeNanoseconds)" }

    init(_ status: stat) {
        kind = FileKind(mode: status.st_mode)
        identity = Identity(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
        size = Int(status.st_size)
        permissions = status.st_mode & 0o7777
        owner = status.st_uid
        linkCount = Int(status.st_nlink)
        (seconds, nanoseconds) = (Int(status.st_mtim.tv_sec), Int(status.st_mtim.tv_nsec))
        (changeSeconds, changeNanoseconds) = (Int(status.st_ctim.tv_sec), Int(status.st_ctim.tv_nsec))
    }

    /// The time of the last modification, in nanoseconds since 1970.
    public var modificationTime: Int64 { Int64(seconds) * 1_000_000_000 + Int64(nanoseconds) }

    /// Whether it belongs to the user of this process, and no other user but root can read or change it.
    public var isPrivate: Bool { isOwn && permissions & 0o077 == 0 }

    /// Whether it belongs to the user of this process.
    public var isOwn: Bool { owner == CurrentProcess.user }

    /// Whether it was modified, or put in its place, after another file was modified, or may have been: the times of files advance by a few
    /// milliseconds at once.
    package func isNewer(than other: FileStatus) -> Bool {
        (seconds, nanoseconds) >= (other.seconds, other.nanoseconds)
            || (changeSeconds, changeNanoseconds) >= (other.seconds, other.nanoseconds)
    }
}
