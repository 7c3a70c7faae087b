internal import Hemiola
internal import HemiolaFiles

/// Batches in one table, events in another.
final class CSVDocument: Document {
    private let selection: Selection
    /// nil if the selection has nothing for the table, or if it is not written.
    private let rows: Table?
    private let events: Table?
    private var format = StreamFormat(sampleRate: 1, channelCount: 1)
    private var batchColumns: BatchColumns?
    private var eventColumns: EventColumns?

    /// - Parameter files: That of the batches, if any are selected, then that of the events.
    init(_ files: [OutputFile], _ selection: Selection) {
        self.selection = selection
        let tables = files.map { Table($0) }
        rows = selection.contains("batch") ? tables.first : nil
        events = tables.last === rows ? nil : tables.last
    }

    func begin(_ stream: StreamHeader, at frame: Int64) throws(Problem) {
        format = stream.format
        let batches = BatchColumns(stream, selection: selection)
        try rows?.begin(batches.names)
        batchColumns = batches.arranged(as: rows?.columns ?? [])
        let happenings = EventColumns(stream, selection: selection)
        try events?.begin(happenings.names)
        eventColumns = happenings
    }

    func write(_ batch: borrowing Batch) throws(Problem) {
        if let rows, let batchColumns, batch.hasValues {
            try rows.appendHeader()
            batchColumns.encode(batch, into: &rows.file.buffer)
        }
        let end = format.seconds(at: batch.endFrame)
        for place in batch.events.indices { try write(batch.events[place], batchEnd: end) }
    }

    func write(_ event: Event) throws(Problem) {
        try write(event, batchEnd: event.time)
    }

    private func write(_ event: Event, batchEnd: Double) throws(Problem) {
        guard let events, let row = eventColumns?.row(of: event, batchEnd: batchEnd, columns: events.columns) else { return }
        try events.appendHeader()
        events.file.buffer.append(row: row)
    }

    func end(_ summary: StreamSummary) throws(Problem) {
        for event in summary.lateEvents { try write(event, batchEnd: format.seconds(at: summary.frames)) }
    }

    /// A table without a row has a header.
    func finish() throws(Problem) {
        try rows?.appendHeader()
        try events?.appendHeader()
    }
}

/// A table: its columns are those of the first stream that has a row, and stay the same to the end of the file.
private final class Table {
    let file: OutputFile
    private(set) var columns: [String] = []
    private var hasHeader = false

    init(_ file: OutputFile) {
        self.file = file
    }

    /// A stream with these columns begins. It may lack some that the table has, whose fields then stay empty.
    func begin(_ columns: [String]) throws(Problem) {
        guard hasHeader else {
            self.columns = columns
            return
        }
        let known = Set(self.columns)
        guard let new = columns.first(where: { !known.contains($0) }) else { return }
        throw Problem(
            "cannot write \(file.target.name): a stream has the column \(new), which the table began without; "
                + "analyse the file that has most columns first, write one table per file, or leave columns out with select=")
    }

    /// Call before a row is appended.
    func appendHeader() throws(Problem) {
        guard !hasHeader else { return }
        hasHeader = true
        try file.appendHeader(columns)
    }
}
