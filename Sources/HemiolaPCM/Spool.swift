internal import Glibc
internal import Hemiola

/// A temporary file that stores the bytes of a pipe.
final class Spool {
    /// Number of stored bytes.
    private(set) var count: Int64 = 0

    private let descriptor: Int32
    private let directory: String
    private let streamName: String

    /// - Parameter streamName: Name of the stream, for messages.
    init(for streamName: String) throws(Problem) {
        self.streamName = streamName
        directory = TemporaryFile.folder
        do throws(SystemCallError) { descriptor = try TemporaryFile.create() } catch {
            throw Problem("cannot store \(streamName) in \(directory): \(error); set TMPDIR to a directory with more space")
        }
    }

    deinit { close(descriptor) }

    /// Appends bytes.
    func append(_ bytes: UnsafeMutableRawPointer, _ byteCount: Int) throws(Problem) {
        var done = 0
        while done < byteCount {
            let written = pwrite(descriptor, bytes + done, byteCount - done, off_t(count))
            if written < 0 {
                if errno == EINTR { continue }
                throw Problem(
                    "cannot store \(streamName) in \(directory): \(SystemCallError.last); set TMPDIR to a directory with more space")
            }
            done += written
            count += Int64(written)
        }
    }

    /// Reads stored bytes.
    ///
    /// - Returns: The number of bytes, 1….
    func read(into bytes: UnsafeMutableRawPointer, from offset: Int64, atMost limit: Int) throws(Problem) -> Int {
        while true {
            let got = pread(descriptor, bytes, min(limit, Int(count - offset)), off_t(offset))
            if got > 0 { return got }
            if got < 0 && errno == EINTR { continue }
            throw Problem("cannot reread \(streamName): \(got == 0 ? "its copy is truncated" : SystemCallError.last.description)")
        }
    }
}
