internal import Hemiola
internal import HemiolaFiles

/// Computes the statistics of a stream while it runs, and writes its record at its end.
final class SummaryDocument: Document {
    private let file: OutputFile
    private let format: SummaryFormat
    /// The values that are written; nil outside a pipeline: those of the first stream.
    private var selection: SummarySelection?
    private var text: SummaryText?
    private var hasHeader = false
    private var stream: StreamStatistics?
    /// Whether songs can wait for others: the file has all of them.
    private let hasAlbums: Bool
    private var album: Album?
    private let run: RunScope
    /// The analyzers of the stream, and inputs that failed before it, while the columns are not known.
    private var analyzers: [StreamHeader.Analyzer] = []
    private var failures: [InputEnd] = []

    init(_ file: OutputFile, _ format: SummaryFormat, hasAlbums: Bool, _ context: SinkContext) {
        self.file = file
        self.hasAlbums = hasAlbums
        run = context.run
        self.format = format
        selection = context.records.summary
    }

    func begin(_ stream: StreamHeader, at frame: Int64) throws(Problem) {
        selection?.complete(with: stream.analyzers)
        analyzers = stream.analyzers
        self.stream = StreamStatistics(stream, selection)
        try writeFailures()
        guard hasAlbums, selection?.hasAlbumGain == true else { return }
        if album?.folder != Album.folder(of: stream) {
            try finishAlbum()
            album = Album(stream)
        }
        album?.begin(stream)
    }

    func write(_ batch: borrowing Batch) {
        stream?.add(batch)
        album?.add(batch)
    }

    func write(_ event: Event) {
        stream?.add(event)
    }

    func end(_ summary: StreamSummary) throws(Problem) {
        guard let record = stream?.record(summary) else { return }
        stream = nil
        if selection == nil { selection = SummarySelection(analyzers, summary.sections) }
        try writeFailures()
        try write(.song(record))
    }

    func write(failure: InputEnd) throws(Problem) -> Bool {
        failures.append(failure)
        if format == .json || selection?.isComplete == true { try writeFailures() }
        return true
    }

    func finish() throws(Problem) {
        if selection == nil { selection = SummarySelection([], []) }
        try writeFailures()
        if !run.isComplete { album?.giveUp() }
        try finishAlbum()
    }

    private func writeFailures() throws(Problem) {
        guard selection != nil else { return }
        for failure in failures { try write(.failure(failure)) }
        failures = []
    }

    private func finishAlbum() throws(Problem) {
        let rows = album?.takeRows() ?? []
        album = nil
        for row in rows { try write(row) }
    }

    /// Writes a row, or lets it wait for the other songs of its folder.
    private func write(_ row: Album.Row) throws(Problem) {
        album?.add(row)
        guard let selection, album?.waits != true else { return }
        for row in album?.takeRows() ?? [row] {
            switch row {
            case .song(let record): try write(selection.members(of: record), selection)
            case .failure(let failure): try write(selection.members(of: failure), selection)
            }
        }
    }

    private func write(_ members: [JSONValue.Member], _ selection: SummarySelection) throws(Problem) {
        switch format {
        case .csv:
            if !hasHeader { try file.appendHeader(selection.columns.map(\.name)) }
            for (index, value) in selection.row(of: members).enumerated() {
                if index > 0 { file.buffer.append(",") }
                file.buffer.append(field: value)
            }
        case .text:
            let text = text ?? SummaryText(selection)
            self.text = text
            let lines = (hasHeader ? "" : text.header + "\n") + text.row(of: members)
            file.buffer.append(bytes: Array(lines.utf8))
        case .auto, .json:
            file.buffer.append(.object([.init("type", .text(SummaryRecord.type))] + members))
        }
        file.buffer.append("\n")
        hasHeader = true
    }
}
