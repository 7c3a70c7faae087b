internal import Hemiola
internal import HemiolaFiles
internal import HemiolaRecords
internal import HemiolaSystem

/// Computes the statistics of a stream while it runs, and writes its record at its end.
final class SummaryDocument: Document {
    private let file: OutputFile
    private let isTable: Bool
    private let selection: Selection
    private let warn: @Sendable (String) -> Void
    /// The columns of the table; empty before its first row.
    private var columns: [String] = []
    private var hasWarned = false
    private var stream: StreamStatistics?

    init(_ file: OutputFile, isTable: Bool, _ context: SinkContext) {
        self.file = file
        self.isTable = isTable
        (selection, warn) = (context.selection, context.warn)
    }

    func begin(_ stream: StreamHeader, at frame: Int64) {
        self.stream = StreamStatistics(stream, selection)
    }

    func write(_ batch: borrowing Batch) {
        stream?.add(batch)
    }

    func write(_ event: Event) {
        stream?.add(event)
    }

    func end(_ summary: StreamSummary) {
        guard let record = stream?.record(summary) else { return }
        stream = nil
        if isTable { appendRow(record) } else { record.encode(into: &file.buffer) }
    }

    /// The reader of standard output waits for the record of each input, or for that of its failure.
    func write(failure: InputEnd) {
        if !isTable { file.buffer.append(failure: failure) }
    }

    /// The columns are those of the first record.
    private func appendRow(_ record: SummaryRecord) {
        if columns.isEmpty {
            columns = record.columns
            file.buffer.append(row: columns)
        } else if !hasWarned, let new = record.newColumn(columns) {
            hasWarned = true
            let input = record.header.file ?? record.header.source.name
            warn(
                "\(file.target.name): the column \(new) of \(input) is left out, because the first row does not have it; "
                    + "write .jsonl, or put a file with as many channels first")
        }
        record.encode(columns: columns, into: &file.buffer)
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
