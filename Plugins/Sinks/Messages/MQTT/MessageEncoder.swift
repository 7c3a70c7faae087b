internal import Hemiola
internal import HemiolaFieldMaps
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

/// What is published of a batch.
enum BatchForm: String, CaseIterable {
    /// `fields`: a topic for each feature. `record`: one topic with the record as JSON. `none`: nothing.
    case fields, record, none
}

/// Messages that are sent or dropped together: the values of a batch, one record, or the status.
struct MessageGroup: Sendable {
    struct Message: Sendable {
        var topic: String
        /// Its payload, in `bytes`.
        var range: Range<Int>
    }

    var messages: [Message] = []
    var bytes: [UInt8] = []
    /// Whether it has the values of a batch.
    var isBatch = false
    /// Whether it is the status of the connection, which the broker always keeps.
    var isStatus = false

    init() {}

    init(status: String, topic: String) {
        bytes = Array(status.utf8)
        messages = [Message(topic: topic, range: bytes.indices)]
        isStatus = true
    }

    /// Empties the group, and keeps its memory unless there is another reference to it.
    fileprivate mutating func reset(isBatch: Bool) {
        messages.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
        self.isBatch = isBatch
    }

    /// Adds the payloads, one after the other.
    fileprivate mutating func setBytes(_ buffer: borrowing JSONBuffer, count: Int) {
        buffer.withUnsafeBytes { bytes.append(contentsOf: $0.prefix(count)) }
    }
}

/// Encodes the records of one stream as messages.
///
/// One group is used for all messages: of a batch, nothing is allocated unless the receiver has kept the group before.
struct MessageEncoder: ~Copyable {
    /// A feature that is published under its own topic.
    private struct Column {
        var topic: String
        var handle: FeatureHandle
        var isArray: Bool
        var unit: Unit
    }

    private let topics: Topics
    private let form: BatchForm
    /// Seconds of stream time between two publications of values.
    private let interval: Double
    private let format: StreamFormat
    private let selection: Selection
    private let encoder: RecordEncoder
    private let columns: [Column]
    private let batchTopic: String
    /// Whether batches are published without a map.
    private let publishesBatches: Bool
    /// What a field map publishes instead, with the topic of each of its entries.
    private var routes: FieldRoutes?
    private let mappedTopics: [String]
    private var buffer = JSONBuffer(capacity: 4096)
    private var group = MessageGroup()
    /// The stream time from which on the next values are published.
    private var next = 0.0

    /// - Throws: The map names something that the stream does not have, or an invalid topic.
    init(
        _ stream: StreamHeader, _ topics: Topics, _ form: BatchForm, map: FieldMap?, interval: Double, selection: Selection
    ) throws(Problem) {
        routes = try map.map { map throws(Problem) in
            try FieldRoutes(map, for: stream, checkingDestinations: Topics.fault(inTopic:))
        }
        mappedTopics = map?.entries.map(\.destination) ?? []
        self.topics = topics
        self.form = form
        self.interval = interval
        self.selection = selection
        format = stream.format
        encoder = RecordEncoder(stream, selection: selection, version: HemiolaVersion.current)
        batchTopic = topics.record("batch")
        columns =
            form != .fields || !selection.contains("batch")
            ? []
            : stream.layout.sections.flatMap { section in
                section.features.filter { selection.contains(section.analyzer, $0.feature.name) }.map {
                    Column(
                        topic: topics.feature($0.feature.name, of: section.analyzer), handle: $0.handle, isArray: $0.feature.isArray,
                        unit: $0.feature.unit)
                }
            }
        publishesBatches = form == .fields ? !columns.isEmpty : form == .record && selection.contains("batch")
    }

    private func isDue(_ batch: borrowing Batch) -> Bool {
        (publishesBatches || routes != nil) && batch.hasValues && format.seconds(at: batch.endFrame) >= next
    }

    /// Passes on the messages of a batch: its values where they are due, then its events.
    mutating func encode(_ batch: borrowing Batch, _ publish: (MessageGroup) -> Void) {
        let end = format.seconds(at: batch.endFrame)
        if isDue(batch) {
            next += interval
            // After a gap, and with an interval that is shorter than a batch.
            if next <= end { next = interval > 0 ? end + interval : end }
            if routes != nil {
                encodeMapped(isBatch: true) { $0.forEachValue(of: batch, $1) }
            } else if form == .fields {
                encodeFields(batch)
            } else {
                encodeRecord(batchTopic, isBatch: true) { $0.encodeLine(batch, into: &$1) }
            }
            pass(to: publish)
        }
        for place in batch.events.indices { encode(batch.events[place], batchEnd: end, publish) }
    }

