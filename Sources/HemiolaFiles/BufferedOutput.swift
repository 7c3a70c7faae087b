internal import Hemiola
public import HemiolaRecords
public import HemiolaSystem

/// The value of the setting `flush`: when written lines are handed to the operating system.
public enum FlushPolicy: String, CaseIterable, Sendable {
    /// After each line when live, else in blocks.
    case auto
    /// After each line.
    case line
    /// In blocks of 64 KiB.
    case block

    /// The setting `flush`, default `auto`.
    ///
    /// - Parameter line: The sink's word for a line, in the singular: `line`, `row`.
    public static func setting(each line: String) -> FlushPolicy {
        Setting.choice(
            "flush", default: FlushPolicy.auto,
            "Write after each \(line) (line) or in blocks of 64 KiB (block); auto: line when live, else block.")
    }

    /// Whether each line is written at once.
    ///
    /// - Parameter isLive: Whether the run takes place in real time (`SinkContext.isLive`).
    public func flushesEachLine(isLive: Bool) -> Bool {
        self == .line || self == .auto && isLive
    }
}

/// An open output with a buffer, opened by `OutputOpener.open`.
///
/// Append the bytes of one line (or of another unit that must stay whole) to `buffer`, then call `flushIfDue`. End with
/// `OutputOpener.finish`. An output that is deallocated before that is closed: a file that is not at its path yet is removed, a
/// live one stays.
///
/// After an error the output is closed, and later calls do nothing. The exception is an error with `Remedy.retry`, which only an output
/// throws that was opened with `retriesWrites`: the bytes stay in the buffer, and the next flush continues with the first byte that is
/// not in the file.
public struct BufferedOutput: ~Copyable {
    /// Size from which the buffer is written, in bytes.
    private static let blockSize = 64 * 1024

    /// The bytes that are not written yet.
    public var buffer = JSONBuffer(capacity: 2 * BufferedOutput.blockSize)
    /// nil after an error or `finish`.
    private var file: OutputFile?
    private let flushesEachLine: Bool
    /// Whether each written block of compressed data can be decompressed at once.
    private let flushesBlocks: Bool
    private let retriesWrites: Bool
    /// Whether the last flush failed and can be repeated.
    private var isRetrying = false

    /// - Throws: The target cannot be opened. Nothing has been written then.
    init(
        _ target: OutputTarget, mode: OutputMode, compression: Compression? = nil, flushesEachLine: Bool, syncsAtEnd: Bool = false,
        offersAppend: Bool = false, quotesLines: Bool = false, retriesWrites: Bool = false
    ) throws(Problem) {
        self.flushesEachLine = flushesEachLine
        flushesBlocks = flushesEachLine || mode == .live
        self.retriesWrites = retriesWrites && mode.keepsEverything
        do throws(Problem) {
            file = try OutputFile(
                target, mode: mode, compression: compression, syncsAtEnd: syncsAtEnd, offersAppend: offersAppend,
                quotesLines: quotesLines)
        } catch {
            throw self.retriesWrites ? error : error.withoutRetry
        }
    }

    /// Whether neither an error nor `finish` has closed the output.
    var isOpen: Bool { file != nil }

    /// Whether the file existed and its last line has no line break. Begin with a line break then, so that the line is not continued.
    public var startsInsideLine: Bool { file?.startsInsideLine ?? false }

    /// The first line of a file that existed and is appended to, without its line break, at most 1 MiB; else empty.
    public var firstLine: String { file?.firstLine() ?? "" }

    /// Bytes written, after compression, plus the bytes in the buffer.
    public var size: Int64 { (file?.size ?? 0) + Int64(buffer.count) }

    /// Writes the buffer if each line is to be written at once, if the buffer holds a block, or if the last flush failed.
    ///
    /// - Throws: A write failed, or the reader has closed the pipe (`Remedy.finish`).
    public mutating func flushIfDue() throws(Problem) {
        if flushesEachLine || isRetrying || buffer.count >= Self.blockSize { try flush() }
    }

    /// Writes the buffer. Blocks until the system has accepted all bytes.
    ///
    /// - Throws: A write failed, or the reader has closed the pipe (`Remedy.finish`).
    public mutating func flush() throws(Problem) {
        guard let file, buffer.count > 0 || isRetrying else { return buffer.removeAll() }
        do throws(Problem) {
            // Unsafe: `write(2)` takes a pointer, which is valid inside the closure.
            try buffer.withUnsafeBytes { bytes throws(Problem) in try file.write(bytes, flushes: flushesBlocks) }
            buffer.removeAll()
            isRetrying = false
        } catch {
            isRetrying = error.remedy == .retry && retriesWrites
            if isRetrying {
                removeFromBuffer(file.acceptedBytes)
            } else {
                // The file ends at the error: lines written after a gap in the middle would look complete.
                buffer.removeAll()
                self.file = nil
            }
            throw retriesWrites ? error : error.withoutRetry
        }
    }

    private mutating func removeFromBuffer(_ count: Int) {
        let rest = buffer.withUnsafeBytes { Array($0.dropFirst(count)) }
        buffer.removeAll()
        buffer.append(bytes: rest)
    }

    /// Writes the buffer and closes the file, unless the buffer cannot be written now (`Remedy.retry`). Call through `OutputOpener.finish`, or directly for a file that is complete before the
    /// stream ends (rotation).
    ///
    /// - Parameter ending: Where the file goes.
    /// - Returns: Whether the file is at its path.
    @discardableResult
    public mutating func finish(_ ending: OutputEnding = .replace) throws(Problem) -> Bool {
        try flush()
        guard let file else { return false }
        self.file = nil
        return try file.finish(ending)
    }
}
