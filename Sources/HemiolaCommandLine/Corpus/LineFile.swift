internal import HemiolaSystem

/// A file that lines are appended to, each by one call of write(2). Used by one thread at a time.
final class LineFile: Sendable {
    private let file: FileDescriptor

    /// Creates a file, or opens one.
    ///
    /// - Parameter empties: Whether the lines of an existing file are removed.
    init(creating path: String, empties: Bool = true) throws(SystemCallError) {
        file = try FileDescriptor.open(path, empties ? [.writeOnly, .create, .append, .truncate] : [.writeOnly, .create, .append])
    }

    deinit {
        file.close()
    }

    /// Appends a line. A line that is written in part, because the disk is full, is removed again.
    func append(_ line: [UInt8]) throws(SystemCallError) {
        let count = try line.span.bytes.withUnsafeBytes { bytes throws(SystemCallError) in try file.write(bytes) }
        if count == line.count { return }
        if count > 0, let size = try? file.status().size { try? file.truncate(to: Int64(size - count)) }
        throw SystemCallError(.noSpace)
    }
}