    /// Passes on the messages of an event; none if the map has no entry for its type, or if its type is not selected.
    mutating func encode(_ event: Event, batchEnd: Double, _ publish: (MessageGroup) -> Void) {
        if routes != nil {
            encodeMapped(isBatch: false) { $0.forEachValue(of: event, $1) }
        } else {
            encodeRecord(topics.record(event.type.name)) { $0.encode(event, batchEnd: batchEnd, into: &$1) }
        }
        pass(to: publish)
    }

    /// Passes on the message of the header; none if it is not selected.
    mutating func encodeHeader(_ publish: (MessageGroup) -> Void) {
        encodeRecord(topics.record("header")) { $0.encodeHeader(into: &$1) }
        pass(to: publish)
    }

    /// Passes on the messages of the events after the last batch, then of the end.
    mutating func encodeEnd(_ summary: StreamSummary, _ publish: (MessageGroup) -> Void) {
        let end = format.seconds(at: summary.frames)
        for event in summary.lateEvents { encode(event, batchEnd: end, publish) }
        var rest = summary
        rest.lateEvents = []
        encodeRecord(topics.record("end")) { $0.encodeEnd(rest, into: &$1) }
        pass(to: publish)
    }

    // MARK: - The group

    private func pass(to publish: (MessageGroup) -> Void) {
        if !group.messages.isEmpty { publish(group) }
    }

    private mutating func encodeFields(_ batch: borrowing Batch) {
        group.reset(isBatch: true)
        buffer.removeAll()
        let row = batch.row
        for column in columns {
            let start = buffer.count
            let values = row.extracting(column.handle.offset..<column.handle.offset + column.handle.count)
            if column.isArray { buffer.append("[") }
            switch column.unit.numberText {
            case .decimals(let decimals): buffer.appendFixed(values, decimals: decimals)
            case .significant: buffer.appendSignificant(values)
            case .all: buffer.appendAll(digitsOf: values)
            }
            if column.isArray { buffer.append("]") }
            group.messages.append(.init(topic: column.topic, range: start..<buffer.count))
        }
        group.setBytes(buffer, count: buffer.count)
    }

    /// The messages of a field map.
    private mutating func encodeMapped(isBatch: Bool, _ read: (inout FieldRoutes, FieldRoutes.Receiver) -> Void) {
        group.reset(isBatch: isBatch)
        guard var routes else { return }
        // A copy of the routes would be written to otherwise.
        self.routes = nil
        buffer.removeAll()
        read(&routes) { entry, values in
            let start = buffer.count
            let isList = values.count != 1
            if isList { buffer.append("[") }
            for (index, value) in values.enumerated() {
                if index > 0 { buffer.append(",") }
                buffer.append(payload: value, isInList: isList)
            }
            if isList { buffer.append("]") }
            group.messages.append(.init(topic: mappedTopics[entry], range: start..<buffer.count))
        }
        group.setBytes(buffer, count: buffer.count)
        self.routes = routes
    }

    /// A record as one message, without its line break; no message if the encoder writes nothing, or with a map, which names everything
    /// that is published.
    private mutating func encodeRecord(
        _ topic: String, isBatch: Bool = false, _ encode: (RecordEncoder, inout JSONBuffer) -> Void
    ) {
        group.reset(isBatch: isBatch)
        if routes != nil { return }
        buffer.removeAll()
        encode(encoder, &buffer)
        guard buffer.count > 0 else { return }
        let count = buffer.count - 1
        group.messages.append(.init(topic: topic, range: 0..<count))
        group.setBytes(buffer, count: count)
    }
}

extension JSONBuffer {
    /// Appends a value as JSON; text alone, which subscribers compare with `on` or `open`, without quotes.
    fileprivate mutating func append(payload value: ParameterValue, isInList: Bool) {
        switch value {
        case .none, .list: append("null")
        case .boolean(let flag): flag ? append("true") : append("false")
        case .integer(let number): append(integer: number)
        case .number(let number): append(significant: number)
        case .text(let text): isInList ? append(string: text) : append(bytes: Array(text.utf8))
        }
    }
}
