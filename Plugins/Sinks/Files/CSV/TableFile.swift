internal import Hemiola
internal import HemiolaFiles
internal import HemiolaRecords
internal import HemiolaSystem

/// A table under way: its columns, which stay the same to the end of the file, and rows of fields.
///
/// The columns are those of the first stream that has a row.
final class TableFile {
    let path: String
    private var output: BufferedOutput
    private(set) var columns: [String] = []
    private var hasHeader = false

    init(_ path: String, _ output: consuming BufferedOutput) {
        self.path = path
        self.output = output
    }

    private var name: String { OutputTarget(path).name }

    /// Bytes of the file.
    var size: Int64 { output.size }

    /// A stream with these columns begins. It may lack some that the table has, whose fields then stay empty.
    func begin(_ columns: [String]) throws(Problem) {
        guard hasHeader else {
            self.columns = columns
            return
        }
        let known = Set(self.columns)
        guard let new = columns.first(where: { !known.contains($0) }) else { return }
        throw Problem(
            "cannot write \(name): a stream has the column \(new), which the table began without; "
                + "analyse the file that has most columns first, write one table per file, or leave columns out with select=")
    }

    /// Writes a row: one field for each column, in order, with commas between them.
    func append(_ row: (inout JSONBuffer) -> Void) throws(Problem) {
        try appendHeader()
        row(&output.buffer)
        output.buffer.append("\n")
        try output.flushIfDue()
    }

    private func appendHeader() throws(Problem) {
        guard !hasHeader else { return }
        hasHeader = true
        var header = JSONBuffer(capacity: 1024)
        for (index, column) in columns.enumerated() {
            if index > 0 { header.append(",") }
            header.append(field: column)
        }
        let old = output.firstLine
        if output.startsInsideLine { output.buffer.append("\n") }
        let text = header.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        if old.isEmpty {
            output.buffer.append(bytes: Array(text.utf8))
            output.buffer.append("\n")
        } else if old != text {
            throw Problem(
                "cannot add to \(name): it has other columns than this run; write to another file, or choose columns with select=")
        }
    }

    /// Hands all rows to the system.
    func flush() throws(Problem) {
        try output.flush()
    }

    /// The table is complete, if only its header, and handed to the system.
    func complete() throws(Problem) {
        try appendHeader()
        try output.flush()
    }

    /// Gives the file its path, although its streams may go on.
    func finish() throws(Problem) {
        try output.finish()
    }

    /// Ends the file of these streams.
    func finish(_ streams: WrittenStreams, _ opener: OutputOpener, isWholeRun: Bool, ending: OutputEnding) throws(Problem) {
        try opener.finish(&output, at: path, streams, isWholeRun: isWholeRun, ending: ending)
    }
}
