internal import Hemiola
internal import HemiolaSignal
internal import HemiolaWire

/// What the columns of a stream's events are called, and what is in them: the fields of the JSON records.
struct EventTable: Sendable {
    /// What the record of each type has besides `type`, `file` and `t`. A table has those of the types that are selected,
    /// whether any such event comes or not.
    private static let fields: [(type: String, names: [String])] = [
        ("onset", ["strength", "emitted_t"]),
        ("beat", ["bpm", "position", "confidence", "emitted_t", "due_in_s"]),
        ("event", ["duration_s", "analyzer", "output", "values", "label"]),
        ("preset", ["frame", "emitted_t", "action", "name", "cut", "blend_s", "reason", "next_in_s"]),
        ("speed", ["speed"]),
        ("key", ["key", "note", "event"]),
        (
            "control",
            ["frame", "control", "bpm", "name", "locked", "speed", "presets", "names", "key", "note", "event", "from"]
        ),
        ("device", ["name", "description", "state", "sample_rate", "channels"]),
        ("gap", ["duration_s", "frames", "reason"]),
        ("dropped", ["sink", "client", "batches", "events"]),
    ]

    let names: [String]
    private let encoder: RecordEncoder

    init(_ header: StreamHeader, selection: Selection) {
        var names = header.file == nil ? ["type", "t"] : ["file", "type", "t"]
        for (type, fields) in Self.fields where selection.contains(type) {
            names += fields.filter { !names.contains($0) }
        }
        self.names = names
        encoder = RecordEncoder(header, selection: selection, version: HemiolaVersion.current)
    }

    /// Whether a selection leaves any events.
    static func isWanted(by selection: Selection) -> Bool {
        fields.contains { selection.contains($0.type) }
    }

    /// The fields of an event by their names; nil when it is not selected.
    func fields(of event: Event, batchEnd: Double) -> [String: String]? {
        var record = JSONBuffer(capacity: 512)
        encoder.encode(event, batchEnd: batchEnd, into: &record)
        return record.count == 0 ? nil : record.withUnsafeBytes { FlatRecord.fields(of: Array($0)) }
    }
}
