extension SchemaText {
    /// The column types of one table of all records: a column per key, null where a record does not have the key.
    ///
    /// `columns` is generic and nested; `duckdb` and `pandas` can be passed to these programs. See <doc:Columns>.
    ///
    /// - Parameters:
    ///   - analyzers: The analyzers and features in a batch.
    ///   - selection: The records and features that are written.
    ///   - catalog: The declared types of records and controls.
    public static func columns(analyzers: [StreamHeader.Analyzer], selection: Selection = .all, catalog: RecordCatalog) -> String {
        columns(of: RecordSchema.records(analyzers, selection, catalog))
    }

    /// The column types of the lines of the sink `summary`, as JSON.
    public static func columns(ofSummary selection: SummarySelection) -> String {
        columns(of: [selection.record()])
    }

    private static func columns(of records: [RecordSchema.Record]) -> String {
        var fields = RecordSchema.keysOfAll
        for field in records.flatMap(\.fields)
        where !fields.contains(where: { $0.name == field.name }) {
            fields.append(field)
        }
        return JSONValue.object([
            .init("schema", .integer(StreamHeader.schema)),
            .init("columns", .object(fields.map { .init($0.name, $0.kind.column) })),
            .init("duckdb", .object(fields.map { .init($0.name, .text($0.kind.duckDB)) })),
            .init("pandas", .object(fields.flatMap { $0.kind.pandas(under: $0.name) })),
        ]).document
    }
}

extension Field.Kind {
    /// `int64`, `float64`, `string`, `bool`, a list of one element for a list, an object for a struct, `json` for an object
    /// whose keys depend on the run. A key has the same in every record.
    var column: JSONValue {
        switch self {
        case .list(let element): .list([element.column])
        case .object(let fields): .object(fields.map { .init($0.name, $0.kind.column) })
        case .nullable(let kind): kind.column
        default: .text(types.generic)
        }
    }

    /// The type for `read_json(columns = …)`.
    fileprivate var duckDB: String {
        switch self {
        case .list(let element): element.duckDB + "[]"
        case .object(let fields): "STRUCT(\(fields.map { "\"\($0.name)\" \($0.kind.duckDB)" }.joined(separator: ", ")))"
        case .nullable(let kind): kind.duckDB
        default: types.duckDB
        }
    }

    /// A nullable dtype per column, with the column names of `json_normalize`. Objects of unknown keys are not included.
    fileprivate func pandas(under name: String) -> [JSONValue.Member] {
        switch self {
        case .list: [.init(name, .text("object"))]
        case .object(let fields): fields.flatMap { $0.kind.pandas(under: "\(name).\($0.name)") }
        case .nullable(let kind): kind.pandas(under: name)
        default: types.pandas.map { [.init(name, .text($0))] } ?? []
        }
    }

    /// The types of a value without parts of its own types.
    private var types: (generic: String, duckDB: String, pandas: String?) {
        switch self {
        case .integer: ("int64", "BIGINT", "Int64")
        case .number: ("float64", "DOUBLE", "float64")
        case .boolean: ("bool", "BOOLEAN", "boolean")
        case .text, .choice, .command: ("string", "VARCHAR", "string")
        default: ("json", "JSON", nil)
        }
    }
}
