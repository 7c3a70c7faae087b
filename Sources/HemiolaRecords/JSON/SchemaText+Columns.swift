extension SchemaText {
    /// The column types of one table of all records: a column per key, null where a record does not have the key.
    ///
    /// `columns` is generic and nested; `duckdb` and `pandas` can be passed to these programs. See <doc:Columns>.
    ///
    /// - Parameters:
    ///   - analyzers: The analyzers and features in a batch.
    ///   - selection: The records and features that are written.
    ///   - catalog: The declared types of records and controls.
    public static func columns(analyzers: Analyzers, selection: Selection = .all, catalog: RecordCatalog) -> String {
        columns(of: RecordSchema.records(analyzers, selection, catalog))
    }

    /// The column types of the lines of the sink `summary`, as JSON.
    ///
    /// - Parameters:
    ///   - analyzers: The analyzers and features of the pipeline.
    ///   - selection: The features that are written.
    public static func columns(ofSummary analyzers: Analyzers, selection: Selection = .all) -> String {
        columns(of: [RecordSchema.summary(analyzers, selection)])
    }

    private static func columns(of records: [RecordSchema.Record]) -> String {
        var fields = [RecordSchema.Field("type", .text, "The type of record.")] + RecordSchema.common
        for field in records.flatMap(\.fields)
        where !fields.contains(where: { $0.name == field.name }) {
            fields.append(field)
        }
        return JSONValue.object([
            .init("schema", .integer(StreamHeader.schema)),
            .init("columns", .object(fields.map { .init($0.name, $0.type.column) })),
            .init("duckdb", .object(fields.map { .init($0.name, .text($0.type.duckDB)) })),
            .init("pandas", .object(fields.flatMap { $0.type.pandas(under: $0.name) })),
        ]).document
    }
}

extension RecordSchema.FieldType {
    /// `int64`, `float64`, `string`, `bool`, a list of one element for a list, an object for a struct, `json` for an object
    /// whose keys depend on the run.
    fileprivate var column: JSONValue {
        switch self {
        case .integer: .text("int64")
        case .number, .measurement, .figure: .text("float64")
        case .boolean: .text("bool")
        case .text, .choice: .text("string")
        case .list(let element, _): .list([element.column])
        case .object(let fields): .object(fields.map { .init($0.name, $0.type.column) })
        case .table, .parameter: .text("json")
        case .nullable(let type): type.column
        }
    }

    /// The type for `read_json(columns = …)`.
    fileprivate var duckDB: String {
        switch self {
        case .integer: "BIGINT"
        case .number, .measurement, .figure: "DOUBLE"
        case .boolean: "BOOLEAN"
        case .text, .choice: "VARCHAR"
        case .list(let element, _): element.duckDB + "[]"
        case .object(let fields): "STRUCT(\(fields.map { "\"\($0.name)\" \($0.type.duckDB)" }.joined(separator: ", ")))"
        case .table, .parameter: "JSON"
        case .nullable(let type): type.duckDB
        }
    }

    /// A nullable dtype per column, with the column names of `json_normalize`. Objects of unknown keys are not included.
    fileprivate func pandas(under name: String) -> [JSONValue.Member] {
        switch self {
        case .integer: [.init(name, .text("Int64"))]
        case .number, .measurement, .figure: [.init(name, .text("float64"))]
        case .boolean: [.init(name, .text("boolean"))]
        case .text, .choice: [.init(name, .text("string"))]
        case .list: [.init(name, .text("object"))]
        case .object(let fields): fields.flatMap { $0.type.pandas(under: "\(name).\($0.name)") }
        case .table, .parameter: []
        case .nullable(let type): type.pandas(under: name)
        }
    }
}
