/// The fields of all records. The JSON Schema and the column types are generated from it, and the tests validate every line against it.
public enum RecordSchema {
    /// A type of record.
    public struct Record: Sendable, Hashable {
        /// The value of its key `type`.
        public var type: String
        /// One sentence: when the record is written.
        public var summary: String
        /// Its keys in the order in which they are written, after `type` and `file`. In a batch, the analyzers' objects come
        /// before `partial`.
        public var fields: [Field]
    }

    /// A key of a record, or of an object in it.
    public struct Field: Sendable, Hashable {
        /// The key.
        public var name: String
        /// The JSON type of its value.
        public var type: FieldType
        /// Whether the key may be missing.
        public var isOptional: Bool
        /// One sentence that describes the value.
        public var summary: String

        init(_ name: String, _ type: FieldType, optional isOptional: Bool = false, _ summary: String) {
            self.name = name
            self.type = type
            self.isOptional = isOptional
            self.summary = summary
        }
    }

    /// The one JSON type that a key has in every record.
    public indirect enum FieldType: Sendable, Hashable {
        /// Without a decimal point.
        case integer
        /// Always with a decimal point.
        case number
        /// A number in the range that its feature declares.
        case measurement(minimum: Double?, maximum: Double?)
        /// True or false.
        case boolean
        /// Any text.
        case text
        /// One of these texts.
        case choice([String])
        /// A list; `count` is nil when its length is not fixed.
        case list(FieldType, count: Int?)
        /// An object with these keys.
        case object([Field])
        /// An object whose keys depend on the pipeline.
        case table(FieldType)
        /// The value of a setting: anything but an object.
        case parameter
        /// The number of a summary: a measurement or a count.
        case figure
        /// The type, or null.
        case nullable(FieldType)
    }

    /// The keys that every record begins with.
    static let file = Field(
        "file", .text, optional: true, "The path as given; only when one run has several files.")
    static let fileBytes = Field(
        "file_base64", .text, optional: true, "The bytes of the path in Base64; only when they are not UTF-8.")
    static let common = [file, fileBytes]

    /// Names that an analyzer cannot have: its name is a key of the batch record, and a key has one type in every record and in every
    /// reply to a client.
    public static func reservedNames(_ catalog: RecordCatalog) -> Set<String> {
        Set(records(catalog).flatMap { $0.fields.map(\.name) } + ["type", "id", "ok", "error"] + common.map(\.name))
    }

    /// The conflicts of a catalog; empty for a valid one. A key has one JSON type in all records, so that tables have one type per column.
    public static func conflicts(in catalog: RecordCatalog) -> [String] {
        var types: [String: (type: FieldType, place: String)] = [:]
        var conflicts = catalog.conflicts
        let ownKeys = ["type", time.name] + common.map(\.name)
        func check(_ fields: [Field], of place: String, ownKeys: [String] = []) {
            for field in fields {
                if ownKeys.contains(field.name) {
                    conflicts.append("the field \"\(field.name)\" of \(place) has the name of a key that all of them have; rename it")
                    continue
                }
                let type = field.type.base
                guard let known = types.updateValue((type, place), forKey: field.name), !known.type.hasColumn(of: type) else { continue }
                types[field.name] = known
                conflicts.append(
                    "the field \"\(field.name)\" has one type in \(known.place) and another in \(place); rename it")
            }
        }
        for record in first + last { check(record.fields, of: "\"\(record.type)\" records") }
        for type in catalog.events {
            check(type.fields.map { Field($0, optional: false) }, of: "\"\(type.name)\" records", ownKeys: ownKeys)
        }
        for type in catalog.controls {
            // "id" identifies a message of a client.
            check(
                type.fields.map { Field($0, optional: true) }, of: "\"\(type.name)\" controls",
                ownKeys: ownKeys + ["id"] + RecordType.control.fields.map(\.name))
        }
        return conflicts
    }
}

extension RecordSchema.FieldType {
    /// The type without null.
    fileprivate var base: RecordSchema.FieldType {
        if case .nullable(let type) = self { type.base } else { self }
    }

    /// Whether both have values of one JSON type.
    fileprivate func hasColumn(of other: RecordSchema.FieldType) -> Bool {
        switch (self, other) {
        case (.integer, .integer), (.boolean, .boolean): true
        case (.number, .number), (.number, .measurement), (.measurement, .number), (.measurement, .measurement): true
        case (.text, .text), (.text, .choice), (.choice, .text), (.choice, .choice): true
        case (.list(let one, _), .list(let two, _)): one.base.hasColumn(of: two.base)
        default: self == other
        }
    }
}

extension RecordSchema.Record {
    /// The schema of a declared type.
    init(_ type: RecordType, of catalog: RecordCatalog) {
        self.init(
            type: type.name, summary: type.summary,
            fields: [RecordSchema.time] + catalog.fields(of: type).map { RecordSchema.Field($0.field, optional: $0.isOptional) })
    }
}

extension RecordSchema.Field {
    /// The schema of a declared field.
    init(_ field: Field, optional isOptional: Bool) {
        let type: RecordSchema.FieldType =
            switch field.kind {
            case .integer: .integer
            case .number:
                field.minimum == nil && field.maximum == nil ? .number : .measurement(minimum: field.minimum, maximum: field.maximum)
            case .boolean: .boolean
            case .text, .command: .text
            case .choice(let choices): .choice(choices)
            case .list(of: .number), .list(of: .integer): .list(.nullable(.number), count: nil)
            case .list: .list(.text, count: nil)
            }
        self.init(field.name, field.isNullable ? .nullable(type) : type, optional: isOptional, field.summary)
    }
}
