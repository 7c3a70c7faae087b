internal import Hemiola
internal import HemiolaOutput
internal import HemiolaSignal
internal import Synchronization

/// The sink `json-lines`.
///
/// All methods run on the sink's thread and may block, except `writeIfReady`, which runs on the analysis thread and does not block.
/// The engine never makes two calls at the same time. The mutex is therefore never contended; it makes the class `Sendable`.
final class LineWriter: NonBlockingSink {
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

    func writeIfReady(_ batches: BatchBlock) -> Bool {
        file.withLock { $0?.writeIfReady(batches) ?? false }
    }

    func end(_ summary: StreamSummary) async throws(SinkError) {
        try file.withLock { file throws(SinkError) in try file?.end(summary) }
    }

    func end(_ input: InputEnd) async throws(SinkError) {
        try file.withLock { file throws(SinkError) in try file?.end(input) }
    }

    func close() async throws(SinkError) {
        try file.withLock { file throws(SinkError) in
            defer { file = nil }
            try file?.close()
        }
    }
}
