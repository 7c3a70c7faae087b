package import Hemiola
package import HemiolaOutput
package import HemiolaWire

/// An output that is written in blocks, or at once where somebody waits for it.
///
/// The writer appends bytes to the buffer and calls `flushIfDue` after each unit that must stay whole. What becomes of a file without
/// `finish` is the business of its mode.
package struct BufferedOutput: ~Copyable {
    /// Bytes that are worth a `write(2)`.
    private static let blockSize = 64 * 1024

    /// What was written and has not left yet.
    package var buffer = JSONBuffer(capacity: 2 * BufferedOutput.blockSize)
    /// Nil once it has failed or is finished.
    private var file: OutputFile?
    private let flushesAtOnce: Bool
    /// Whether compressed blocks can be read as soon as they are written.
    private let flushesBlocks: Bool

    /// - Throws: What is wrong with the target, before anything is written.
    package init(
        _ target: OutputTarget, mode: OutputMode, compression: Compression? = nil, flushesAtOnce: Bool, syncsAtEnd: Bool = false,
        offersAppend: Bool = false, quotesLines: Bool = false
    ) throws(SinkError) {
        self.flushesAtOnce = flushesAtOnce
        flushesBlocks = flushesAtOnce || mode == .live
        do throws(OutputError) {
            file = try OutputFile(
                target, mode: mode, compression: compression, syncsAtEnd: syncsAtEnd, offersAppend: offersAppend,
                quotesLines: quotesLines)
        } catch {
            throw SinkError(error)
        }
    }

    /// Whether a file that is added to ends in the middle of a line, which a line of ours shall not continue.
    package var startsInsideLine: Bool { file?.startsInsideLine ?? false }

    /// The first line of a file that is added to, without its end; empty when there is none.
    package var firstLine: String { file?.firstLine() ?? "" }

    /// Bytes that were written, after compression, and those that wait to be.
    package var size: Int64 { (file?.size ?? 0) + Int64(buffer.count) }

    /// Hands a whole block to the system; whatever there is when it shall leave at once.
    package mutating func flushIfDue() throws(SinkError) {
        if flushesAtOnce || buffer.count >= Self.blockSize { try flush() }
    }

    /// Hands everything to the system.
    package mutating func flush() throws(SinkError) {
        defer { buffer.removeAll() }
        guard let file, buffer.count > 0 else { return }
        do throws(OutputError) {
            // Unsafe: `write(2)` takes a pointer, which is good while the buffer lends it.
            try buffer.withUnsafeBytes { bytes throws(OutputError) in try file.write(bytes, flushes: flushesBlocks) }
        } catch {
            // It cannot be mended: what was written is not whole, and nothing more shall follow it.
            self.file = nil
            throw SinkError(error)
        }
    }

    /// Whether what is put into the buffer now may leave without waiting.
    package var canLeaveAtOnce: Bool { flushesAtOnce && buffer.count == 0 && file?.isPipe == true }

    /// Hands everything to the system if it takes that without waiting; forgets it else, for it will be written again.
    ///
    /// Only where it could leave at once before.
    ///
    /// - Returns: Whether it has left.
    package mutating func flushAtOnce() -> Bool {
        defer { buffer.removeAll() }
        guard let file else { return false }
        // Unsafe: `write(2)` takes a pointer, which is good while the buffer lends it.
        return buffer.count == 0 || buffer.withUnsafeBytes { file.writeAtOnce($0) }
    }

    /// Hands everything to the system and closes the file. Nothing follows.
    ///
    /// - Returns: Whether the file is at its path.
    @discardableResult
    package mutating func finish(_ ending: OutputEnding = .replace) throws(SinkError) -> Bool {
        try flush()
        guard let file else { return false }
        self.file = nil
        do throws(OutputError) {
            return try file.finish(ending)
        } catch {
            throw SinkError(error)
        }
    }
}

extension SinkError {
    fileprivate init(_ error: OutputError) {
        self.init(error.message, remedy: error.isReaderGone ? .finish : .giveUp)
    }
}
