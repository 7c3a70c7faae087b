internal import Hemiola

/// A temporary file that stores the bytes of a pipe.
final class Spool {
    /// Number of stored bytes.
    private(set) var count: Int64 = 0

    private let file: FileDescriptor
    private let directory: String
    private let streamName: String

    /// - Parameter streamName: Name of the stream, for messages.
    init(for streamName: String) throws(Problem) {
        self.streamName = streamName
        directory = TemporaryFile.folder
        do { file = FileDescriptor(try TemporaryFile.create()) } catch {
            throw Problem("cannot store \(streamName) in \(directory): \(error); set TMPDIR to a directory with more space")
        }
    }

    deinit { file.close() }

    /// Appends bytes.
    func append(_ bytes: UnsafeRawBufferPointer) throws(Problem) {
        do { try file.writeAll(bytes, at: count) } catch {
            throw Problem("cannot store \(streamName) in \(directory): \(error); set TMPDIR to a directory with more space")
        }
        count += Int64(bytes.count)
    }

    /// Reads stored bytes.
    ///
    /// - Parameter bytes: Room for at least one.
    /// - Returns: The number of bytes, 1….
    func read(into bytes: UnsafeMutableRawBufferPointer, from offset: Int64) throws(Problem) -> Int {
        let room = UnsafeMutableRawBufferPointer(rebasing: bytes.prefix(Int(count - offset)))
        let got: Int
        do { got = try file.read(into: room, at: offset) } catch {
            throw Problem("cannot reread \(streamName): \(error)")
        }
        guard got > 0 else { throw Problem("cannot reread \(streamName): its copy is truncated") }
        return got
    }
}
