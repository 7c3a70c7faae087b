internal import HemiolaSignal
public import HemiolaSystem

/// Reads the records of JSON Lines that Hemiola wrote, line by line: the inverse of ``RecordEncoder``.
///
///     var decoder = RecordDecoder(catalog: catalog)
///     switch try decoder.decode(line) {
///     case .header(let header): …
///
/// A value that is encoded again has the same text. Times of events, which are written with six decimals, are chosen such that all fields
/// that depend on them have the same text too.
///
/// A record whose type or control the catalog does not declare keeps its line, which is passed on unread: a component that is not part of
/// this program may have emitted it.
public struct RecordDecoder: Sendable {
    /// A decoded line.
    public enum Record: Sendable {
        /// The first record of a stream. Its catalog is that of the decoder; it is never live.
        case header(StreamHeader)
        /// A batch, without its events.
        case batch(BatchRecord)
        /// An event, and its `emitted_t` in seconds; nil: its type has no such field.
        case event(Event, emitted: Double?)
        /// The last record of a stream, without late events.
        case end(StreamSummary)
        /// An input that failed.
        case failure(InputEnd)
    }

    /// The record of a batch.
    public struct BatchRecord: Sendable, Hashable {
        /// 0, 1, 2 … since the stream's start.
        public var number: Int64
        /// Its first frame.
        public var frame: Int64
        /// Whether it is shorter than the other batches. Its length is not part of the record.
        public var isPartial: Bool
        /// The values, in the layout of the header. NaN: there is none.
        public var row: [Float]
    }

    /// Maximum number of values in the row of a batch.
    public static let maximumWidth = 1 << 18
    /// Maximum number of analyzers, of outputs of an analyzer and of its events.
    static let maximumDeclarations = 1024

    let catalog: RecordCatalog
    /// The header of the current stream.
    private(set) var header: StreamHeader?
    /// The types of records and controls that the catalog does not declare, in the order of their first record.
    public private(set) var undeclared: [String] = []

    /// A decoder for the records of one file or pipe.
    ///
    /// - Parameter catalog: The types of records and controls that the program declares.
    public init(catalog: RecordCatalog) {
        self.catalog = catalog
    }

    /// Decodes a line.
    ///
    /// - Parameter line: Any bytes, without the newline.
    /// - Throws: What is wrong with the line. The decoder can decode further lines.
    /// - Complexity: O(bytes).
    public mutating func decode(_ line: [UInt8]) throws(Problem) -> Record {
        let record = try JSONValue(line)
        let type = try record.text("type")
        if type == "header" {
            let schema = try record.integer("schema")
            guard schema == StreamHeader.schema else {
                throw Problem(
                    "schema \(schema) is not supported: another version of Hemiola wrote it; this one reads schema \(StreamHeader.schema)")
            }
            let header = try StreamHeader(record, catalog)
            self.header = header
            return .header(header)
        }
        if type == "failure" {
            let (file, bytes) = try record.path()
            var row = (input: InputEnd(file: file ?? "", fileBytes: bytes, streamCount: 0), isPartial: Bool?.none)
            try RecordSchema.failure.read(record, into: &row)
            return .failure(row.input)
        }
        guard let header else {
            throw Problem("a \"\(type.prefix(40))\" record before any header; a recording needs its header (--select header+…)")
        }
        switch type {
        case "batch": return .batch(try batch(record, header))
        case "end":
            var row = (stream: StreamSummary(frames: 0, batches: 0, reason: .error), time: 0.0, lines: Int?.none)
            try RecordSchema.end.read(record, into: &row)
            return .end(row.stream)
        default: return try event(type, record, line, header)
        }
    }

    mutating func note(undeclared name: String) {
        // A file of a stranger may have many.
        if undeclared.count < 100, !undeclared.contains(name) { undeclared.append(name) }
    }

    // MARK: - Batches

    private func batch(_ record: JSONValue, _ header: StreamHeader) throws(Problem) -> BatchRecord {
        var row = [Float](repeating: .nan, count: header.layout.width)
        for section in header.layout.sections {
            guard let values = record[section.analyzer] else { continue }
            for column in section.features {
                guard let value = values[column.feature.numberKey] else { continue }
                let place = column.handle.offset
                if column.feature.isArray, let elements = value.elements, elements.count == column.handle.count {
                    for (index, element) in elements.enumerated() {
                        row[place + index] = try Self.value(element, section.analyzer, column.feature)
                    }
                } else if column.feature.isArray {
                    throw Problem("\"\(section.analyzer).\(column.feature.name)\" is not a list of \(column.handle.count) numbers")
                } else {
                    row[place] = try Self.value(value, section.analyzer, column.feature)
                }
            }
        }
        return BatchRecord(
            number: try record.count("n"), frame: try record.count("frame"), isPartial: try record.optionalFlag("partial") ?? false,
            row: row)
    }

    private static func value(_ value: JSONValue, _ analyzer: String, _ feature: Feature) throws(Problem) -> Float {
        if value == .null { return .nan }
        guard let number = value.double else { throw Problem("\"\(analyzer).\(feature.numberKey)\" is not a number") }
        return Float(number)
    }
}

extension JSONValue {
    /// A number of frames, batches or samples: 0…2⁵³.
    func count(_ key: String) throws(Problem) -> Int64 {
        let number = Int64(try integer(key))
        guard (0...StreamFormat.lastFrame).contains(number) else { throw Problem("\"\(key)\" is \(number), which is out of range") }
        return number
    }

    /// A time in seconds, whose frame is exact in JSON.
    func time(_ key: String, _ format: StreamFormat) throws(Problem) -> Double {
        let time = try number(key)
        guard time.magnitude < format.seconds(at: StreamFormat.lastFrame) else {
            throw Problem("\"\(key)\" is \(time), which is out of range")
        }
        return time
    }

    func optionalTime(_ key: String, _ format: StreamFormat) throws(Problem) -> Double? {
        has(key) ? try time(key, format) : nil
    }
}

extension Unit {
    /// The unit with which a number is written in full: the first of those that determine different digits.
    ///
    /// - Parameter name: The name of the number, whose ending suggests its unit.
    static func writing(_ number: Double, named name: String) -> Unit {
        let suggested: Unit? =
            name.hasSuffix("_s") ? .seconds : name.hasSuffix("_hz") ? .hertz : name.hasSuffix("_db") ? "dB" : nil
        let units = (suggested.map { [$0] } ?? []) + [.none, .seconds, "dB", .hertz]
        return units.first { number.isWritten(in: $0) } ?? units[0]
    }
}

extension Double {
    /// Whether its text in a unit has the same value.
    fileprivate func isWritten(in unit: Unit) -> Bool {
        if !isFinite { return true }
        var buffer = JSONBuffer(capacity: 64)
        buffer.append(self, in: unit)
        return Double(buffer.text) == self
    }
}
