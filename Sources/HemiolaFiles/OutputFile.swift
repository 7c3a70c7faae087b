internal import Glibc
internal import HemiolaSystem

/// Where a file is while it is written.
enum OutputMode: Sendable, Hashable {
    /// Beside the path, as `.NAME.XXXXXX.partial`. When it is complete it is renamed to the path and replaces an old file.
    case replace
    /// Beside the path. When it is complete it is renamed to the path. Opening fails if a file with data is at the path.
    case create
    /// At the path from the start. Every write is kept. Opening fails if a file with data is at the path.
    case live
    /// At the path, appended to the existing file or a new one. Every write is kept.
    case append

    /// Whether every write is kept, also when the run fails.
    var keepsEverything: Bool { self == .live || self == .append }
}

/// Where a file goes when it is finished. It only concerns files that are not at their path yet.
public enum OutputEnding: Sendable, Hashable {
    /// The file is renamed to its path and replaces an old file there.
    case replace
    /// The file is renamed to its path unless a file with data is there; then it is removed.
    case create
    /// The file is removed.
    case discard
}

/// An open output: standard output, a device, a pipe, or a file in one of the modes.
///
/// A compressed output is one zstd frame from the first byte to `finish`.
///
/// In the modes that keep every write (`live`, `append`), a file ends with a whole line, or compressed with a whole zstd block, even
/// after a failed write, and a thread calls `fdatasync` once a second.
final class OutputFile {
    private enum Ending {
        /// A descriptor that the process was given: it stays open.
        case leave
        case close
        /// The file did not exist before: it is removed if it is empty.
        case closeNew(String)
        /// The partial file gets its path.
        case move(PartialFile)
    }

    private let descriptor: Int32
    private let name: String
    private let mode: OutputMode
    private let ending: Ending
    /// Whether `finish` calls `fsync` for the file and its folder.
    private let syncsAtEnd: Bool
    private let offersAppend: Bool
    /// Whether line breaks between double quotes are part of a line, as in CSV.
    private let quotesLines: Bool
    private let sync: PeriodicSync?
    /// Whether the file existed and its last line has no line break.
    private(set) var startsInsideLine = false
    /// The size of the file when it was opened.
    private var startSize: Int64 = 0
    private let compressor: ZstdStream?
    private var isFinished = false

    /// Bytes written by this run, after compression.
    private(set) var size: Int64 = 0
    /// The size after the last whole line, or compressed after the last flush.
    private var keptSize: Int64 = 0
    /// Lines up to `keptSize`, and lines in the compressor.
    private var keptLines = 0
    private var pendingLines = 0
    /// Compressed bytes after `keptSize`, in modes that keep every write. The first `size - keptSize` of them are in the file.
    private var unflushed: [UInt8] = []
    /// Bytes of the failed write that are in the file or the compressor. A repeated call must not pass them again.
    private(set) var acceptedBytes = 0

    /// Opens an output. Missing folders are created.
    ///
    /// - Parameters:
    ///   - compression: nil: none. Must be nil in the mode `append`.
    ///   - syncsAtEnd: Whether `finish` calls `fsync` for the file and its folder.
    ///   - offersAppend: Whether the message about an existing file suggests `append=true`.
    ///   - quotesLines: Whether line breaks between double quotes are part of a line, as in CSV. Every write then begins outside quotes.
    ///   - isSeekable: Whether bytes are written at offsets (`write(_:at:)`): only to a regular file, which is not appended to.
    init(
        _ target: OutputTarget, mode: OutputMode, compression: Compression? = nil, syncsAtEnd: Bool = false, offersAppend: Bool = false,
        quotesLines: Bool = false, isSeekable: Bool = false
    ) throws(Problem) {
        precondition(mode != .append || compression == nil, "a zstd frame cannot be appended to a file safely")
        precondition(mode != .append || !isSeekable, "writes to a file that is appended to have no offset")
        if isSeekable, target.isSpecial {
            throw Problem("cannot write \(target.name): it is not a regular file; name a file")
        }
        // With O_APPEND, Linux ignores the offset of a write.
        let append = isSeekable ? 0 : O_APPEND
        name = target.name
        self.mode = mode
        self.syncsAtEnd = syncsAtEnd
        self.offersAppend = offersAppend
        self.quotesLines = quotesLines
        compressor = if let compression { try ZstdStream(level: compression.level) } else { nil }
        if let descriptor = target.descriptor {
            let flags = fcntl(descriptor, F_GETFL)
            guard flags != -1, flags & O_ACCMODE != O_RDONLY else {
                throw Problem("cannot write \(name): it is not open for writing; give a path instead")
            }
            (self.descriptor, ending, sync) = (descriptor, .leave, nil)
            return
        }
        let path = Self.followingDanglingLinks(target.path)
        var info = stat()
        var isRegular = true
        if stat(PathText.systemPath(path), &info) == 0 {
            switch info.st_mode & S_IFMT {
            case S_IFDIR:
                throw Problem.isFolder(name)
            case S_IFREG:
                if mode == .live || mode == .create, info.st_size > 0 { throw Problem.exists(name, offersAppend: offersAppend) }
                if mode.keepsEverything {
                    descriptor = try Self.open(path, O_RDWR | append, orElse: O_WRONLY | append, name)
                    ending = .close
                    startsInsideLine = Self.endsInsideLine(descriptor, length: info.st_size)
                    startSize = Int64(info.st_size)
                } else {
                    let new = try Self.openPartial(for: try Self.resolved(path, name), name)
                    (descriptor, ending) = (new.descriptor, .move(new))
                }
            default:
                descriptor = try Self.open(path, O_WRONLY | append, name)
                ending = .close
                isRegular = false
            }
        } else if errno == ENOENT {
            try Self.createFolder(of: path, name)
            if mode.keepsEverything {
                descriptor = try Self.open(path, O_WRONLY | append | O_CREAT | (mode == .live ? O_EXCL : 0), name)
                ending = .closeNew(path)
                FileSystem.synchronizeFolder(of: path)
            } else {
                let new = try Self.openPartial(for: path, name)
                (descriptor, ending) = (new.descriptor, .move(new))
            }
        } else {
            throw Problem.cannotOpen(name, errno)
        }
        do throws(Problem) {
            if mode == .live, isRegular { try Self.lock(descriptor, name, offersAppend: offersAppend) }
            sync = mode.keepsEverything && isRegular ? try PeriodicSync(descriptor) : nil
        } catch {
            _ = Glibc.close(descriptor)
            throw error
        }
    }

