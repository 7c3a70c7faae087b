/// All types of records and controls that a program declares: those of the plugin API, then those of its plugins.
public struct RecordCatalog: Sendable, Hashable {
    /// The types of event records, in the order of the manual: what analyzers detect, what plugins declare, what the pipeline reports.
    public private(set) var events: [RecordType]
    /// The types of controls, in the order of the plugins that handle them.
    public private(set) var controls: [ControlType]
    /// Names that were declared twice, with different fields. A program with any cannot assemble a pipeline.
    public private(set) var conflicts: [String] = []

    /// The types of the plugin API alone.
    public static let standard = RecordCatalog()

    private static let detected: [RecordType] = [.onset, .beat, .analyzerEvent]
    private static let reported: [RecordType] = [.control, .device, .gap, .polarity, .dropped]

    /// A catalog with the types that plugins declare. A type that several plugins declare in the same way counts once.
    public init(records: [RecordType] = [], controls: [ControlType] = []) {
        var declared: [RecordType] = []
        for type in records {
            let known = Self.detected + Self.reported + declared
            if let other = known.first(where: { $0.name == type.name }) {
                if other.fields != type.fields {
                    conflicts.append("two plugins declare the record type \"\(type.name)\" with different fields")
                }
            } else if type.name == SummaryRecord.type || (RecordSchema.first + RecordSchema.last).contains(where: { $0.type == type.name })
            {
                conflicts.append("a plugin declares the record type \"\(type.name)\", which is Hemiola's own")
            } else {
                declared.append(type)
            }
        }
        events = Self.detected + declared + Self.reported
        self.controls = []
        for type in controls {
            if let other = self.controls.first(where: { $0.name == type.name }) {
                if other.fields != type.fields {
                    conflicts.append("two plugins declare the control \"\(type.name)\" with different fields")
                }
            } else {
                self.controls.append(type)
            }
        }
    }

    /// All record types, in the order of the manual: `header`, `batch`, those of events, `end`, `failure`.
    public var recordTypes: [String] {
        RecordSchema.first.map(\.type) + events.map(\.name) + RecordSchema.last.map(\.type)
    }

    /// The record type of that name.
    public func event(_ name: String) -> RecordType? {
        events.first { $0.name == name }
    }

    /// The control type of that name.
    public func control(_ name: String) -> ControlType? {
        controls.first { $0.name == name }
    }

    /// The fields of a type's records, after `type` and `t`. Those of controls are in the record of a control: optional, because each
    /// control has only its own.
    public func fields(of type: RecordType) -> [Field] {
        type.fields.flatMap { field -> [Field] in
            guard type == .control, field.name == "control" else { return [field] }
            var fields = [field] + fieldsOfControls
            fields[0].kind = .choice(controls.map(\.name))
            for place in fields.indices.dropFirst() { fields[place].isOptional = true }
            return fields
        }
    }

    /// The fields of all controls, each name once, in the order of the controls. A field of several controls accepts the values of each.
    public var fieldsOfControls: [Field] {
        var fields: [Field] = []
        for field in controls.flatMap(\.fields) {
            if let place = fields.firstIndex(where: { $0.name == field.name }) {
                fields[place].widen(toAccept: field)
            } else {
                fields.append(field)
            }
        }
        return fields
    }
}
