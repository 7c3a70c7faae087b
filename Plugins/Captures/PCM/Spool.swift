internal import Hemiola

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// A file without a name that keeps the bytes of a pipe.
final class Spool {
    /// Bytes kept.
    private(set) var count: Int64 = 0

    private let descriptor: Int32
    private let directory: String
    private let streamName: String

    /// - Parameter streamName: Whose bytes they are, for messages.
    init(for streamName: String) throws(CaptureError) {
        self.streamName = streamName
        let given = getenv("TMPDIR").map { String(cString: $0) } ?? ""
        directory = given.isEmpty ? "/tmp" : given
        var template = Array("\(directory)/hemiola-XXXXXX".utf8CString)
        descriptor = template.withUnsafeMutableBufferPointer { mkstemp($0.baseAddress!) }
        guard descriptor >= 0 else {
            throw CaptureError("cannot keep \(streamName) in \(directory): \(String.lastError); set TMPDIR to a directory with room")
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        // Without a name it is gone with this process, however that ends.
        template.withUnsafeBufferPointer { _ = unlink($0.baseAddress!) }
    }

    deinit { close(descriptor) }

    /// Adds bytes at the end.
    func keep(_ bytes: UnsafeMutableRawPointer, _ byteCount: Int) throws(CaptureError) {
        var done = 0
        while done < byteCount {
            let written = pwrite(descriptor, bytes + done, byteCount - done, off_t(count))
            if written < 0 {
                if errno == EINTR { continue }
                throw CaptureError("cannot keep \(streamName) in \(directory): \(String.lastError); set TMPDIR to a directory with room")
            }
            done += written
            count += Int64(written)
        }
    }

    /// Reads bytes that were kept.
    ///
    /// - Returns: How many, 1….
    func recall(into bytes: UnsafeMutableRawPointer, from place: Int64, atMost limit: Int) throws(CaptureError) -> Int {
        while true {
            let got = pread(descriptor, bytes, min(limit, Int(count - place)), off_t(place))
            if got > 0 { return got }
            if got < 0 && errno == EINTR { continue }
            throw CaptureError("cannot hear \(streamName) again: \(got == 0 ? "its copy is shorter" : String.lastError)")
        }
    }
}
