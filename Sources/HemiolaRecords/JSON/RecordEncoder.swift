internal import HemiolaSignal
internal import HemiolaSystem

/// Writes the records of one stream as JSON Lines: header, batches, events, end.
///
/// Created once per stream. All text of a batch line except the numbers (braces, keys, names of analyzers) is encoded then; writing a line
/// copies that text and formats the numbers between, into a buffer that the caller reuses. Records outside the selection are not
/// written.
///
/// - Complexity: O(bytes written) per record; nothing is allocated for a batch line or its events while the buffer suffices.
public struct RecordEncoder: Sendable {
    /// How the values of a column are written.
    private enum Format {
        case numbers(Unit.Digits)
        /// The number of a category, a whole one.
        case integer
        /// The text of a category: the first of its labels in `labels`, and how many there are.
        case label(first: Int, count: Int)
    }

    /// Encoded text and the numbers that follow it.
    private struct Step {
        /// The text, in `literals`.
        var literal: Range<Int>
        /// The values, in the row.
        var columns: Range<Int>
        var format: Format
    }

    /// The stream.
    public let header: StreamHeader
    /// The records and features that are written.
    public let selection: Selection
    /// `,"file":"…"`, with `,"file_base64":"…"` where the path is not UTF-8, or nothing.
    let fileField: [UInt8]
    /// The declared unit of each analyzer's event outputs, for the values of `event` records.
    let outputUnits: [(analyzer: String, output: String, unit: Unit)]
    private let writesBatches: Bool
    private let writesEvents: Bool
    private let literals: [UInt8]
    private let steps: [Step]
    /// The encoded labels of all categories, in `literals`.
    private let labels: [Range<Int>]

    /// An encoder for the streams of one sink.
    ///
    /// - Parameters:
    ///   - header: The description of the stream.
    ///   - selection: The record types and features to write.
    public init(_ header: StreamHeader, selection: Selection = .all) {
        self.header = header
        self.selection = selection
        var field = JSONBuffer(capacity: 0)
        field.append(members: RecordSchema.path.members(of: (header.file, header.fileBytes)))
        fileField = field.bytes
        outputUnits = header.analyzers.flatMap { analyzer in
            analyzer.outputs.events.map { (analyzer.name, $0.name, $0.unit) }
        }
        writesBatches = selection.contains("batch")
        writesEvents = header.catalog.events.contains { selection.contains($0.name) }

        var literals = JSONBuffer(capacity: 1024)
        var steps: [Step] = []
        var labels: [Range<Int>] = []
        for label in header.layout.sections.flatMap(\.features).flatMap(\.feature.labels) {
            let first = literals.count
            literals.append(string: label)
            labels.append(first..<literals.count)
        }
        var start = literals.count
        var labelCount = 0
        for section in header.layout.sections {
            // The first label of each feature; those of features that are not selected are skipped.
            let firstLabels = section.features.map { column in
                defer { labelCount += column.feature.labels.count }
                return labelCount
            }
            let columns = zip(section.features, firstLabels).filter { selection.contains(section.analyzer, $0.0.feature.name) }
            guard !columns.isEmpty else { continue }
            literals.append(",")
            literals.append(string: section.analyzer)
            for (index, (column, firstLabel)) in columns.enumerated() {
                literals.append(index == 0 ? ":{" : ",")
                literals.append(string: column.feature.name)
                literals.append(column.feature.isArray ? ":[" : ":")
                let first = column.handle.offset
                let values = first..<first + column.handle.count
                if column.feature.isCategory {
                    let format = Format.label(first: firstLabel, count: column.feature.labels.count)
                    steps.append(Step(literal: start..<literals.count, columns: values, format: format))
                    start = literals.count
                    literals.append(",")
                    literals.append(string: column.feature.numberName)
                    literals.append(":")
                }
                let format = column.feature.isCategory ? Format.integer : .numbers(column.feature.unit.digits)
                steps.append(Step(literal: start..<literals.count, columns: values, format: format))
                start = literals.count
                if column.feature.isArray { literals.append("]") }
            }
            literals.append("}")
        }
        // The text after the last number.
        steps.append(Step(literal: start..<literals.count, columns: 0..<0, format: .numbers(.significant)))
        self.literals = literals.bytes
        self.steps = steps
        self.labels = labels
    }
}

