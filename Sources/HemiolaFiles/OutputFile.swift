public import Hemiola

/// An open output of a ``DocumentFile``: standard output, a device, a pipe, or a file.
///
/// Bytes that must stay together, such as a line, are appended to `buffer` at once. A sound file is written at offsets instead. After an
/// error the file takes no more bytes, unless the remedy is `retry`: the buffer then keeps what is not in the file, and the next flush
/// continues there.
///
/// A whole file may be compressed: it is one zstd frame from its first byte to its end. A live file ends with a whole line, even after a
/// failed write, and a thread calls `fdatasync` once a second. An object that is released before the file is complete closes it, and removes
/// a file beside its path.
public final class OutputFile {
    /// Where a file goes that is not at its path yet.
    enum Ending {
        /// It gets its path, and replaces an old file there.
        case replace
        /// It gets its path unless a file with data is there; then it is removed.
        case create
        /// It is removed.
        case discard
    }

    private enum Closing {
        /// A descriptor that the process was given: it stays open.
        case leave
        case close
        /// The file did not exist before: it is removed if it is empty.
        case closeNew(String)
        /// The partial file gets its path.
        case move(PartialFile)
    }

    /// The size from which the buffer is written, in bytes.
    private static let blockSize = 64 * 1024

    /// The bytes that are not written yet.
    public var buffer = JSONBuffer(capacity: 2 * OutputFile.blockSize)
    /// The path as the user wrote it.
    public let target: OutputTarget
    private let file: FileDescriptor
    /// Whether a person reads the output: file names and tags must not control the terminal.
    private let isTerminal: Bool
    private let name: String
    /// Whether a file with data at the path is neither replaced nor appended to: opening fails.
    private let refusesData: Bool
    private let closing: Closing
    private let kind: FileOptions.Kind
    private let flushesEachLine: Bool
    /// Whether a complete file and its folder are written to the disk.
    private let syncsAtEnd: Bool
    /// Whether the message about an existing file suggests `append=true`.
    private let offersAppend: Bool
    /// Writes a live file to the disk; nil: the file is whole, or no regular file.
    private let sync: PeriodicSync?
    /// Whether the last line of the file that is appended to has no line break.
    private var startsInsideLine = false
    /// The size of the file when it was opened.
    private var startSize: Int64 = 0
    private let compressor: ZstdStream?
    private var isClosed = false
    /// Whether the last flush failed and can be repeated.
    private var isRetrying = false

    /// Bytes of this run in the file, after compression.
    private var written: Int64 = 0
    /// `written` after the last whole line of a live file.
    private var keptSize: Int64 = 0
    /// Lines up to `keptSize`.
    private var keptLines = 0
    /// Bytes of the failed write that are in the file. A repeated call must not pass them again.
    private var acceptedBytes = 0