    deinit {
        guard !isFinished else { return }
        discard()
    }

    /// Closes the file. Removes it if it is not at its path yet, or is new and empty.
    private func discard() {
        isFinished = true
        switch ending {
        case .leave: break
        case .close: _ = Glibc.close(descriptor)
        case .closeNew(let path):
            var info = stat()
            if fstat(descriptor, &info) == 0, info.st_size == 0 { FileSystem.remove(path) }
            _ = Glibc.close(descriptor)
        case .move(let file): file.discard()
        }
    }
}

// MARK: - Writing

extension OutputFile {
    /// Writes all bytes. Blocks until the system has accepted them.
    ///
    /// After a temporary error the file ends with a whole line or a whole zstd block, and the call can be repeated without the accepted
    /// bytes.
    ///
    /// - Parameter flushes: Whether a compressor writes all it has, so that a reader can decompress it at once. Must be true in modes that
    ///   keep every write.
    func write(_ bytes: UnsafeRawBufferPointer, flushes: Bool = true) throws(Problem) {
        if let code = sync?.errorNumber, code != 0 { throw Problem.cannotWrite(name, code) }
        if compressor != nil {
            pendingLines += lines(in: bytes).count
            try compress(bytes, flushes ? .flush : .more)
        } else {
            try writeUncompressed(bytes)
            let lines = self.lines(in: bytes)
            (keptSize, keptLines) = (size - Int64(bytes.count - lines.end), keptLines + lines.count)
        }
        sync?.noteWrite()
    }

