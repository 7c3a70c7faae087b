internal import Hemiola
internal import HemiolaFiles
internal import HemiolaRecords
internal import HemiolaSystem

/// The sink `summary`: computes the statistics of a stream while it runs, and writes its record at its end.
final class SummaryWriter: Sink {
    private struct State: ~Copyable {
        var opener: OutputOpener?
        var selection = Selection.all
        /// The open file, its path and its input; nil if each input has its own file and none has begun.
        var output: BufferedOutput?
        var path = ""
        var input = ""
        var streams = WrittenStreams()
        /// The columns of the table; empty before its first row.
        var columns: [String] = []
        var hasWarned = false
        var stream: StreamStatistics?
        /// Whether the last call failed with `Remedy.retry` after it had put its line into the buffer.
        var isRepeated = false
        var warn: @Sendable (String) -> Void = { _ in }
    }

    private let template: PathTemplate
    private let isTable: Bool
    private let plan: OutputPlan
    private var state = State()

    init(_ template: PathTemplate, isTable: Bool, _ plan: OutputPlan) {
        self.template = template
        self.isTable = isTable
        self.plan = plan
    }

    func open(_ context: SinkContext) throws(Problem) {
        try closingOnError { () throws(Problem) in
            state.opener = OutputOpener(plan, context)
            state.selection = context.selection
            state.warn = context.warn
            if !template.isPerInput { try openFile() }
        }
    }

    func begin(_ stream: StreamHeader) throws(Problem) {
        try closingOnError { () throws(Problem) in
            let source = stream.inputPath
            // A live run has one input: the streams of further devices or formats go to the same file.
            if template.isPerInput, state.output == nil || source != state.input && !stream.isLive {
                try finishFile()
                state.input = source
                try openFile()
            }
            state.streams.begin(isLive: stream.isLive)
            state.stream = StreamStatistics(stream, state.selection)
        }
    }

    func write(_ batches: BatchBlock) throws(Problem) {
        state.stream?.add(batches)
    }

    func write(_ events: [Event]) throws(Problem) {
        for event in events { state.stream?.add(event) }
    }

    func end(_ summary: StreamSummary) throws(Problem) {
        try closingOnError { () throws(Problem) in
            if !state.isRepeated {
                guard let record = state.stream?.record(summary) else { return }
                state.stream = nil
                state.streams.end(summary.reason)
                if isTable { appendRow(record) } else { record.encode(into: &state.output!.buffer) }
            }
            do throws(Problem) {
                try state.output?.flushIfDue()
                state.isRepeated = false
            } catch {
                state.isRepeated = error.remedy == .retry
                throw error
            }
        }
    }

    func end(_ input: InputEnd) throws(Problem) {
        try closingOnError { () throws(Problem) in
            if template.isPerInput { return try finishFile() }
            // The reader of standard output waits for the record of each input, or for that of its failure.
            guard state.opener?.answersInputs == true, state.output != nil else { return }
            if !state.isRepeated, !isTable, input.streamCount == 0, input.error != nil {
                state.output!.buffer.append(failure: input)
            }
            do throws(Problem) {
                try state.output!.flush()
                state.isRepeated = false
            } catch {
                state.isRepeated = error.remedy == .retry
                throw error
            }
        }
    }

    func close() throws(Problem) {
        try closingOnError { () throws(Problem) in
            defer {
                state.output = nil
                state.stream = nil
            }
            try finishFile()
        }
    }

    private func openFile() throws(Problem) {
        guard let opener = state.opener else { return }
        state.path = opener.path(template, for: state.input)
        state.streams = WrittenStreams()
        (state.columns, state.hasWarned) = ([], false)
        state.output = try opener.open(state.path, retriesWrites: true)
    }

    /// Finishes the file. A file for which no stream began is removed.
    private func finishFile() throws(Problem) {
        guard state.streams.hasBegun, state.output != nil, let opener = state.opener else { return }
        try opener.finish(&state.output!, at: state.path, state.streams, isWholeRun: !template.isPerInput)
        state.output = nil
    }

    /// The columns are those of the first record.
    private func appendRow(_ record: SummaryRecord) {
        if state.columns.isEmpty {
            state.columns = record.columns
            for (index, column) in state.columns.enumerated() {
                if index > 0 { state.output?.buffer.append(",") }
                state.output?.buffer.append(field: column)
            }
            state.output?.buffer.append("\n")
        } else if !state.hasWarned, let new = record.newColumn(state.columns) {
            state.hasWarned = true
            let input = record.header.file ?? record.header.source.name
            state.warn(
                "\(OutputTarget(state.path).name): the column \(new) of \(input) is left out, because the first row does not have it; "
                    + "write .jsonl, or put a file with as many channels first")
        }
        record.encode(columns: state.columns, into: &state.output!.buffer)
    }

    /// Runs `body`. After an error, unless the call can be repeated, the file is closed.
    private func closingOnError(_ body: () throws(Problem) -> Void) throws(Problem) {
        do throws(Problem) {
            try body()
        } catch {
            if error.remedy != .retry { state.output = nil }
            throw error
        }
    }
}

extension SummaryRecord {
    /// The first column that a table does not have; nil when it has all.
    fileprivate func newColumn(_ table: [String]) -> String? {
        let columns = columns
        if columns == table { return nil }
        let known = Set(table)
        return columns.first { !known.contains($0) }
    }
}
