internal import Hemiola
internal import HemiolaOutput
internal import HemiolaSignal
internal import Synchronization

/// The sink `json-lines`.
///
/// Its methods run on the caller's thread, the sink's own, and may block there; `writeAtOnce` runs on another and may not. The
/// lock is never contended: it is what makes the state safe to share, not what orders the calls.
final class LineWriter: PromptSink {
    private let template: PathTemplate
    private let plan: OutputPlan
    private let file = Mutex<RecordFile?>(nil)

    init(_ template: PathTemplate, _ plan: OutputPlan) {
        self.template = template
        self.plan = plan
    }

    func open(_ context: SinkContext) async throws(SinkError) {
        try file.withLock { file throws(SinkError) in
            file = try RecordFile(template, OutputOpener(plan, context), selection: context.selection)
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
        file.withLock { $0?.writeIfReady(batches) ?? false }
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
