internal import Hemiola
internal import HemiolaOutput
internal import HemiolaSignal
internal import HemiolaWire
internal import Synchronization

/// The sink `json-lines`: encodes into one reused buffer and hands whole lines to the output.
///
/// Its methods run on the caller's thread, the sink's own, and may block there. The lock is never contended: it is what
/// makes the state safe to share, not what orders the calls.
final class LineWriter: Sink {
    /// Bytes that are worth a `write(2)`.
    fileprivate static let blockSize = 64 * 1024

    fileprivate struct State: ~Copyable {
        let target: OutputTarget
        let appends: Bool
        let flush: FlushPolicy
        let compression: Compression?
        var output: OutputFile?
        var encoder: RecordEncoder?
        var selection = Selection.all
        var writesEveryLine = false
        var hasBegun = false
        var buffer = JSONBuffer(capacity: 2 * LineWriter.blockSize)

        init(_ target: OutputTarget, appends: Bool, flush: FlushPolicy, compression: Compression?) {
            self.target = target
            self.appends = appends
            self.flush = flush
            self.compression = compression
        }
    }

    private let state: Mutex<State>

    init(_ target: OutputTarget, appends: Bool, flush: FlushPolicy, compression: Compression?) {
        state = Mutex(State(target, appends: appends, flush: flush, compression: compression))
    }

    func open(_ context: SinkContext) async throws(SinkError) {
        try state.withLock { state throws(SinkError) in try state.open(context) }
    }

    func begin(_ stream: StreamHeader) async throws(SinkError) {
        try state.withLock { state throws(SinkError) in try state.begin(stream) }
    }

    func write(_ batches: BatchBlock) async throws(SinkError) {
        try state.withLock { state throws(SinkError) in try state.write(batches) }
    }

    func end(_ summary: StreamSummary) async throws(SinkError) {
        try state.withLock { state throws(SinkError) in try state.end(summary) }
    }

    func close() async throws(SinkError) {
        try state.withLock { state throws(SinkError) in try state.close() }
    }
}

// MARK: - Under the lock

extension LineWriter.State {
    mutating func open(_ context: SinkContext) throws(SinkError) {
        do throws(OutputError) {
            output = try OutputFile(target, appends: appends, compression: compression)
        } catch {
            throw SinkError(error)
        }
        hasBegun = false
        selection = context.selection
        writesEveryLine = flush == .line || flush == .auto && context.isLive
    }

    mutating func begin(_ stream: StreamHeader) throws(SinkError) {
        if !hasBegun, output?.startsInsideLine == true { buffer.append("\n") }
        hasBegun = true
        encoder = RecordEncoder(stream, selection: selection, version: HemiolaVersion.current)
        encoder?.encodeHeader(into: &buffer)
        try flushIfDue()
    }

    mutating func write(_ batches: BatchBlock) throws(SinkError) {
        guard let encoder else { return }
        for index in 0..<batches.count {
            encoder.encode(batches[index], into: &buffer)
            try flushIfDue()
        }
    }

    mutating func end(_ summary: StreamSummary) throws(SinkError) {
        encoder?.encodeEnd(summary, into: &buffer)
        encoder = nil
        try flushIfDue()
    }

    /// What is still buffered is written, then the file gets its name; it disappears when that fails or nothing ever began.
    mutating func close() throws(SinkError) {
        guard let output else { return }
        guard hasBegun else {
            self.output = nil
            return
        }
        try writeOut()
        self.output = nil
        do throws(OutputError) {
            try output.finish()
        } catch {
            throw SinkError(error)
        }
    }

    private mutating func flushIfDue() throws(SinkError) {
        if buffer.count >= LineWriter.blockSize || writesEveryLine { try writeOut() }
    }

    private mutating func writeOut() throws(SinkError) {
        guard let output, buffer.count > 0 else { return }
        do throws(OutputError) {
            // Unsafe: `write(2)` takes a pointer, which is good while the buffer lends it.
            try buffer.withUnsafeBytes { bytes throws(OutputError) in try output.write(bytes, flushes: writesEveryLine) }
            buffer.removeAll()
        } catch {
            // It cannot be mended: what was written is no whole stream, and nothing more shall follow it.
            self.output = nil
            buffer.removeAll()
            throw SinkError(error)
        }
    }
}