// MARK: - Batches

extension RecordEncoder {
    /// Writes a batch's line, then those of its events.
    public func encode(_ batch: borrowing Batch, into buffer: inout JSONBuffer) {
        encodeLine(batch, into: &buffer)
        guard writesEvents, !batch.events.isEmpty else { return }
        let end = header.format.seconds(at: batch.endFrame)
        for index in batch.events.indices {
            encode(batch.events[index], batchEnd: end, into: &buffer)
        }
    }

    /// Writes a batch's line without its events; nothing for a batch without values.
    public func encodeLine(_ batch: borrowing Batch, into buffer: inout JSONBuffer) {
        guard writesBatches, batch.hasValues else { return }
        open(#"{"type":"batch""#, in: &buffer)
        buffer.append(#","n":"#)
        buffer.append(integer: batch.number)
        buffer.append(#","frame":"#)
        buffer.append(integer: batch.frame)
        buffer.append(#","t":"#)
        buffer.append(fixed: header.format.seconds(at: batch.frame), decimals: 6)
        let row = batch.row
        // Unsafe: the buffer copies from raw memory without bounds checks; the ranges were created together with the literals.
        literals.withUnsafeBytes { literals in
            for step in steps {
                buffer.append(bytes: UnsafeRawBufferPointer(rebasing: literals[step.literal]))
                let values = row.extracting(step.columns)
                switch step.format {
                case .numbers(let digits): buffer.append(values, digits)
                case .integer: buffer.append(category: values[0])
                case .label(let first, let count):
                    guard let number = Int(exactly: values[0]), number >= 0, number < count else {
                        buffer.append("null")
                        continue
                    }
                    buffer.append(bytes: UnsafeRawBufferPointer(rebasing: literals[labels[first + number]]))
                }
            }
        }
        if batch.isPartial { buffer.append(#","partial":true"#) }
        close(&buffer)
    }
}

// MARK: - Parts of a line

extension RecordEncoder {
    /// The start of a line: its type, then its file in a run of several.
    func open(_ type: StaticString, in buffer: inout JSONBuffer) {
        buffer.append(type)
        if !fileField.isEmpty { buffer.append(bytes: fileField) }
    }

    func close(_ buffer: inout JSONBuffer) {
        buffer.append("}\n")
        buffer.lineCount += 1
    }
}

extension JSONBuffer {
    /// Adds the record of a failed input: a line of type `failure`.
    ///
    /// - Parameters:
    ///   - end: The end of the input, with an error.
    ///   - isPartial: Whether there is a result of a part of the input; nil: not written.
    public mutating func append(failure end: InputEnd, isPartial: Bool? = nil) {
        append(#"{"type":"failure""#)
        append(members: RecordSchema.path.members(of: (end.file, end.fileBytes)))
        append(members: RecordSchema.failure.members(of: (end, isPartial)))
        append("}\n")
    }

    mutating func append(seconds value: Double) {
        append(fixed: value, decimals: 6)
    }

    mutating func append(_ flag: Bool) {
        append(flag ? "true" : "false")
    }

    /// The elements with commas between them, in brackets.
    mutating func appendList<Element>(_ elements: some Sequence<Element>, _ body: (inout JSONBuffer, Element) -> Void) {
        append("[")
        var isFirst = true
        for element in elements {
            if !isFirst { append(",") }
            isFirst = false
            body(&self, element)
        }
        append("]")
    }

    /// The members with commas between them, in braces.
    mutating func appendObject<Member>(
        _ members: some Sequence<Member>, key: (Member) -> String, _ body: (inout JSONBuffer, Member) -> Void
    ) {
        append("{")
        var isFirst = true
        for member in members {
            if !isFirst { append(",") }
            isFirst = false
            append(string: key(member))
            append(":")
            body(&self, member)
        }
        append("}")
    }
}
