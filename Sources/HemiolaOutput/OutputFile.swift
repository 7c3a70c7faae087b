internal import Glibc

/// How a file comes to its path.
package enum OutputMode: Sendable, Hashable {
    /// A new file beside the path, which takes the path, and the place of an old file there, when it is complete.
    case replace
    /// A new file beside the path, which takes the path when it is complete. A path that has data is refused.
    case create
    /// A new file at the path from the start: what is written is there at once and stays. A path that has data is refused.
    case live
    /// The file at the path, or a new one: what is written is added and stays.
    case append

    /// Whether what is written stays, whatever happens to the run.
    var keepsEverything: Bool { self == .live || self == .append }
}

/// What becomes of a file when it is finished.
package enum OutputEnding: Sendable, Hashable {
    /// It takes its path, and the place of an old file there if the mode allows it.
    case replace
    /// It takes its path unless a file is there.
    case create
    /// It is removed.
    case discard
}

/// An open output: standard output, a device or pipe, or a file in one of the modes.
///
/// What is written may be compressed on its way: then it is one zstd frame from the first byte to `finish`.
///
/// Where everything is kept (`live`, `append`), a file ends in a whole line, or compressed in a whole zstd block, even after a write
/// that failed, and a thread calls `fdatasync` once a second.
package final class OutputFile {
    private enum Ending {
        /// It was open before and stays so.
        case leave
        case close
        /// The file did not exist before: it is removed when nothing is written.
        case closeNew(String)
        /// The partial file takes the final path.
        case rename(partial: String, final: String)
    }

    private let descriptor: Int32
    private let name: String
    private let mode: OutputMode
    private let ending: Ending
    /// Whether the file and its folder are synchronized with the disk when it is finished.
    private let syncsAtEnd: Bool
    private let offersAppend: Bool
    /// Whether line ends between quotes are part of a line, as in CSV.
    private let quotesLines: Bool
    private let sync: PeriodicSync?
    /// Whether a file that is added to ends in the middle of a line, which a line of ours shall not continue.
    package private(set) var startsInsideLine = false
    /// The most bytes that a pipe takes in one piece.
    package static let longestPiece = Int(PIPE_BUF)
    /// Whether it is a pipe, into which the bytes go as they are.
    package let isPipe: Bool
    private let compressor: ZstdStream?
    private var isFinished = false

    /// Bytes that were written, after compression.
    package private(set) var size: Int64 = 0
    /// The size after the last whole line, or compressed after the last flush.
    private var keptSize: Int64 = 0
    /// Lines up to there, and those that the compressor still holds.
    private var keptLines = 0
    private var pendingLines = 0

    /// Opens an output. Folders that are missing are created.
    ///
    /// - Parameters:
    ///   - compression: nil writes the bytes as they are. What is added to a file cannot be compressed.
    ///   - syncsAtEnd: Whether `finish` returns only when the file and its name are on the disk.
    ///   - offersAppend: Whether the user can add to a file that exists, for the message that says so.
    ///   - quotesLines: Whether line ends between quotes are part of a line, as in CSV. Every write then begins outside quotes.
    package init(
        _ target: OutputTarget, mode: OutputMode, compression: Compression? = nil, syncsAtEnd: Bool = false, offersAppend: Bool = false,
        quotesLines: Bool = false
    ) throws(OutputError) {
        precondition(mode != .append || compression == nil, "a frame cannot be added to a file safely")
        name = target.name
        self.mode = mode
        self.syncsAtEnd = syncsAtEnd
        self.offersAppend = offersAppend
        self.quotesLines = quotesLines
        compressor = compression.map { ZstdStream(level: $0.level) }
        if let descriptor = target.descriptor {
            let flags = fcntl(descriptor, F_GETFL)
            guard flags != -1, flags & O_ACCMODE != O_RDONLY else {
                throw OutputError("cannot write \(name): it is not open for writing; give a path instead")
            }
            (self.descriptor, ending, sync) = (descriptor, .leave, nil)
            isPipe = compressor == nil && Self.isPipe(descriptor)
            return
        }
        let path = Self.followingDanglingLinks(target.path)
        var info = stat()
        var isRegular = true
        if stat(path, &info) == 0 {
            switch info.st_mode & S_IFMT {
            case S_IFDIR:
                throw OutputError("cannot write \(name): it is a folder; name a file in it")
            case S_IFREG:
                if mode == .live || mode == .create, info.st_size > 0 { throw OutputError.exists(name, offersAppend: offersAppend) }
                if mode.keepsEverything {
                    descriptor = try Self.open(path, O_RDWR | O_APPEND, orElse: O_WRONLY | O_APPEND, name)
                    ending = .close
                    startsInsideLine = Self.endsInsideLine(descriptor, length: info.st_size)
                } else {
                    let final = try Self.resolved(path, name)
                    let new = try Self.openPartial(for: final, mode: info.st_mode & 0o7777, name)
                    (descriptor, ending) = (new.descriptor, .rename(partial: new.partial, final: final))
                }
            default:
                descriptor = try Self.open(path, O_WRONLY | O_APPEND, name)
                ending = .close
                isRegular = false
            }
        } else if errno == ENOENT {
            try Self.createFolder(of: path, name)
            if mode.keepsEverything {
                descriptor = try Self.open(path, O_WRONLY | O_APPEND | O_CREAT | (mode == .live ? O_EXCL : 0), name)
                ending = .closeNew(path)
                Self.synchronizeFolder(of: path)
            } else {
                let new = try Self.openPartial(for: path, mode: nil, name)
                (descriptor, ending) = (new.descriptor, .rename(partial: new.partial, final: path))
            }
        } else {
            throw OutputError.cannotOpen(name, errno)
        }
        do throws(OutputError) {
            if mode == .live, isRegular { try Self.lock(descriptor, name, offersAppend: offersAppend) }
            sync = mode.keepsEverything && isRegular ? try PeriodicSync(descriptor) : nil
        } catch {
            _ = Glibc.close(descriptor)
            throw error
        }
        isPipe = compressor == nil && Self.isPipe(descriptor)
    }

    private static func isPipe(_ descriptor: Int32) -> Bool {
        var info = stat()
        return fstat(descriptor, &info) == 0 && info.st_mode & S_IFMT == S_IFIFO
    }

    deinit {
        guard !isFinished else { return }
        discard()
    }

    /// Closes the file; one that is not at its path yet, or is new and empty, is removed.
    private func discard() {
        isFinished = true
        switch ending {
        case .leave: break
        case .close: _ = Glibc.close(descriptor)
        case .closeNew(let path):
            var info = stat()
            if fstat(descriptor, &info) == 0, info.st_size == 0 { unlink(path) }
            _ = Glibc.close(descriptor)
        case .rename(let partial, _):
            _ = Glibc.close(descriptor)
            unlink(partial)
        }
    }
}

