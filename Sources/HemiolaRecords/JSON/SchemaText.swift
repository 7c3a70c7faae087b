/// The documents that `hemiola schema` prints.
public enum SchemaText {
    /// The JSON Schema (draft 2020-12) of one line.
    ///
    /// It allows declared keys only, so that misspelt and missing keys are found. A list has the count that its feature declares.
    ///
    /// - Parameters:
    ///   - analyzers: The analyzers and features in a batch; nil: any analyzers.
    ///   - otherFormats: The declarations of the same analyzers for other formats. Counts and bounds that differ are left open.
    ///   - selection: The records and features that are written.
    ///   - catalog: The declared types of records and controls.
    public static func jsonSchema(
        analyzers: [StreamHeader.Analyzer]?, otherFormats: [StreamHeader.Analyzer] = [], selection: Selection = .all,
        catalog: RecordCatalog
    ) -> String {
        document(
            RecordSchema.records(analyzers, selection, otherFormats: otherFormats, catalog), takesAnyAnalyzer: analyzers == nil)
    }

    /// The JSON Schema of one line of the sink `summary`, under the same rules.
    ///
    /// - Parameters:
    ///   - selection: The values that are written.
    ///   - otherFormats: The declarations of the same analyzers for other formats. Counts and bounds that differ are left open.
    public static func jsonSchema(ofSummary selection: SummarySelection, otherFormats: [StreamHeader.Analyzer] = []) -> String {
        document([selection.record(otherFormats: otherFormats)], takesAnyAnalyzer: false)
    }

    private static func document(_ records: [RecordSchema.Record], takesAnyAnalyzer: Bool) -> String {
        JSONValue.object([
            .init("$schema", .text("https://json-schema.org/draft/2020-12/schema")),
            .init("title", .text("Hemiola records, schema \(StreamHeader.schema)")),
            .init("description", .text("One line of the JSON Lines that Hemiola writes.")),
            .init(
                "$comment",
                .text(
                    "Schema \(StreamHeader.schema) may gain keys; keys are never changed or removed. This document allows only the "
                        + "keys of the version that printed it; a reader should ignore unknown keys.")
            ),
            .init("oneOf", .list(records.map { .object([.init("$ref", .text("#/$defs/\($0.type)"))]) })),
            .init("$defs", .object(records.map { .init($0.type, $0.jsonSchema(takesAnyAnalyzer: takesAnyAnalyzer)) })),
        ]).document
    }
}

extension RecordSchema {
    /// The selected records, with the analyzers' selected features in the batch.
    static func records(
        _ analyzers: [StreamHeader.Analyzer]?, _ selection: Selection, otherFormats: [StreamHeader.Analyzer] = [],
        _ catalog: RecordCatalog
    ) -> [Record] {
        records(catalog).filter { selection.contains($0.type) }.map { record in
            guard record.type == "batch", let analyzers else { return record }
            var record = record
            let objects = analyzers.compactMap { analyzer -> Field? in
                let others = otherFormats.features(of: analyzer.name)
                let fields = analyzer.outputs.features.filter { selection.contains(analyzer.name, $0.name) }.flatMap { feature in
                    feature.isCategory
                        ? Field.category(feature.name, labels: feature.labels, nullable: true, feature.summary)
                        : [Field(feature, others: others.filter { $0.name == feature.name })]
                }
                return fields.isEmpty ? nil : Field(analyzer.name, .object(fields), "The features of \(analyzer.name).")
            }
            record.fields.insert(contentsOf: objects, at: record.fields.firstIndex { $0.name == "partial" }!)
            return record
        }
    }
}

extension [StreamHeader.Analyzer] {
    /// The features of all analyzers of that name.
    func features(of analyzer: String) -> [Feature] { filter { $0.name == analyzer }.flatMap(\.outputs.features) }
}