    /// Opens an output. Missing folders are created.
    ///
    /// - Throws: The target cannot be opened. Nothing has been written then.
    init(_ path: String, _ options: FileOptions, _ context: SinkContext) throws(Problem) {
        target = OutputTarget(path)
        let isLive = context.timing.isLive
        kind = options.kind
        let grows = options.growsAtPath(isLive: isLive)
        refusesData = isLive && options.appends != true
        let isCompressed = try Self.isCompressed(path, options, isLive: isLive)
        precondition(options.appends != true || kind != .sound, "writes to a file that is appended to have no offset")
        if kind == .sound, target.isSpecial {
            throw Problem("cannot write \(target.name): it is not a regular file; name a file")
        }
        // With O_APPEND, Linux ignores the offset of a write.
        let append: Set<FileDescriptor.Option> = kind == .sound ? [] : [.append]
        flushesEachLine = options.flush.flushesEachLine(isLive: isLive)
        syncsAtEnd = context.run.syncsFiles
        offersAppend = options.appends != nil
        name = target.name
        isTerminal = target.isTerminal && !isCompressed
        compressor = isCompressed ? try ZstdStream(level: options.level) : nil
        if let descriptor = target.descriptor {
            file = FileDescriptor(descriptor)
            guard file.isWritable else { throw Problem("cannot write \(name): it is not open for writing; give a path instead") }
            (closing, sync) = (.leave, nil)
            return
        }
        let path = Self.followingDanglingLinks(target.path)
        let status = try Self.status(of: path, name)
        switch status?.kind {
        case .folder:
            throw Problem.isFolder(name)
        case .file:
            let size = status?.size ?? 0
            if refusesData, size > 0 { throw Problem.exists(name, offersAppend: offersAppend) }
            if grows {
                file = try Self.open(path, append, isRead: true, name)
                closing = .close
                startsInsideLine = Self.endsInsideLine(file, length: size)
                startSize = Int64(size)
            } else {
                let new = try Self.openPartial(for: try Self.resolved(path, name), name)
                (file, closing) = (FileDescriptor(new.descriptor), .move(new))
            }
        case nil:
            try Self.createFolder(of: path, name)
            if grows {
                let creation: Set<FileDescriptor.Option> = refusesData ? [.create, .exclusive] : [.create]
                file = try Self.open(path, append.union(creation), name)
                closing = .closeNew(path)
                FileSystem.synchronizeFolder(of: path)
            } else {
                let new = try Self.openPartial(for: path, name)
                (file, closing) = (FileDescriptor(new.descriptor), .move(new))
            }
        default:
            file = try Self.open(path, append, name)
            closing = .close
        }
        do {
            let isRegular = status.map { $0.kind == .file } ?? true
            if grows, refusesData, isRegular { try Self.lock(file, name, offersAppend: offersAppend) }
            sync = grows && isRegular ? try PeriodicSync(file) : nil
        } catch {
            file.close()
            throw error
        }
    }

    /// Whether a file is compressed.
    ///
    /// - Throws: It would be, and is live: after a crash it would end inside a zstd frame.
    static func isCompressed(_ path: String, _ options: FileOptions, isLive: Bool) throws(Problem) -> Bool {
        guard options.compression.isOn(for: path) else { return false }
        guard !options.growsAtPath(isLive: isLive) else {
            throw Problem.cannotCompress(OutputTarget(path).name, setting: options.compression == .zstd ? "compress=zstd" : ".zst")
        }
        return true
    }

    deinit {
        discard()
    }

    /// Closes the file, without what is in the buffer. Removes it if it is not at its path yet, or is new and empty.
    func discard() {
        guard !isClosed else { return }
        isClosed = true
        switch closing {
        case .leave: break
        case .close: file.close()
        case .closeNew(let path):
            if (try? file.status().size) == 0 { FileSystem.remove(path) }
            file.close()
        case .move(let file): file.discard()
        }
    }
}

// MARK: - Writing

extension OutputFile {
    /// Bytes of this run in the file, after compression, and in the buffer.
    public var size: Int64 { written + Int64(buffer.count) }

    /// Writes the buffer if each line is to be written at once, if the buffer holds a block, or if the last flush failed.
    ///
    /// - Throws: A write failed, or the reader has closed the pipe (`Remedy.finish`).
    func flushIfDue() throws(Problem) {
        if flushesEachLine || isRetrying || buffer.count >= Self.blockSize { try flush() }
    }

    /// Writes the buffer. Blocks until the system has accepted all bytes.
    ///
    /// - Throws: A write failed, or the reader has closed the pipe (`Remedy.finish`).
    func flush() throws(Problem) {
        guard !isClosed, buffer.count > 0 else { return buffer.removeAll() }
        if isTerminal {
            let text = buffer.text
            buffer.removeAll()
            buffer.append(bytes: Array(text.printable.utf8))
        }
        if startsInsideLine {
            // The line of an earlier run is not continued.
            let lines = buffer.bytes
            buffer.removeAll()
            buffer.append("\n")
            buffer.append(bytes: lines)
            startsInsideLine = false
        }
        do {
            // Unsafe: `write(2)` takes a pointer, which is valid inside the closure.
            try buffer.withUnsafeBytes { bytes throws(Problem) in try write(bytes) }
            buffer.removeAll()
            isRetrying = false
        } catch {
            isRetrying = error.remedy == .retry
            let rest = buffer.withUnsafeBytes { Array($0.dropFirst(acceptedBytes)) }
            buffer.removeAll()
            // The file ends at another error: lines written after a gap in the middle would look complete.
            if isRetrying { buffer.append(bytes: rest) } else { discard() }
            throw error
        }
    }

