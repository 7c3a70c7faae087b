/// The records of schema 1, which are read as those of the current one.
///
/// There an analyzer had the id of its plugin, `musical-key`, and a category was a number or a text, never both.
enum SchemaOne {
    /// The plugins whose features are categories now, and the record type that declares their labels.
    private static let types = ["musical-key": "musical_key", "chords": "chord"]

    /// The labels of a plugin's feature; none: it is a quantity.
    static func labels(of feature: String, of plugin: String, _ catalog: RecordCatalog) -> [String] {
        types[plugin].flatMap { catalog.event($0) }?.labels(of: feature) ?? []
    }

    /// The number of a category's value.
    static func number(of value: JSONValue, _ labels: [String]) -> Int? {
        if let text = value.string {
            // C sharp minor and G sharp minor had these tonics.
            return labels.firstIndex(of: text) ?? ["C#": "Db", "G#": "Ab"][text].flatMap(labels.firstIndex(of:))
        }
        return value.double.flatMap { Int(exactly: $0) }.flatMap { labels.indices.contains($0) ? $0 : nil }
    }

    /// An event's record with the text and the number of each category, and with the analyzer's name of today.
    static func upgraded(_ record: JSONValue, _ type: RecordType) -> JSONValue {
        guard let members = record.members else { return record }
        return .object(
            members.flatMap { member -> [JSONValue.Member] in
                if type == .analyzerEvent, member.key == "analyzer", let name = member.value.string {
                    return [.init(member.key, .text(name.recordName))]
                }
                let labels = type.labels(of: member.key)
                if labels.isEmpty { return [member] }
                let number = number(of: member.value, labels)
                return [
                    .init(member.key, number.map { .text(labels[$0]) } ?? .null),
                    .init(Feature.numberName(of: member.key), number.map { .integer($0) } ?? .null),
                ]
            })
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
    /// The member whose key has this name in records.
    func member(named name: String) -> JSONValue? {
        members?.first { $0.key.recordName == name }?.value
    }
}
