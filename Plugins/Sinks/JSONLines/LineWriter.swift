internal import Hemiola
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
        var output: OutputFile?
        var encoder: RecordEncoder?
        var selection = Selection.all
        var writesEveryLine = false
        var hasBegun = false
        var buffer = JSONBuffer(capacity: 2 * LineWriter.blockSize)

        init(_ target: OutputTarget, appends: Bool, flush: FlushPolicy) {
            self.target = target
            self.appends = appends
            self.flush = flush
        }
    }

    private let state: Mutex<State>

    init(_ target: OutputTarget, appends: Bool, flush: FlushPolicy) {
        state = Mutex(State(target, appends: appends, flush: flush))
    }

    func open(_ context: SinkContext) async throws(SinkError) {
        try state.withLock { state throws(SinkError) in
            state.output = try OutputFile(state.target, appends: state.appends)
            state.selection = context.selection
            state.writesEveryLine = state.flush == .line || state.flush == .auto && context.isLive
        }
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
        try output.finish()
    }

    private mutating func flushIfDue() throws(SinkError) {
        if buffer.count >= LineWriter.blockSize || writesEveryLine { try writeOut() }
    }

    private mutating func writeOut() throws(SinkError) {
        guard let output, buffer.count > 0 else { return }
        do throws(SinkError) {
            try output.write(buffer)
            buffer.removeAll()
        } catch {
            // It cannot be mended: what was written is no whole stream, and nothing more shall follow it.
            self.output = nil
            buffer.removeAll()
            throw error
        }
    }
}