extension Field {
    /// The field of a feature in a batch. Any of its values may be null.
    ///
    /// - Parameter others: The declarations of the feature for other formats. Properties that differ are left open.
    init(_ feature: Feature, others: [Feature]) {
        func common<Value: Equatable>(_ property: (Feature) -> Value?) -> Value? {
            others.allSatisfy { property($0) == property(feature) } ? property(feature) : nil
        }
        let unit = feature.unit.rawValue.isEmpty ? "" : " Unit: \(feature.unit.rawValue)."
        self.init(
            feature.name, feature.isArray ? .numbers : .number, unit: feature.unit, minimum: common(\.minimum),
            isNullable: !feature.isArray, count: feature.isArray ? common(\.count) : nil, feature.summary + unit)
        maximum = common(\.maximum)
    }
}

// MARK: - JSON Schema

extension RecordSchema.Record {
    fileprivate func jsonSchema(takesAnyAnalyzer: Bool) -> JSONValue {
        let type: JSONValue = .object([.init("const", .text(self.type))])
        let others: JSONValue = takesAnyAnalyzer && self.type == "batch" ? .anyAnalyzer : .boolean(false)
        return .object(
            RecordSchema.path.fields.objectSchema(
                first: [.init("description", .text(summary))], properties: [.init("type", type)], adding: fields, others: others))
    }
}

extension [Field] {
    /// The schema of an object with these fields and then `fields`.
    fileprivate func objectSchema(
        first: [JSONValue.Member] = [], properties: [JSONValue.Member] = [],
        adding fields: [Field] = [], others: JSONValue = .boolean(false)
    ) -> [JSONValue.Member] {
        let all = self + fields
        return first + [
            .init("type", .text("object")),
            .init("properties", .object(properties + all.map { .init($0.name, $0.jsonSchema) })),
            .init("required", .list(properties.map { .text($0.key) } + all.filter { !$0.isOptional }.map { .text($0.name) })),
            .init("additionalProperties", others),
        ]
    }
}

extension Field {
    fileprivate var jsonSchema: JSONValue {
        .object([.init("description", .text(summary))] + keywords(of: isNullable ? .nullable(kind) : kind))
    }

    /// The JSON Schema keywords of a kind of value. The range and the count are those of this field.
    private func keywords(of kind: Kind) -> [JSONValue.Member] {
        switch kind {
        case .integer: [.init("type", .text("integer"))]
        case .number:
            [.init("type", .text("number"))] + (minimum.map { [.init("minimum", .number($0))] } ?? [])
                + (maximum.map { [.init("maximum", .number($0))] } ?? [])
        case .boolean: [.init("type", .text("boolean"))]
        case .text, .command: [.init("type", .text("string"))]
        case .choice(let names): [.init("enum", .list(names.map { .text($0) }))]
        case .list(let element):
            [.init("type", .text("array")), .init("items", .object(keywords(of: element)))]
                + (count.map { [.init("minItems", .integer($0)), .init("maxItems", .integer($0))] } ?? [])
        case .object(let fields): fields.objectSchema()
        case .table(let value): [.init("type", .text("object")), .init("additionalProperties", .object(keywords(of: value)))]
        case .parameter: [.init("type", .list(["boolean", "number", "string", "array", "null"].map { .text($0) }))]
        case .nullable(let kind):
            keywords(of: kind).map { keyword in
                switch keyword.key {
                case "type": .init(keyword.key, .list([keyword.value, .text("null")]))
                case "enum": .init(keyword.key, .list((keyword.value.elements ?? []) + [.null]))
                default: keyword
                }
            }
        }
    }
}

extension JSONValue {
    /// The object of any analyzer: numbers, lists of numbers, and the texts of categories.
    fileprivate static var anyAnalyzer: JSONValue {
        .object([
            .init("type", .text("object")),
            .init(
                "additionalProperties",
                .object([
                    .init("type", .list([.text("number"), .text("string"), .text("array"), .text("null")])),
                    .init("items", .object([.init("type", .list([.text("number"), .text("null")]))])),
                ])
            ),
        ])
    }
}
