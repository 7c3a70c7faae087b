internal import HemiolaSystem

/// The keys of a record that is no batch and no event, or of an object in one, as the encoder, the decoder and the schema have them.
struct RecordTable<Object: Sendable>: Sendable {
    struct Row: Sendable {
        let field: Field
        /// The value; nil: the object has none, so that an optional key is left out and any other is null.
        let value: @Sendable (Object) -> JSONValue?
        /// Reads the value of a key of an object. Throws a `Problem`, which the compiler does not infer for a closure.
        let read: @Sendable (inout Object, JSONValue, String) throws -> Void

        init(
            _ name: String, _ kind: Field.Kind, unit: Unit = .none, isNullable: Bool = false, isOptional: Bool = false, _ summary: String,
            _ value: @escaping @Sendable (Object) -> JSONValue?,
            _ read: @escaping @Sendable (inout Object, JSONValue, String) throws -> Void = { _, _, _ in }
        ) {
            field = Field(name, kind, unit: unit, isNullable: isNullable, isOptional: isOptional, summary)
            self.value = value
            self.read = read
        }
    }

    let rows: [Row]

    var fields: [Field] { rows.map(\.field) }

    /// The table of an object that always has all keys.
    var complete: RecordTable {
        RecordTable(rows: rows.map { Row($0.field.name, $0.field.kind, isNullable: true, $0.field.summary, $0.value) })
    }

    func members(of object: Object) -> [JSONValue.Member] {
        rows.compactMap { row -> JSONValue.Member? in
            let value = row.value(object)
            return value == nil && row.field.isOptional ? nil : JSONValue.Member(row.field.name, value ?? .null)
        }
    }

    func list(of objects: [Object]) -> JSONValue {
        .list(objects.map { .object(members(of: $0)) })
    }

    /// Reads the values of all keys but of optional ones that are missing or null.
    func read(_ json: JSONValue, into object: inout Object) throws(Problem) {
        for row in rows where !row.field.isOptional || json.has(row.field.name) {
            do { try row.read(&object, json, row.field.name) } catch { throw error as? Problem ?? Problem("\(error)") }
        }
    }
}
