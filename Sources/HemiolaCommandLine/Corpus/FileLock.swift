internal import Glibc
internal import HemiolaSystem

/// An exclusive lock by a file, which ends with the process. The file contains the number of the process as long as the lock is
/// held, and also after the process was killed.
final class FileLock: Sendable {
    private let descriptor: Int32
    /// Whether the process that held the lock before did not release it: it was killed.
    let wasHeldByKilledProcess: Bool

    /// - Returns: nil if another process holds the lock.
    init?(_ path: String) throws(SystemCallError) {
        descriptor = open(PathText.systemPath(path), O_RDWR | O_CREAT | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw SystemCallError.last }
        while flock(descriptor, LOCK_EX | LOCK_NB) == -1 {
            if errno == EINTR { continue }
            // Not every file system supports locks.
            guard errno == EWOULDBLOCK else { break }
            close(descriptor)
            return nil
        }
        var status = stat()
        wasHeldByKilledProcess = fstat(descriptor, &status) == 0 && status.st_size > 0
        let text = Array("\(getpid())\n".utf8)
        _ = ftruncate(descriptor, 0)
        _ = pwrite(descriptor, text, text.count, 0)
    }

    /// Ends the lock.
    func release() {
        _ = ftruncate(descriptor, 0)
        close(descriptor)
    }

    /// The number of the process that holds a lock; nil when it is not known.
    static func holder(of path: String) -> Int? {
        guard let bytes = try? FileSystem.bytes(of: path, count: 20) else { return nil }
        return Int(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }
}
