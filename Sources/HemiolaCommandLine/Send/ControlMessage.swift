internal import Hemiola

/// A message of the visualizer protocol, as a line.
struct ControlMessage: Equatable {
    /// Sent before it: the client subscribes to replies only.
    static let quiet = Array("{\"type\":\"subscribe\",\"streams\":[],\"payload\":\"json\"}\n".utf8)
    /// Requests a `status` message, without a reply.
    static let status = Array("{\"type\":\"status\"}\n".utf8)
    static let id = "send"
    /// Messages that are not controls, and have no fields.
    private static let others = ["status", "closeViz"]

    let line: [UInt8]

    /// The types that can be sent.
    static func types(_ catalog: RecordCatalog) -> [String] { others + PageRequest.types + catalog.controls.map(\.name) }

    static func isKnown(_ type: String, _ catalog: RecordCatalog) -> Bool { types(catalog).contains(type) }

    static func unknown(_ type: String, _ catalog: RecordCatalog) -> Failure {
        Failure("unknown message \"\(type)\"; \(type.suggestion(among: types(catalog), "messages"))")
    }

    /// - Parameter fields: `key=value`, or values alone in the order in which the fields are declared.
    /// - Throws: The first invalid field. Nothing has been sent then.
    init(_ type: String, _ fields: [String], _ catalog: RecordCatalog) throws(Failure) {
        guard Self.isKnown(type, catalog) else { throw Self.unknown(type, catalog) }
        // The running hemiola checks the ranges, which are those of its declarations.
        let control = catalog.control(type).map { ControlType($0.name, $0.summary, fields: $0.fields.map(\.withoutRange)) }
        let declared = control?.fields ?? []
        var members: [JSONValue.Member] = [.init("type", .text(type)), .init("id", .text(Self.id))]
        var values: [String: ParameterValue] = [:]
        for (index, text) in fields.enumerated() {
            let (field, value) = try Self.field(text, at: index, of: type, declared)
            guard values.updateValue(value, forKey: field.name) == nil else {
                throw Failure("\"\(field.name)\" is given twice")
            }
            members.append(.init(field.name, value.json))
        }
        if let control {
            do {
                _ = try Control(control) { values[$0.name] }
            } catch {
                throw Failure(error.message)
            }
        }
        line = Array(JSONValue.object(members).line.utf8)
    }

    private static func field(
        _ text: String, at index: Int, of type: String, _ declared: [Field]
    ) throws(Failure) -> (field: Field, value: ParameterValue) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let names = declared.map(\.name)
        if parts.count == 2, let field = declared.first(where: { $0.name == parts[0] }) { return (field, try value(parts[1], of: field)) }
        // A preset's name may contain an equals sign: only a text that begins like a misspelt field is refused.
        let looksLikeName = parts.count == 2 && parts[0].allSatisfy { $0.isLetter } && parts[0].nearest(in: names) != nil
        if index < declared.count, !looksLikeName, parts.count == 1 || index == 0 {
            return (declared[index], try value(text, of: declared[index]))
        }
        guard let key = parts.count == 2 ? parts[0] : nil else {
            throw Failure(
                "\"\(text)\" is not key=value"
                    + (names.isEmpty ? "; \(type) has no field" : "; \(type) has \(names.joined(separator: ", "))"))
        }
        throw Failure("\(type) has no field \"\(key)\"; \(key.suggestion(among: names, "fields"))")
    }

    private static func value(_ text: String, of field: Field) throws(Failure) -> ParameterValue {
        if text == "null", field.isNullable { return .none }
        do {
            return try field.parse(.text(text))
        } catch {
            throw Failure("\(field.name): \(error.message)")
        }
    }
}

extension ParameterValue {
    /// The value in a message, where whole numbers have no point.
    fileprivate var json: JSONValue {
        switch self {
        case .number(let number) where number == number.rounded() && abs(number) < 1e15: .integer(Int(number))
        case .list(let items): .list(items.map(\.json))
        default: JSONValue(self)
        }
    }
}

extension RecordCatalog {
    /// The controls that a running program declares in its `hello`.
    init(hello: JSONValue) throws(Problem) {
        var controls: [ControlType] = []
        for control in try hello.objects("controls") {
            var fields: [Field] = []
            // A name is used once, whatever the other program sends.
            for declaration in try control.objects("fields") {
                guard let field = try Field(declaration), !fields.contains(where: { $0.name == field.name }) else { continue }
                fields.append(field)
            }
            controls.append(ControlType(try control.text("name"), try control.text("description"), fields: fields))
        }
        self.init(controls: controls)
    }
}

extension Field {
    /// The same field without limits.
    fileprivate var withoutRange: Field {
        var field = self
        field.minimum = nil
        field.maximum = nil
        return field
    }

    /// The field that an object declares; nil for a type that this program does not support.
    fileprivate init?(_ declaration: JSONValue) throws(Problem) {
        let choices = declaration.has("choices") ? try declaration.texts("choices") : []
        let kinds: [String: Kind] = [
            "integer": .integer, "number": .number, "boolean": .boolean, "text": .text, "choice": .choice(choices), "texts": .texts,
            "numbers": .numbers,
        ]
        guard let kind = kinds[try declaration.text("type")] else { return nil }
        self = .text(try declaration.text("name"), try declaration.text("description"))
        self.kind = kind
        let isRequired = try declaration.flag("required")
        isNullable = try declaration.flag("nullable") || !isRequired
        defaultValue = isRequired ? nil : ParameterValue.none
    }
}
