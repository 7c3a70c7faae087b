internal import Hemiola
internal import HemiolaPCM

/// A regular file that is open for reading. All file access of this plugin that is not ffmpeg's goes through this type.
final class InputFile: ChunkSource, Sendable {
    /// The file. Read at offsets only: several decoders share it.
    let descriptor: FileDescriptor
    /// Size in bytes when the file was opened.
    let size: Int64
    /// The state of the file when it was opened; nil for a file without a path.
    let stamp: FileStamp?

    /// Opens a regular file; anything else is an error. Does not block on a pipe without a writer.
    init(_ path: String) throws(Problem) {
        // The system would ignore a zero byte and all that follows it.
        guard !path.utf8.contains(0) else { throw FileError.missing(path) }
        // Checks the type before opening: to open a device may have side effects.
        _ = try Self.status(path) { () throws(SystemCallError) in try FileSystem.status(of: path) }
        // The path may have been replaced since: a pipe must not block.
        let descriptor: FileDescriptor
        do { descriptor = try FileDescriptor.open(path, [.nonBlocking]) } catch {
            throw FileError.cannotOpen(path, error)
        }
        let status: FileStatus
        do {
            status = try Self.status(path) { () throws(SystemCallError) in try descriptor.status() }
        } catch {
            descriptor.close()
            throw error
        }
        self.descriptor = descriptor
        size = Int64(status.size)
        stamp = FileStamp(status)
    }

    /// The status of a regular file; anything else is an error.
    private static func status(
        _ path: String, _ status: () throws(SystemCallError) -> FileStatus
    ) throws(Problem) -> FileStatus {
        let found: FileStatus
        do { found = try status() } catch { throw FileError.cannotOpen(path, error) }
        if let problem = FileError.notRegular(path, found.kind) { throw problem }
        return found
    }

    /// Takes ownership of a regular file.
    init(_ descriptor: FileDescriptor, size: Int64) {
        self.descriptor = descriptor
        self.size = size
        stamp = nil
    }

    deinit {
        descriptor.close()
    }

    /// Reads bytes at an offset; fewer than `count` where the file ends or cannot be read.
    func bytes(at offset: Int64, count: Int) -> [UInt8] {
        guard offset >= 0, offset < size else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            // Safe: at most `count` bytes are read, the capacity of the buffer.
            let room = UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count)
            while filled < count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: room[filled...])
                guard let step = try? descriptor.read(into: rest, at: offset + Int64(filled)), step > 0 else { break }
                filled += step
            }
        }
    }
}

extension InputFile {
    /// Opens a file on a thread of its own: open(2) blocks on a network file whose server is gone, and only the end of the process ends
    /// that. When the run is cancelled, the thread is left behind.
    ///
    /// - Parameters:
    ///   - isCancelled: Polled every 50 ms.
    ///   - openFile: `InputFile.init`; tests replace it by a function that blocks.
    static func opened(
        _ path: String, isCancelled: () -> Bool, by openFile: @escaping @Sendable (String) throws(Problem) -> InputFile
    ) throws(Problem) -> InputFile {
        let opening = Future<Result<InputFile, Problem>>()
        // Without a thread, for which the system has no room, the caller opens the file itself.
        let thread: WorkerThread<Void>
        do {
            thread = try WorkerThread<Void>(for: "a file") {
                opening.complete(Result { () throws(Problem) in try openFile(path) })
            }
        } catch {
            return try openFile(path)
        }
        while true {
            if let result = opening.value(within: 0.05) {
                thread.join()
                return try result.get()
            }
            if isCancelled() {
                thread.detach()
                throw FileError.interrupted(path)
            }
        }
    }
}

/// The identity, size and modification time of a file. Two of one path differ if the file was replaced or written in between.
struct FileStamp: Hashable, Sendable {
    private let identity: FileStatus.Identity
    private let size: Int
    private let modificationTime: Int64

    /// nil when there is no file at the path, or it cannot be examined.
    init?(_ path: String) {
        guard let status = try? FileSystem.status(of: path) else { return nil }
        self.init(status)
    }

    fileprivate init(_ status: FileStatus) {
        (identity, size, modificationTime) = (status.identity, status.size, status.modificationTime)
    }
}