    /// Writes all bytes. Blocks until the system has accepted them.
    ///
    /// After a temporary error the file ends with a whole line, and the call can be repeated without the accepted bytes.
    private func write(_ bytes: UnsafeRawBufferPointer) throws(Problem) {
        if let error = sync?.error { throw Problem.cannotWrite(name, error) }
        if compressor != nil {
            try compress(bytes, flushesEachLine ? .flush : .more)
        } else {
            try writeUncompressed(bytes)
            let lines = self.lines(in: bytes)
            (keptSize, keptLines) = (written - Int64(bytes.count - lines.end), keptLines + lines.count)
        }
        sync?.noteWrite()
    }

    /// Writes all bytes at an offset of a sound file.
    ///
    /// - Throws: A write failed; the file has none of the bytes that lie beyond its old end. Later writes may succeed: bytes that replace
    ///   others need no space on the disk.
    public func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(Problem) {
        if let error = sync?.error { throw Problem.cannotWrite(name, error) }
        do { try file.writeAll(bytes, at: offset) } catch {
            truncate(to: written)
            throw Problem.cannotWrite(name, error)
        }
        written = max(written, offset + Int64(bytes.count))
        sync?.noteWrite()
    }

    /// Shortens a sound file. Errors are ignored: the file keeps its length then.
    public func truncate(to length: Int64) {
        guard let size = try? file.status().size, Int64(size) > length, (try? file.truncate(to: length)) != nil else { return }
        written = length
    }

    private func compress(_ bytes: UnsafeRawBufferPointer, _ step: ZstdStream.Step) throws(Problem) {
        try compressor?.compress(bytes, step) { piece throws(Problem) in try writeUncompressed(piece) }
    }

    private func writeUncompressed(_ bytes: UnsafeRawBufferPointer) throws(Problem) {
        var rest = bytes
        while !rest.isEmpty {
            do {
                let count = try file.write(rest)
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
                written += Int64(count)
            } catch {
                guard error.code == .wouldBlock else {
                    throw truncateToWholeLines(after: UnsafeRawBufferPointer(rebasing: bytes.dropLast(rest.count)), error)
                }
                // Another process has set the terminal or pipe to non-blocking.
                file.waitUntilWritable()
            }
        }
    }

    /// Removes the incomplete line that a failed write left at the end of a live file.
    ///
    /// - Parameters:
    ///   - accepted: The bytes of the failed call that were written.
    ///   - error: The error of the write.
    /// - Returns: The error to throw.
    private func truncateToWholeLines(after accepted: UnsafeRawBufferPointer, _ error: SystemCallError) -> Problem {
        guard sync != nil else { return .cannotWrite(name, error) }
        let lines = self.lines(in: accepted)
        (keptSize, keptLines) = (written - Int64(accepted.count - lines.end), keptLines + lines.count)
        // With O_APPEND the offset is the end of this process's last write: the file is truncated only if nothing follows.
        let end = file.offset
        guard let status = try? file.status() else { return .cannotWrite(name, error) }
        var size = Int64(status.size)
        let isLastWriter = written == 0 ? size == startSize : end == size
        var removed: Int64 = 0
        if isLastWriter, written > keptSize, (try? file.truncate(to: size - (written - keptSize))) != nil {
            removed = written - keptSize
            (written, size) = (keptSize, size - removed)
            file.seekToEnd()
        }
        var problem = Problem.cannotWrite(name, error, kept: (keptLines, size))
        acceptedBytes = accepted.count - Int(removed)
        if isLastWriter, acceptedBytes >= 0, Problem.isDiskFull(error) { problem.remedy = .retry }
        return problem
    }

