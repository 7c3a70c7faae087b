internal import Hemiola
internal import HemiolaOutput
internal import HemiolaSignal
internal import HemiolaWire

/// The plan of a show as JSON Lines: what was decided, and what was wished for, so that `--controls` can replay it.
struct PlanWriter: ~Copyable {
    /// Bytes that are worth a `write(2)`.
    private static let blockSize = 64 * 1024
    /// The records of a plan, unless others are selected.
    static let records = ["header", "preset", "speed", "control", "end"]

    private let selection: Selection
    private let writesEveryLine: Bool
    private var output: OutputFile?
    private var encoder: RecordEncoder?
    private var hasBegun = false
    private var buffer = JSONBuffer(capacity: 4096)

    init(_ target: OutputTarget, _ context: SinkContext) throws(SinkError) {
        selection = context.selection.isAll ? Selection(items: Self.records) : context.selection
        writesEveryLine = context.isLive
        do throws(OutputError) {
            let compression = Compression.isAsked(by: target.path) ? Compression(level: Compression.standardLevel) : nil
            output = try OutputFile(target, appends: false, compression: compression)
        } catch {
            throw SinkError(error)
        }
    }

    mutating func begin(_ stream: StreamHeader) throws(SinkError) {
        hasBegun = true
        encoder = RecordEncoder(stream, selection: selection, version: HemiolaVersion.current)
        encoder?.encodeHeader(into: &buffer)
        try flushIfDue()
    }

    mutating func write(_ batches: BatchBlock) throws(SinkError) {
        guard let encoder else { return }
        for index in 0..<batches.count { encoder.encode(batches[index], into: &buffer) }
        try flushIfDue()
    }

    mutating func end(_ summary: StreamSummary) throws(SinkError) {
        encoder?.encodeEnd(summary, into: &buffer)
        encoder = nil
        try flushIfDue()
    }

    /// The file gets its name; one in which nothing ever began disappears.
    mutating func close() throws(SinkError) {
        if hasBegun { try flush() }
        guard let output, hasBegun else { return }
        self.output = nil
        do throws(OutputError) {
            try output.finish()
        } catch {
            throw SinkError(error)
        }
    }

    private mutating func flushIfDue() throws(SinkError) {
        if writesEveryLine || buffer.count >= Self.blockSize { try flush() }
    }

    private mutating func flush() throws(SinkError) {
        guard let output, buffer.count > 0 else { return }
        do throws(OutputError) {
            // Unsafe: `write(2)` takes a pointer, which is good while the buffer lends it.
            try buffer.withUnsafeBytes { bytes throws(OutputError) in try output.write(bytes, flushes: writesEveryLine) }
            buffer.removeAll()
        } catch {
            // It cannot be mended: what was written is no whole plan, and nothing more shall follow it.
            self.output = nil
            buffer.removeAll()
            throw SinkError(error)
        }
    }
}

extension SinkError {
    init(_ error: OutputError) {
        self.init(error.message, remedy: error.isReaderGone ? .finish : .giveUp)
    }
}
