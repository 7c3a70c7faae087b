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

    /// The first key of every record.
    private static let typeKey = Field("type", .text, "The type of the record.")
    /// The keys that every record begins with.
    static let keysOfAll = [typeKey] + path.fields

    /// The keys of a reply to a client, which reads records from the same connection.
    private static let reply = [
        typeKey, Field("id", .parameter, "The id of the message."), Field("ok", .boolean, "Whether the control was accepted."),
        Field("error", .text, isNullable: true, "Why not."),
    ]

    /// The fields of events whose values Hemiola writes, whatever record has them.
    private static let derived: [Field] = [.frame, .emittedTime, .timeUntilEvent]

    /// Names that an analyzer cannot have, each with the place where it is a key: `"batch" records`. The name of an analyzer is a key of the
    /// batch record, and a key has one type in every record and in every reply to a client.
    public static func reservedNames(_ catalog: RecordCatalog) -> [String: String] {
        // A key of several records is that of the batch, else of the first.
        let records = records(catalog).filter { $0.type == "batch" } + records(catalog)
        let places =
            keysOfAll.map { ($0.name, "all records") }
            + records.flatMap { record in record.fields.map { ($0.name, "\"\(record.type)\" records") } }
            + reply.map { ($0.name, "replies to clients") }
        return Dictionary(places) { first, _ in first }
    }

    /// The conflicts of a catalog; empty for a valid one. A key has one JSON type in all records, so that tables have one type per column.
    ///
    /// - Parameter analyzers: The ids of the analyzers of the program, which are their names in a pipeline that does not rename them.
    public static func conflicts(in catalog: RecordCatalog, analyzers: [String] = []) -> [String] {
        conflicts(of: catalog) + conflicts(of: analyzers, in: catalog)
    }

    private static func conflicts(of analyzers: [String], in catalog: RecordCatalog) -> [String] {
        let reserved = reservedNames(catalog)
        return analyzers.compactMap { id in
            let name = id.recordName
            if (first + last).contains(where: { $0.type == name }) {
                return "the analyzer \"\(id)\" has the name of Hemiola's own \"\(name)\" records; rename it"
            }
            return reserved[name].map { "the analyzer \"\(id)\" has the name of the field \"\(name)\" of \($0); rename it" }
        }
    }

    private static func conflicts(of catalog: RecordCatalog) -> [String] {
        var types: [String: (column: JSONValue, place: String)] = [:]
        var conflicts = catalog.conflicts
        let ownKeys = (keysOfAll + [time]).map(\.name)
        func check(_ fields: [Field], of place: String, ownKeys: [String] = [], isEvent: Bool = false) {
            for field in fields {
                if ownKeys.contains(field.name) {
                    conflicts.append("the field \"\(field.name)\" of \(place) has the name of a key that all of them have; rename it")
                    continue
                }
                if isEvent, let own = derived.first(where: { $0.name == field.name }), own.source != field.source {
                    conflicts.append(
                        "the field \"\(field.name)\" of \(place) has the name of a field whose value Hemiola writes; rename it, or declare that one"
                    )
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
            check(type.fields, of: "\"\(type.name)\" records", ownKeys: ownKeys, isEvent: true)
        }
        for type in catalog.controls {
            // "id" identifies a message of a client. The fields are those of the control's record, too.
            let others = (RecordType.control.fields + derived).map(\.name)
            check(type.fields, of: "\"\(type.name)\" controls", ownKeys: ownKeys + ["id"] + others)
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
