internal import Glibc
internal import Hemiola
internal import HemiolaPCM

/// A regular file that is open for reading. All file access of this plugin that is not ffmpeg's goes through this type.
final class InputFile: ChunkSource, Sendable {
    /// The file descriptor. Read by pread(2) only: several decoders share it.
    let descriptor: Int32
    /// Size in bytes when the file was opened.
    let size: Int64
    /// The state of the file when it was opened; nil for a file without a path.
    let stamp: FileStamp?

    /// Opens a regular file; anything else is an error. Does not block on a pipe without a writer.
    init(_ path: String) throws(Problem) {
        // The system would ignore a zero byte and all that follows it.
        guard !path.utf8.contains(0) else { throw FileError.missing(path) }
        // Checks the type before opening: to open a device may have side effects.
        var status = stat()
        let systemPath = PathText.systemPath(path)
        guard stat(systemPath, &status) == 0 else { throw FileError.cannotOpen(path, errno) }
        if let error = FileError.notRegular(path, status.st_mode) { throw error }
        // The path may have been replaced since: O_NONBLOCK keeps open(2) from blocking on a pipe.
        let descriptor = open(systemPath, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw FileError.cannotOpen(path, errno) }
        guard fstat(descriptor, &status) == 0 else {
            let error = FileError.cannotOpen(path, errno)
            Glibc.close(descriptor)
            throw error
        }
        if let error = FileError.notRegular(path, status.st_mode) {
            Glibc.close(descriptor)
            throw error
        }
        self.descriptor = descriptor
        size = Int64(status.st_size)
        stamp = FileStamp(status)
    }

    /// Takes ownership of a descriptor of a regular file.
    init(descriptor: Int32, size: Int64) {
        self.descriptor = descriptor
        self.size = size
        stamp = nil
    }

    deinit {
        Glibc.close(descriptor)
    }

    /// Reads bytes at an offset; fewer than `count` where the file ends or cannot be read.
    func bytes(at offset: Int64, count: Int) -> [UInt8] {
        guard offset >= 0, offset < size else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            // Safe: pread writes at most `count` bytes, the capacity of the buffer.
            while filled < count {
                let read = pread(descriptor, buffer.baseAddress! + filled, count - filled, off_t(offset) + filled)
                if read < 0, errno == EINTR { continue }
                guard read > 0 else { break }
                filled += read
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
        do throws(Problem) {
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
    private let device: UInt64
    private let number: UInt64
    private let size: Int64
    private let seconds: Int64
    private let nanoseconds: Int64

    /// nil when there is no file at the path, or it cannot be examined.
    init?(_ path: String) {
        var status = stat()
        guard stat(PathText.systemPath(path), &status) == 0 else { return nil }
        self.init(status)
    }

    fileprivate init(_ status: stat) {
        (device, number, size) = (UInt64(status.st_dev), UInt64(status.st_ino), Int64(status.st_size))
        (seconds, nanoseconds) = (Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec))
    }
}
