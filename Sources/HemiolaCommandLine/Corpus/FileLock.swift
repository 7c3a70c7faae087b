internal import HemiolaSystem

/// An exclusive lock by a file, which ends with the process. The file contains the number of the process as long as the lock is
/// held, and also after the process was killed.
final class FileLock: Sendable {
    private let file: FileDescriptor
    /// Whether the process that held the lock before did not release it: it was killed.
    let wasHeldByKilledProcess: Bool

    /// - Returns: nil if another process holds the lock.
    init?(_ path: String) throws(SystemCallError) {
        file = try FileDescriptor.open(path, [.readWrite, .create])
        guard file.lock() else {
            file.close()
            return nil
        }
        wasHeldByKilledProcess = (try? file.status().size) ?? 0 > 0
        try? file.truncate(to: 0)
        try? file.writeAll(Array("\(CurrentProcess.identifier)\n".utf8))
    }

    /// Ends the lock.
    func release() {
        try? file.truncate(to: 0)
        file.close()
    }

    /// The number of the process that holds a lock; nil when it is not known.
    static func holder(of path: String) -> Int? {
        guard let bytes = try? FileSystem.bytes(of: path, count: 20) else { return nil }
        return Int(String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
    }
}
