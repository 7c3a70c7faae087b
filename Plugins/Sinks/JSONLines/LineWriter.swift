internal import Hemiola
internal import HemiolaOutput
internal import HemiolaRecords
internal import HemiolaSignal
internal import Synchronization

/// The sink `json-lines`.
///
/// Its methods run on the caller's thread, the sink's own, and may block there; `writeAtOnce` runs on another and may not. The
/// lock is never contended: it is what makes the state safe to share, not what orders the calls.
final class LineWriter: PromptSink {
    private let target: OutputTarget
    private let appends: Bool
    private let flush: FlushPolicy
    private let compression: Compression?
    private let file = Mutex<RecordFile?>(nil)

    init(_ target: OutputTarget, appends: Bool, flush: FlushPolicy, compression: Compression?) {
        self.target = target
        self.appends = appends
        self.flush = flush
        self.compression = compression
    }

    func open(_ context: SinkContext) async throws(SinkError) {
        try file.withLock { file throws(SinkError) in
            file = try RecordFile(
                target, appends: appends, flush: flush, compression: compression, selection: context.selection, isLive: context.isLive)
        }
    }

    func begin(_ stream: StreamHeader) async throws(SinkError) {
        try file.withLock { file throws(SinkError) in try file?.begin(stream) }
    }

    func write(_ batches: BatchBlock) async throws(SinkError) {
        try file.withLock { file throws(SinkError) in try file?.write(batches) }
    }

    func write(_ events: [Event]) async throws(SinkError) {
        try file.withLock { file throws(SinkError) in try file?.write(events) }
    }

    func writeAtOnce(_ batches: BatchBlock) -> Bool {
        file.withLock { $0?.writeAtOnce(batches) ?? false }
    }

    func end(_ summary: StreamSummary) async throws(SinkError) {
        try file.withLock { file throws(SinkError) in try file?.end(summary) }
    }

    func close() async throws(SinkError) {
        try file.withLock { file throws(SinkError) in
            defer { file = nil }
            try file?.close()
        }
    }
}
