internal import Hemiola
internal import HemiolaFieldMaps

/// Messages that are sent or lost together: the values of a batch, or one record.
struct MessageGroup {
    struct Message {
        var topic: String
        var payload: [UInt8]
        /// Whether the broker keeps it for later subscribers, although the setting `retain` is false.
        var isRetained = false
    }

    let messages: [Message]
    /// Whether they are the values of a batch.
    let isBatch: Bool
    /// The bytes of all payloads.
    let size: Int

    init(_ messages: [Message], isBatch: Bool = false) {
        self.messages = messages
        self.isBatch = isBatch
        size = messages.reduce(0) { $0 + $1.payload.count }
    }
}

/// Encodes the records of one stream as messages.
struct MessageEncoder: ~Copyable {
    /// A feature that is published under its own topic.
    private struct Column {
        var topic: String
        var handle: FeatureHandle
        var isArray: Bool
        var unit: Unit
    }

    private let settings: MQTTSettings
    private let format: StreamFormat
    private let encoder: RecordEncoder
    private let columns: [Column]
    /// What a field map publishes instead, with the topic of each of its entries.
    private var routes: FieldRoutes?
    private let mappedTopics: [String]
    private var buffer = JSONBuffer(capacity: 4096)
    /// The stream time from which on the next values are published.
    private var next = 0.0

    /// - Throws: The map names something that the stream does not have, or an invalid topic.
    init(_ stream: StreamHeader, _ settings: MQTTSettings, map: FieldMap?, selection: Selection) throws(Problem) {
        self.settings = settings
        routes = try map.map { map throws(Problem) in
            try FieldRoutes(map, for: stream, checkingDestinations: MQTTSettings.fault(inTopic:))
        }
        mappedTopics = map?.entries.map(\.destination) ?? []
        format = stream.format
        encoder = RecordEncoder(stream, selection: selection)
        let sections = settings.batches == .fields && selection.contains("batch") ? stream.layout.sections : []
        columns = sections.flatMap { section in
            section.features.filter { selection.contains(section.analyzer, $0.feature.name) }.map {
                Column(
                    topic: settings.topic("\(section.analyzer)/\($0.feature.numberKey)"), handle: $0.handle, isArray: $0.feature.isArray,
                    unit: $0.feature.unit)
            }
        }
    }

    /// The messages of a batch: its values where they are due, then its events.
    mutating func groups(of batch: borrowing Batch) -> [MessageGroup] {
        let end = format.seconds(at: batch.endFrame)
        var groups: [MessageGroup] = []
        if batch.hasValues, end >= next {
            groups = values(of: batch)
            next += settings.interval
            // After a gap, and with an interval that is shorter than a batch.
            if next <= end { next = end + settings.interval }
        }
        for place in batch.events.indices { groups += self.groups(of: batch.events[place], batchEnd: end) }
        return groups
    }

    /// The messages of an event; none if the map has no entry for its type, or if its type is not selected.
    mutating func groups(of event: Event, batchEnd: Double) -> [MessageGroup] {
        if routes != nil { return mapped { $0.forEachValue(of: event, $1) } }
        return record(event.type.name) { $0.encode(event, batchEnd: batchEnd, into: &$1) }
    }

    /// The message of the header; none if it is not selected.
    mutating func header() -> [MessageGroup] {
        record("header") { $0.encodeHeader(into: &$1) }
    }

    /// The messages of the events after the last batch, then that of the end.
    mutating func end(_ summary: StreamSummary) -> [MessageGroup] {
        let end = format.seconds(at: summary.frames)
        let groups = summary.lateEvents.flatMap { self.groups(of: $0, batchEnd: end) }
        var rest = summary
        rest.lateEvents = []
        return groups + record("end") { $0.encodeEnd(rest, into: &$1) }
    }

    // MARK: - Messages

    private mutating func values(of batch: borrowing Batch) -> [MessageGroup] {
        if routes != nil { return mapped(isBatch: true) { $0.forEachValue(of: batch, $1) } }
        if settings.batches == .record { return record("batch", isBatch: true) { $0.encodeLine(batch, into: &$1) } }
        if columns.isEmpty { return [] }
        let row = batch.row
        var messages: [MessageGroup.Message] = []
        for column in columns {
            let values = row.extracting(column.handle.offset..<column.handle.offset + column.handle.count)
            buffer.removeAll()
            if column.isArray { buffer.append("[") }
            buffer.append(values, column.unit.digits)
            if column.isArray { buffer.append("]") }
            messages.append(MessageGroup.Message(topic: column.topic, payload: buffer.bytes))
        }
        return [MessageGroup(messages, isBatch: true)]
    }

    /// The messages of a field map.
    private mutating func mapped(
        isBatch: Bool = false, _ read: (inout FieldRoutes, FieldRoutes.Receiver) -> Void
    ) -> [MessageGroup] {
        var messages: [MessageGroup.Message] = []
        let topics = mappedTopics
        read(&routes!) { entry, values in
            messages.append(MessageGroup.Message(topic: topics[entry], payload: Self.payload(values)))
        }
        return messages.isEmpty ? [] : [MessageGroup(messages, isBatch: isBatch)]
    }

    /// Values as JSON; a single text, which subscribers compare with `on` or `open`, without quotes.
    private static func payload(_ values: [ParameterValue]) -> [UInt8] {
        if values.count == 1, case .text(let text) = values[0] { return Array(text.utf8) }
        var buffer = JSONBuffer(capacity: 32)
        buffer.append(values.count == 1 ? values[0] : .list(values), in: .none)
        return buffer.bytes
    }

    /// A record as one message, without its line break; none if it is not selected, or with a map, which names everything that is
    /// published.
    private mutating func record(
        _ type: String, isBatch: Bool = false, _ encode: (RecordEncoder, inout JSONBuffer) -> Void
    ) -> [MessageGroup] {
        guard routes == nil else { return [] }
        buffer.removeAll()
        encode(encoder, &buffer)
        guard buffer.count > 0 else { return [] }
        let payload = buffer.withUnsafeBytes { Array($0.dropLast()) }
        return [MessageGroup([MessageGroup.Message(topic: settings.topic(type), payload: payload)], isBatch: isBatch)]
    }
}
