internal import Hemiola
internal import HemiolaOutput
internal import HemiolaSignal

/// The sink `json-lines`.
final class LineWriter: Sink {
    private let template: PathTemplate
    private let plan: OutputPlan
    private var file: RecordFile?

    init(_ template: PathTemplate, _ plan: OutputPlan) {
        self.template = template
        self.plan = plan
    }

    func open(_ context: SinkContext) throws(SinkError) {
        file = try RecordFile(template, OutputOpener(plan, context), selection: context.selection)
    }

    func begin(_ stream: StreamHeader) throws(SinkError) {
        try file?.begin(stream)
    }

    func write(_ batches: BatchBlock) throws(SinkError) {
        try file?.write(batches)
    }

    func write(_ events: [Event]) throws(SinkError) {
        try file?.write(events)
    }

    func end(_ summary: StreamSummary) throws(SinkError) {
        try file?.end(summary)
    }

    func end(_ input: InputEnd) throws(SinkError) {
        try file?.end(input)
    }

    func close() throws(SinkError) {
        defer { file = nil }
        try file?.close()
    }
}