// MARK: - Writing

extension OutputFile {
    /// Writes all of the bytes, however many calls and however much waiting it takes.
    ///
    /// - Parameter flushes: Whether a reader can have them at once. Compressed bytes else wait for more of their kind.
    package func write(_ bytes: UnsafeRawBufferPointer, flushes: Bool = true) throws(OutputError) {
        if let code = sync?.errorNumber, code != 0 { throw OutputError.cannotWrite(name, code) }
        if compressor != nil {
            pendingLines += lines(in: bytes).count
            try compress(bytes, flushes ? .flush : .more)
        } else {
            try send(bytes)
            let lines = self.lines(in: bytes)
            (keptSize, keptLines) = (size - Int64(bytes.count - lines.end), keptLines + lines.count)
        }
        sync?.noteWrite()
    }

    /// Writes all of the bytes if a pipe has room for them now, and else nothing.
    ///
    /// Any pipe that can be written to has room for as many as are never torn (POSIX: `PIPE_BUF`), if nobody else writes there at the
    /// same moment. Of other outputs nobody knows how long they take.
    ///
    /// - Returns: Whether they are written.
    package func writeAtOnce(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard isPipe, bytes.count <= Self.longestPiece else { return false }
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        guard poll(&request, 1, 0) == 1, request.revents == Int16(POLLOUT) else { return false }
        return Glibc.write(descriptor, bytes.baseAddress, bytes.count) == bytes.count
    }

    private func compress(_ bytes: UnsafeRawBufferPointer, _ step: ZstdStream.Step) throws(OutputError) {
        guard let compressor else { return }
        try compressor.compress(bytes, step) { bytes throws(OutputError) in try send(bytes) }
        if step != .more { (keptSize, keptLines, pendingLines) = (size, keptLines + pendingLines, 0) }
    }

