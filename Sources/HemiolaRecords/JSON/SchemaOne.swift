/// Reads records of schema 1 as records of the current one.
///
/// There an analyzer had the id of its plugin, `musical-key`, and a category was a number or a text, never both.
enum SchemaOne {
    /// The plugins whose features are categories now, and the record type that declares their labels.
    private static let types = ["musical-key": "musical_key", "chords": "chord"]

    /// A record with the names of today, and with the text and the number of each category.
    ///
    /// - Parameter header: That of the stream; nil: the record is it.
    static func upgraded(_ record: JSONValue, _ header: StreamHeader?, _ catalog: RecordCatalog) -> JSONValue {
        guard let header else {
            return record.replacing("analyzers") { .list(($0.elements ?? []).map { analyzer($0, catalog) }) }
        }
        let type = record["type"]?.string ?? ""
        switch type {
        case "batch": return sections(record, header)
        case "end": return record.replacing("summaries") { sections($0, header) }
        case RecordType.analyzerEvent.name: return record.replacing("analyzer") { .text(($0.string ?? "").recordName) }
        default: return categories(record) { catalog.event(type)?.labels(of: $0) ?? [] }
        }
    }

    /// An analyzer of a header.
    private static func analyzer(_ analyzer: JSONValue, _ catalog: RecordCatalog) -> JSONValue {
        let type = analyzer["plugin"]?.string.flatMap { types[$0] }.flatMap { catalog.event($0) }
        return analyzer.replacing("id") { .text(($0.string ?? "").recordName) }.replacing("outputs") { outputs in
            .list(
                (outputs.elements ?? []).map { output in
                    let labels = output["name"]?.string.flatMap { type?.labels(of: $0) } ?? []
                    guard !labels.isEmpty, let members = output.members else { return output }
                    return .object(members + [.init("labels", .list(labels.map { .text($0) }))])
                })
        }
    }

    /// The members that are analyzers, of a batch or of summaries.
    private static func sections(_ record: JSONValue, _ header: StreamHeader) -> JSONValue {
        guard let members = record.members else { return record }
        return .object(
            members.map { member in
                guard let analyzer = header.analyzers.first(where: { $0.name == member.key.recordName }) else { return member }
                let values = categories(member.value) { key in analyzer.outputs.features.first { $0.name == key }?.labels ?? [] }
                return .init(analyzer.name, values)
            })
    }

    private static func categories(_ record: JSONValue, labels: (_ key: String) -> [String]) -> JSONValue {
        guard let members = record.members else { return record }
        return .object(
            members.flatMap { member -> [JSONValue.Member] in
                let labels = labels(member.key)
                if labels.isEmpty { return [member] }
                let number = number(of: member.value, labels)
                return [
                    .init(member.key, number.map { .text(labels[$0]) } ?? .null),
                    .init(Feature.numberName(of: member.key), number.map { .integer($0) } ?? .null),
                ]
            })
    }

    private static func number(of value: JSONValue, _ labels: [String]) -> Int? {
        if let text = value.string {
            // C sharp minor and G sharp minor had these tonics.
            return labels.firstIndex(of: text) ?? ["C#": "Db", "G#": "Ab"][text].flatMap(labels.firstIndex(of:))
        }
        return value.double.flatMap { Int(exactly: $0) }.flatMap { labels.indices.contains($0) ? $0 : nil }
    }
}

extension RecordType {
    /// The labels of a category; none: the field is none.
    fileprivate func labels(of field: String) -> [String] {
        guard case .choice(let labels)? = fields.first(where: { $0.name == field })?.kind,
            fields.contains(where: { $0.name == Feature.numberName(of: field) })
        else { return [] }
        return labels
    }
}

extension JSONValue {
    /// The same with another value of a member, if there is one.
    fileprivate func replacing(_ key: String, _ change: (JSONValue) -> JSONValue) -> JSONValue {
        guard let members else { return self }
        return .object(members.map { $0.key == key ? .init(key, change($0.value)) : $0 })
    }
}
