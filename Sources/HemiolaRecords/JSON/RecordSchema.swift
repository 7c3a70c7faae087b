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

    /// The keys that every record begins with.
    static let file = Field(
        "file", .text, isOptional: true, "The path as given; only when one run has several files.")
    static let fileBytes = Field(
        "file_base64", .text, isOptional: true, "The bytes of the path in Base64; only when they are not UTF-8.")
    static let common = [file, fileBytes]

    /// Names that an analyzer cannot have: its name is a key of the batch record, and a key has one type in every record and in every
    /// reply to a client.
    public static func reservedNames(_ catalog: RecordCatalog) -> Set<String> {
        Set(records(catalog).flatMap { $0.fields.map(\.name) } + ["type", "id", "ok", "error"] + common.map(\.name))
    }

    /// The conflicts of a catalog; empty for a valid one. A key has one JSON type in all records, so that tables have one type per column.
    public static func conflicts(in catalog: RecordCatalog) -> [String] {
        var types: [String: (column: JSONValue, place: String)] = [:]
        var conflicts = catalog.conflicts
        let ownKeys = ["type", time.name] + common.map(\.name)
        func check(_ fields: [Field], of place: String, ownKeys: [String] = []) {
            for field in fields {
                if ownKeys.contains(field.name) {
                    conflicts.append("the field \"\(field.name)\" of \(place) has the name of a key that all of them have; rename it")
                    continue
                }
                let column = field.kind.column
                guard let known = types.updateValue((column, place), forKey: field.name), known.column != column else { continue }
                types[field.name] = known
                conflicts.append(
                    "the field \"\(field.name)\" has one type in \(known.place) and another in \(place); rename it")
            }
        }
        for record in first + last { check(record.fields, of: "\"\(record.type)\" records") }
        for type in catalog.events {
            check(type.fields, of: "\"\(type.name)\" records", ownKeys: ownKeys)
        }
        for type in catalog.controls {
            // "id" identifies a message of a client.
            check(type.fields, of: "\"\(type.name)\" controls", ownKeys: ownKeys + ["id"] + RecordType.control.fields.map(\.name))
        }
        return conflicts
    }
}

extension RecordSchema.Record {
    /// The schema of a declared type.
    init(_ type: RecordType, of catalog: RecordCatalog) {
        self.init(
            type: type.name, summary: type.summary,
            fields: [RecordSchema.time] + catalog.fields(of: type))
    }
}