    private func send(_ bytes: UnsafeRawBufferPointer) throws(OutputError) {
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
                throw OutputError.cannotWrite(name, code, kept: cutBack(UnsafeRawBufferPointer(rebasing: bytes.dropLast(rest.count))))
            }
        }
    }

    /// Cuts off what a write that failed left of a line.
    ///
    /// - Parameter written: What was written of the last piece.
    /// - Returns: What the file keeps; nil when it keeps nothing.
    private func cutBack(_ written: UnsafeRawBufferPointer) -> KeptOutput? {
        guard mode.keepsEverything, sync != nil else { return nil }
        if compressor == nil {
            let lines = self.lines(in: written)
            (keptSize, keptLines) = (size - Int64(written.count - lines.end), keptLines + lines.count)
        }
        // With O_APPEND the offset is the end of what this process wrote: the file is cut only if nothing follows.
        let end = lseek(descriptor, 0, SEEK_CUR)
        var info = stat()
        guard fstat(descriptor, &info) == 0 else { return nil }
        if end == info.st_size, size > keptSize, ftruncate(descriptor, end - off_t(size - keptSize)) == 0 {
            size = keptSize
            _ = fstat(descriptor, &info)
        }
        return KeptOutput(lines: keptLines, bytes: Int64(info.st_size))
    }

    /// The number of whole lines in bytes, and the offset after the last one.
    private func lines(in bytes: UnsafeRawBufferPointer) -> (count: Int, end: Int) {
        var (count, end) = (0, 0)
        // Of no use where nothing is kept.
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

    /// A terminal or pipe that another process made non-blocking.
    private func waitUntilWritable() {
        var request = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&request, 1, -1)
    }

    /// Closes the file. Whatever the system still has to report about the data, it reports now.
    ///
    /// - Parameter ending: What becomes of a file that is not at its path yet. Any other stays where it is.
    /// - Returns: Whether the file is at its path.
    @discardableResult
    package func finish(_ how: OutputEnding = .replace) throws(OutputError) -> Bool {
        if case .rename = ending, how == .discard {
            discard()
            return false
        }
        try compress(UnsafeRawBufferPointer(start: nil, count: 0), .end)
        if case .leave = ending { return true }
        let code = synchronize()
        isFinished = true
        // Linux has closed it even when a signal came in between.
        let closed = Glibc.close(descriptor) == -1 && errno != EINTR ? errno : 0
        if code != 0 || closed != 0 {
            if case .rename(let partial, _) = ending { unlink(partial) }
            throw OutputError.cannotWrite(name, code != 0 ? code : closed)
        }
        guard case .rename(let partial, let final) = ending else { return true }
        let isThere = try take(final, from: partial, replaces: how == .replace && mode == .replace)
        if !isThere {
            unlink(partial)
            if how == .replace { throw OutputError.exists(name, offersAppend: offersAppend) }
        } else if syncsAtEnd {
            Self.synchronizeFolder(of: final)
        }
        return isThere
    }

    /// Gives a partial file its final path.
    ///
    /// - Returns: Whether it has it: not where a file is there that is not to be replaced.
    private func take(_ final: String, from partial: String, replaces: Bool) throws(OutputError) -> Bool {
        if !replaces {
            if link(partial, final) == 0 {
                unlink(partial)
                return true
            }
            // An empty file is not worth keeping, and some file systems have no hard links.
            let isRefused = errno == EEXIST ? !Self.isEmptyFile(final) : access(final, F_OK) == 0
            if isRefused { return false }
        }
        guard rename(partial, final) == -1 else { return true }
        let code = errno
        unlink(partial)
        throw OutputError.cannotOpen(name, code)
    }

    /// - Returns: 0, or the number of the error that the disk reported.
    private func synchronize() -> Int32 {
        if let sync {
            if sync.errorNumber != 0 { return sync.errorNumber }
            return fdatasync(descriptor) == 0 ? 0 : errno
        }
        guard syncsAtEnd, case .rename = ending else { return 0 }
        return fsync(descriptor) == 0 ? 0 : errno
    }

    /// The first line of a file that is added to, without its end; empty when there is none.
    ///
    /// - Parameter limit: Bytes that are looked at.
    package func firstLine(limit: Int = 1 << 20) -> String {
        guard case .close = ending else { return "" }
        var line: [UInt8] = []
        var room = [UInt8](repeating: 0, count: 4096)
        while line.count < limit {
            let count = pread(descriptor, &room, room.count, off_t(line.count))
            guard count > 0 else { break }
            if let end = room.prefix(count).firstIndex(of: UInt8(ascii: "\n")) {
                line += room[..<end]
                break
            }
            line += room.prefix(count)
        }
        return String(decoding: line, as: UTF8.self)
    }
}
