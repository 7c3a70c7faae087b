import HemiolaRecords

/// Validates values against a JSON Schema that has only the keywords of Hemiola's own. An unknown keyword is a fault.
struct SchemaValidator {
    private let document: JSONValue

    init(_ schema: String) throws {
        document = try JSONValue(line: schema)
    }

    /// The first fault of a line; nil: it is valid.
    func fault(in line: String) throws -> String? {
        fault(in: try JSONValue(line: line), document)
    }

    private func fault(in value: JSONValue, _ schema: JSONValue) -> String? {
        for (keyword, rule) in (schema.members ?? []).map({ ($0.key, $0.value) }) {
            let fault: String? =
                switch keyword {
                case "$schema", "$comment", "$defs", "title", "description", "required": nil
                case "$ref": self.fault(in: value, definition(rule.string ?? ""))
                case "oneOf":
                    (rule.elements ?? []).count { self.fault(in: value, $0) == nil } == 1
                        ? nil : "not exactly one alternative accepts \(value)"
                case "const": value == rule ? nil : "\(value) is not \(rule)"
                case "enum": rule.elements?.contains(value) == true ? nil : "\(value) is not one of \(rule)"
                case "type": isOf(value, rule) ? nil : "\(value) is not of type \(rule)"
                case "properties": objectFault(in: value, schema)
                case "additionalProperties": schema["properties"] == nil ? tableFault(in: value, rule) : nil
                case "items": (value.elements ?? []).lazy.compactMap { self.fault(in: $0, rule) }.first
                case "minItems": value.elements?.count ?? 0 >= rule.integer ?? 0 ? nil : "too few elements"
                case "maxItems": value.elements?.count ?? 0 <= rule.integer ?? 0 ? nil : "too many elements"
                case "minimum": value.double ?? .infinity < rule.double ?? -.infinity ? "\(value) is below \(rule)" : nil
                case "maximum": value.double ?? -.infinity > rule.double ?? .infinity ? "\(value) is above \(rule)" : nil
                default: "the keyword \(keyword) is unknown"
                }
            if let fault { return fault }
        }
        return nil
    }

    private func objectFault(in value: JSONValue, _ schema: JSONValue) -> String? {
        guard let properties = schema["properties"] else { return nil }
        for name in schema["required"]?.elements?.compactMap(\.string) ?? [] where value[name] == nil { return "\(name) is missing" }
        for member in value.members ?? [] {
            if let property = properties[member.key] {
                if let fault = fault(in: member.value, property) { return "\(member.key): \(fault)" }
            } else if schema["additionalProperties"] == .boolean(false) {
                return "\(member.key) is unknown"
            }
        }
        return nil
    }

    private func tableFault(in value: JSONValue, _ schema: JSONValue) -> String? {
        (value.members ?? []).lazy.compactMap { fault(in: $0.value, schema) }.first
    }

    private func definition(_ reference: String) -> JSONValue {
        document["$defs"]?[String(reference.dropFirst("#/$defs/".count))] ?? .boolean(false)
    }

    private func isOf(_ value: JSONValue, _ rule: JSONValue) -> Bool {
        let names = rule.string.map { [$0] } ?? (rule.elements ?? []).compactMap(\.string)
        return names.contains { name in
            switch (name, value) {
            case ("null", .null), ("boolean", .boolean), ("integer", .integer), ("number", .integer), ("number", .number),
                ("string", .text),
                ("array", .list), ("object", .object):
                true
            default: false
            }
        }
    }
}
