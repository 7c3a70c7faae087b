internal import Glibc
internal import HemiolaSystem

/// A file that lines are appended to, each by one call of write(2). Used by one thread at a time.
final class LineFile: Sendable {
    private let descriptor: Int32

    /// Creates a file, or opens one.
    ///
    /// - Parameter empties: Whether the lines of an existing file are removed.
    init(creating path: String, empties: Bool = true) throws(SystemCallError) {
        descriptor = open(PathText.systemPath(path), O_WRONLY | O_CREAT | (empties ? O_TRUNC : 0) | O_APPEND | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw SystemCallError.last }
    }

    deinit {
        close(descriptor)
    }

    /// Appends a line. A line that is written in part, because the disk is full, is removed again.
    func append(_ line: [UInt8]) throws(SystemCallError) {
        while true {
            let count = write(descriptor, line, line.count)
            if count == line.count { return }
            if count < 0, errno == EINTR { continue }
            let number = count < 0 ? errno : ENOSPC
            var status = stat()
            if count > 0, fstat(descriptor, &status) == 0 { _ = ftruncate(descriptor, status.st_size - off_t(count)) }
            throw SystemCallError(number: number)
        }
    }
}