    /// The number of whole lines in bytes, and the offset after the last one. Of an output without `sync` (0, all bytes), at no cost.
    private func lines(in bytes: UnsafeRawBufferPointer) -> (count: Int, end: Int) {
        var (count, end) = (0, 0)
        guard sync != nil else { return (0, bytes.count) }
        if kind == .table {
            var isQuoted = false
            for index in 0..<bytes.count {
                if bytes[index] == UInt8(ascii: "\"") { isQuoted.toggle() }
                if bytes[index] == UInt8(ascii: "\n"), !isQuoted { (count, end) = (count + 1, index + 1) }
            }
            return (count, end)
        }
        for index in 0..<bytes.count where bytes[index] == UInt8(ascii: "\n") { (count, end) = (count + 1, index + 1) }
        return (count, end)
    }

    /// Writes what is buffered and closes the file. Reports errors that the system reports only now.
    ///
    /// - Parameter ending: Where a file goes that is not at its path yet.
    /// - Returns: Whether the file is at its path.
    func finish(_ ending: Ending) throws(Problem) -> Bool {
        try flush()
        guard !isClosed else { return false }
        if case .move = closing, ending == .discard {
            discard()
            return false
        }
        try compress(UnsafeRawBufferPointer(start: nil, count: 0), .end)
        guard case .move(let file) = closing else {
            if case .leave = closing { isClosed = true } else { try closeKept() }
            return true
        }
        isClosed = true
        do { try file.close(syncs: syncsAtEnd) } catch { throw Problem.cannotWrite(name, error) }
        let isThere: Bool
        do {
            isThere = try file.moveToPath(replaces: ending == .replace && !refusesData, syncs: syncsAtEnd)
        } catch {
            throw Problem.cannotOpen(name, error).withoutRetry
        }
        if !isThere, ending == .replace { throw Problem.exists(name, offersAppend: offersAppend) }
        return isThere
    }

    /// Closes a file that is at its path.
    private func closeKept() throws(Problem) {
        let notSynced = sync.flatMap { $0.error ?? file.synchronize() }
        isClosed = true
        let notClosed = file.close()
        if let error = notSynced ?? notClosed { throw Problem.cannotWrite(name, error) }
    }

    /// Appends the names of the columns of a table, unless the file is one that is appended to and has them.
    ///
    /// - Throws: The file has other columns.
    public func appendHeader(_ columns: [String]) throws(Problem) {
        var header = JSONBuffer(capacity: 1024)
        header.append(row: columns)
        let old = firstLine
        if old.isEmpty { return buffer.append(bytes: header.bytes) }
        guard header.text.dropLast() == old else {
            throw Problem(
                "cannot add to \(name): it has other columns than this run; write to another file, or choose columns with select=")
        }
    }

    /// The first line of a file that existed and is appended to, without its line break, at most 1 MiB; else empty.
    private var firstLine: String {
        guard case .close = closing else { return "" }
        let limit = 1 << 20
        var line: [UInt8] = []
        while line.count < limit, let chunk = try? file.bytes(at: Int64(line.count), count: 4096), !chunk.isEmpty {
            line += chunk.prefix { $0 != UInt8(ascii: "\n") }
            if chunk.contains(UInt8(ascii: "\n")) { break }
        }
        return String(decoding: line, as: UTF8.self)
    }
}

// MARK: - Before a run

extension OutputTarget {
    /// Checks that a file can be written, before any output of the run is opened. Creates the missing folders of the path, and creates
    /// and removes a file in its folder.
    ///
    /// - Parameters:
    ///   - replaces: Whether an existing file is replaced by a new one.
    ///   - isRealTime: Whether replacing a file with data is refused.
    ///   - folders: Folders in which a file could be created, which are not checked again.
    package func checkWritable(replaces: Bool, isRealTime: Bool, folders: inout Set<String>) throws(Problem) {
        if descriptor != nil { return }
        if replaces, isRealTime, isOccupied { throw Problem.exists(name, offersAppend: false) }
        var path = OutputFile.followingDanglingLinks(self.path)
        switch try OutputFile.status(of: path, name)?.kind {
        case .folder: throw Problem.isFolder(name)
        case .file where replaces: path = try OutputFile.resolved(path, name)
        case nil: try OutputFile.createFolder(of: path, name)
        default: return
        }
        let folder = FileSystem.folder(of: path)
        if folders.contains(folder) { return }
        let probe = try OutputFile.openPartial(for: path, name)
        folders.insert(folder)
        probe.discard()
    }
}
