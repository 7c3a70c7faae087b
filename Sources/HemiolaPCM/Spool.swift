internal import Glibc
internal import Hemiola

/// Temporary files without a name: the kernel deletes them when the process ends, however it ends.
package enum TemporaryFile {
    /// Where they are: `$TMPDIR`, or `/tmp`.
    package static var folder: String {
        let given = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        return given.isEmpty ? "/tmp" : given
    }

    /// Creates a file.
    ///
    /// - Returns: Its descriptor, which the caller must close; negative on an error, whose number is in `errno`.
    package static func create() -> Int32 {
        var template = Array("\(folder)/hemiola-XXXXXX".utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { return descriptor }
        unlink(template)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }
}

/// A temporary file that stores the bytes of a pipe.
final class Spool {
    /// Number of stored bytes.
    private(set) var count: Int64 = 0

    private let descriptor: Int32
    private let directory: String
    private let streamName: String

    /// - Parameter streamName: Name of the stream, for messages.
    init(for streamName: String) throws(CaptureError) {
        self.streamName = streamName
        directory = TemporaryFile.folder
        descriptor = TemporaryFile.create()
        guard descriptor >= 0 else {
            throw CaptureError("cannot store \(streamName) in \(directory): \(String.lastError); set TMPDIR to a directory with more space")
        }
    }

    deinit { close(descriptor) }

    /// Appends bytes.
    func append(_ bytes: UnsafeMutableRawPointer, _ byteCount: Int) throws(CaptureError) {
        var done = 0
        while done < byteCount {
            let written = pwrite(descriptor, bytes + done, byteCount - done, off_t(count))
            if written < 0 {
                if errno == EINTR { continue }
                throw CaptureError(
                    "cannot store \(streamName) in \(directory): \(String.lastError); set TMPDIR to a directory with more space")
            }
            done += written
            count += Int64(written)
        }
    }

    /// Reads stored bytes.
    ///
    /// - Returns: The number of bytes, 1….
    func read(into bytes: UnsafeMutableRawPointer, from offset: Int64, atMost limit: Int) throws(CaptureError) -> Int {
        while true {
            let got = pread(descriptor, bytes, min(limit, Int(count - offset)), off_t(offset))
            if got > 0 { return got }
            if got < 0 && errno == EINTR { continue }
            throw CaptureError("cannot reread \(streamName): \(got == 0 ? "its copy is truncated" : String.lastError)")
        }
    }
}
