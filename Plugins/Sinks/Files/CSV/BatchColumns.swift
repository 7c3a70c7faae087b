internal import HemiolaRecords
internal import HemiolaSignal

/// The columns of a stream's batches: their names, and where each value lies.
struct BatchColumns: Sendable {
    /// Where a field comes from.
    enum Source: Sendable {
        case file, number, frame, time
        case value(offset: Int, digits: Unit.Digits)
        /// The text of a category: its fields, encoded.
        case label(offset: Int, fields: [[UInt8]])
        /// The number of a category.
        case category(offset: Int)
        /// The stream has no such column.
        case nothing
    }

    let names: [String]
    private let sources: [Source]
    private let header: StreamHeader

    init(_ header: StreamHeader, selection: Selection) {
        var columns: [(name: String, source: Source)] = [("n", .number), ("frame", .frame), ("t", .time)]
        if header.file != nil { columns.insert(("file", .file), at: 0) }
        for section in header.layout.sections {
            for column in section.features where selection.contains(section.analyzer, column.feature.name) {
                if column.feature.isCategory {
                    let (offset, path) = (column.handle.offset, "\(section.analyzer).")
                    columns.append((path + column.feature.name, .label(offset: offset, fields: column.feature.labels.map(Self.field))))
                    columns.append((path + column.feature.numberName, .category(offset: offset)))
                    continue
                }
                for index in 0..<column.handle.count {
                    let place = column.feature.isArray ? "[\(index)]" : ""
                    let source = Source.value(offset: column.handle.offset + index, digits: column.feature.unit.digits)
                    columns.append(("\(section.analyzer).\(column.feature.name)\(place)", source))
                }
            }
        }
        self.init(names: columns.map(\.name), sources: columns.map(\.source), header: header)
    }

    private init(names: [String], sources: [Source], header: StreamHeader) {
        self.names = names
        self.sources = sources
        self.header = header
    }

    private static func field(_ label: String) -> [UInt8] {
        var buffer = JSONBuffer(capacity: 16)
        buffer.append(field: label)
        return buffer.bytes
    }

    /// The same stream in the columns of a table that an earlier stream began.
    func arranged(as table: [String]) -> BatchColumns {
        guard table != names else { return self }
        // In a recording, an analyzer may have the name of another one with a dot.
        let places = Dictionary(zip(names, sources)) { first, _ in first }
        return BatchColumns(names: table, sources: table.map { places[$0] ?? .nothing }, header: header)
    }

    /// Appends the row of a batch.
    func encode(_ batch: borrowing Batch, into buffer: inout JSONBuffer) {
        let row = batch.row
        for index in sources.indices {
            if index > 0 { buffer.append(byte: UInt8(ascii: ",")) }
            switch sources[index] {
            case .file: buffer.append(field: header.file ?? "")
            case .number: buffer.append(integer: batch.number)
            case .frame: buffer.append(integer: batch.frame)
            case .time: buffer.append(fixed: header.format.seconds(at: batch.frame), decimals: 6)
            case .value(let offset, let digits):
                if row[offset].isFinite { buffer.append(row.extracting(offset...offset), digits) }
            case .label(let offset, let fields):
                if let number = Int(exactly: row[offset]), fields.indices.contains(number) { buffer.append(bytes: fields[number]) }
            case .category(let offset): if let number = Int64(exactly: row[offset]) { buffer.append(integer: number) }
            case .nothing: break
            }
        }
        buffer.append("\n")
    }
}
