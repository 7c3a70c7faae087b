internal import Glibc

/// The type of a file.
package enum FileKind: Sendable {
    case file, folder, link
    /// A pipe, socket or device.
    case other
    /// The file system does not report it with the name.
    case unknown

    init(mode: mode_t) {
        switch mode & S_IFMT {
        case S_IFREG: self = .file
        case S_IFDIR: self = .folder
        case S_IFLNK: self = .link
        default: self = .other
        }
    }
}

/// What the system reports about a file.
package struct FileStatus: Sendable {
    /// Identifies a file or folder while it exists.
    package struct Identity: Hashable, Sendable {
        fileprivate var device: UInt64
        fileprivate var number: UInt64
    }

    package var kind: FileKind
    package var identity: Identity
    package var size: Int
    /// The permissions, with the bits for set user, set group and sticky.
    var permissions: UInt32
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
        (seconds, nanoseconds) = (Int(status.st_mtim.tv_sec), Int(status.st_mtim.tv_nsec))
        (changeSeconds, changeNanoseconds) = (Int(status.st_ctim.tv_sec), Int(status.st_ctim.tv_nsec))
    }

    /// Whether it was modified, or put in its place, after another file was modified, or may have been: the times of files advance by a few
    /// milliseconds at once.
    package func isNewer(than other: FileStatus) -> Bool {
        (seconds, nanoseconds) >= (other.seconds, other.nanoseconds)
            || (changeSeconds, changeNanoseconds) >= (other.seconds, other.nanoseconds)
    }
}