    /// Writes all bytes at an offset of a seekable file.
    ///
    /// After an error the file has none of the bytes that lie beyond its old end.
    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Problem) {
        if let code = sync?.errorNumber, code != 0 { throw Problem.cannotWrite(name, code) }
        var rest = bytes
        while !rest.isEmpty {
            let written = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(bytes.count - rest.count))
            if written >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
            } else if errno != EINTR {
                let code = errno
                truncate(to: size)
                throw Problem.cannotWrite(name, code)
            }
        }
        size = max(size, offset + Int64(bytes.count))
        sync?.noteWrite()
    }

    /// Shortens a seekable file. Errors are ignored: the file keeps its length then.
    func truncate(to length: Int64) {
        var info = stat()
        guard fstat(descriptor, &info) == 0, info.st_size > length, ftruncate(descriptor, off_t(length)) == 0 else { return }
        size = length
    }

    private func compress(_ bytes: UnsafeRawBufferPointer, _ step: ZstdStream.Step) throws(Problem) {
        guard let compressor else { return }
        guard mode.keepsEverything else {
            return try compressor.compress(bytes, step) { piece throws(Problem) in try writeUncompressed(piece) }
        }
        try compressor.compress(bytes, step) { piece throws(Problem) in unflushed.append(contentsOf: piece) }
        do throws(Problem) {
            try unflushed.withUnsafeBufferPointer { unflushed throws(Problem) in
                try writeUncompressed(UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: unflushed.dropFirst(Int(size - keptSize)))))
            }
        } catch {
            acceptedBytes = bytes.count
            throw error
        }
        unflushed.removeAll(keepingCapacity: true)
        (keptSize, keptLines, pendingLines) = (size, keptLines + pendingLines, 0)
    }

    private func writeUncompressed(_ bytes: UnsafeRawBufferPointer) throws(Problem) {
        var rest = bytes
        while !rest.isEmpty {
            let written = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if written >= 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(written))
                size += Int64(written)
            } else if errno == EAGAIN {
                waitUntilWritable()
            } else if errno != EINTR {
                let code = errno
                throw truncateToWholeLines(after: UnsafeRawBufferPointer(rebasing: bytes.dropLast(rest.count)), code)
            }
        }
    }

    /// Removes the incomplete line or zstd block that a failed write left at the end of the file.
    ///
    /// - Parameters:
    ///   - written: The bytes of the failed call that were written.
    ///   - code: The error number of the write.
    /// - Returns: The error to throw.
    private func truncateToWholeLines(after written: UnsafeRawBufferPointer, _ code: Int32) -> Problem {
        guard mode.keepsEverything, sync != nil else { return .cannotWrite(name, code) }
        if compressor == nil {
            let lines = self.lines(in: written)
            (keptSize, keptLines) = (size - Int64(written.count - lines.end), keptLines + lines.count)
        }
        // With O_APPEND the offset is the end of this process's last write: the file is truncated only if nothing follows.
        let end = lseek(descriptor, 0, SEEK_CUR)
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { return .cannotWrite(name, code) }
        let isLastWriter = size == 0 ? Int64(info.st_size) == startSize : end == info.st_size
        var removed = 0
        if isLastWriter, size > keptSize, ftruncate(descriptor, info.st_size - off_t(size - keptSize)) == 0 {
            removed = Int(size - keptSize)
            size = keptSize
            _ = lseek(descriptor, 0, SEEK_END)
            _ = fstat(descriptor, &info)
        }
        var problem = Problem.cannotWrite(name, code, kept: KeptOutput(lines: keptLines, bytes: Int64(info.st_size)))
        acceptedBytes = written.count - removed
        if isLastWriter, acceptedBytes >= 0, Problem.isDiskFull(code) { problem.remedy = .retry }
        return problem
    }

    /// The number of whole lines in bytes, and the offset after the last one. In modes that keep nothing (0, all bytes), at no cost.
    private func lines(in bytes: UnsafeRawBufferPointer) -> (count: Int, end: Int) {
        var (count, end) = (0, 0)
        guard mode.keepsEverything else { return (0, bytes.count) }
        if quotesLines {
            var isQuoted = false
            for index in 0..<bytes.count {
                if bytes[index] == UInt8(ascii: "\"") { isQuoted.toggle() }
                if bytes[index] == UInt8(ascii: "\n"), !isQuoted { (count, end) = (count + 1, index + 1) }
            }
            return (count, end)
        }
        while end < bytes.count, let found = memchr(bytes.baseAddress! + end, 0x0A, bytes.count - end) {
            count += 1
            end = UnsafeRawPointer(found) - bytes.baseAddress! + 1
        }
        return (count, end)
    }

    /// Waits for a terminal or pipe that another process has set to non-blocking.
    private func waitUntilWritable() {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&request, 1, -1)
    }

    /// Writes what the compressor holds, closes the file and renames it if it is not at its path yet. Reports errors that the system
    /// reports only now.
    ///
    /// - Parameter how: Where a file goes that is not at its path yet.
    /// - Returns: Whether the file is at its path.
    @discardableResult
    func finish(_ how: OutputEnding = .replace) throws(Problem) -> Bool {
        if case .move = ending, how == .discard {
            discard()
            return false
        }
        try compress(UnsafeRawBufferPointer(start: nil, count: 0), .end)
        switch ending {
        case .leave: return true
        case .close, .closeNew:
            try closeKept()
            return true
        case .move(let file):
            isFinished = true
            do throws(SystemCallError) { try file.close(syncs: syncsAtEnd) } catch { throw Problem.cannotWrite(name, error.number) }
            let isThere: Bool
            do throws(SystemCallError) {
                isThere = try file.moveToPath(replaces: how == .replace && mode == .replace, syncs: syncsAtEnd)
            } catch {
                throw Problem.cannotOpen(name, error.number).withoutRetry
            }
            if !isThere, how == .replace { throw Problem.exists(name, offersAppend: offersAppend) }
            return isThere
        }
    }

    /// Closes a file that is at its path.
    private func closeKept() throws(Problem) {
        let failed = sync?.errorNumber ?? 0
        let synced = failed != 0 || sync == nil || fdatasync(descriptor) == 0 ? failed : errno
        isFinished = true
        // After EINTR, Linux has closed the descriptor all the same.
        let closed = Glibc.close(descriptor) == -1 && errno != EINTR ? errno : 0
        guard synced == 0, closed == 0 else { throw Problem.cannotWrite(name, synced != 0 ? synced : closed) }
    }

    /// The first line of a file that existed, without its line break; else empty.
    ///
    /// - Parameter limit: Bytes read at most.
    func firstLine(limit: Int = 1 << 20) -> String {
        guard case .close = ending else { return "" }
        var line: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while line.count < limit {
            let count = pread(descriptor, &chunk, chunk.count, off_t(line.count))
            guard count > 0 else { break }
            if let end = chunk.prefix(count).firstIndex(of: UInt8(ascii: "\n")) {
                line += chunk[..<end]
                break
            }
            line += chunk.prefix(count)
        }
        return String(decoding: line, as: UTF8.self)
    }
}
