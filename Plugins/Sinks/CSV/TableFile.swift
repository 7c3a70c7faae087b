internal import HemiolaOutput
internal import HemiolaWire

/// A table under way: its columns, which stay the same to the end of the file, and rows of fields.
///
/// The columns are those of the first stream that has a row.
final class TableFile {
    /// Bytes that are worth a `write(2)`.
    private static let blockSize = 64 * 1024

    private let output: OutputFile
    private let name: String
    private let writesEveryRow: Bool
    private var buffer = JSONBuffer(capacity: 2 * TableFile.blockSize)
    private(set) var columns: [String] = []
    private var hasHeader = false

    init(_ target: OutputTarget, appends: Bool, writesEveryRow: Bool, compression: Compression?) throws(OutputError) {
        output = try OutputFile(target, appends: appends, compression: compression)
        name = target.name
        self.writesEveryRow = writesEveryRow
    }

    /// A stream with these columns begins. It may lack some that the table has, whose fields then stay empty.
    func begin(_ columns: [String]) throws(OutputError) {
        guard hasHeader else {
            self.columns = columns
            return
        }
        let known = Set(self.columns)
        guard let new = columns.first(where: { !known.contains($0) }) else { return }
        throw OutputError(
            "cannot write \(name): a stream has the column \(new), which the table began without; "
                + "analyse the file that has most columns first, write one table per file, or leave columns out with select=")
    }

    /// Writes a row: one field for each column, in order, with `separate` between them.
    func append(_ row: (inout JSONBuffer) -> Void) throws(OutputError) {
        try appendHeader()
        row(&buffer)
        buffer.append("\n")
        if writesEveryRow || buffer.count >= Self.blockSize { try flush() }
    }

    private func appendHeader() throws(OutputError) {
        guard !hasHeader else { return }
        hasHeader = true
        var header = JSONBuffer(capacity: 1024)
        for (index, column) in columns.enumerated() {
            if index > 0 { header.append(",") }
            header.append(field: column)
        }
        let old = output.firstLine()
        if output.startsInsideLine { buffer.append("\n") }
        let text = header.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        if old.isEmpty {
            buffer.append(bytes: Array(text.utf8))
            buffer.append("\n")
        } else if old != text {
            throw OutputError(
                "cannot add to \(name): it has other columns than this run; write to another file, or choose columns with select=")
        }
    }

    /// Hands everything to the system.
    func flush() throws(OutputError) {
        guard buffer.count > 0 else { return }
        // Unsafe: `write(2)` takes a pointer, which is good while the buffer lends it.
        try buffer.withUnsafeBytes { bytes throws(OutputError) in try output.write(bytes, flushes: writesEveryRow) }
        buffer.removeAll()
    }

    /// The table is complete, if only its header: `flush` still has to hand it on.
    func complete() throws(OutputError) {
        try appendHeader()
        try flush()
    }

    /// Gives the file its name. One that is never finished disappears.
    func finish() throws(OutputError) {
        try output.finish()
    }
}
