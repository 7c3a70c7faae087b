public import HemiolaSystem

extension Field {
    /// Brings a value to this field's type and range: a typed value of a file or a message, or a text of a command line, which is parsed.
    ///
    /// - Returns: The value, of this field's type.
    /// - Throws: What is wrong with it, in words that follow the field's name.
    public func parse(_ raw: ParameterValue) throws(Problem) -> ParameterValue {
        let value = try parse(raw, as: kind)
        if let fault = rangeFault(of: value) { throw Problem(fault) }
        return value
    }

    private func parse(_ raw: ParameterValue, as kind: Kind) throws(Problem) -> ParameterValue {
        switch (kind, raw) {
        case (_, .none) where isNullable:
            return raw
        case (.boolean, .boolean), (.text, .text), (.integer, .integer):
            return raw
        case (.command, .list(let items)):
            return try parse(items, as: .text)
        case (.command, _):
            return try parse(raw, as: .text)
        case (.boolean, .text(let text)):
            switch text.lowercased() {
            case "true", "yes", "on", "1": return .boolean(true)
            case "false", "no", "off", "0": return .boolean(false)
            default: throw wrong(text, kind)
            }
        case (.integer, .number(let number)) where number.rounded() == number && abs(number) < 1e15:
            return .integer(Int(number))
        case (.integer, .text(let text)):
            guard let number = Int(text) else { throw wrong(text, kind) }
            return .integer(number)
        case (.number, .number(let number)) where number.isFinite:
            return raw
        case (.number, .integer(let number)):
            return .number(Double(number))
        case (.number, .text(let text)):
            guard let number = Double(text), number.isFinite else { throw wrong(text, kind) }
            return .number(number)
        case (.text, .integer(let number)):
            return .text(String(number))
        case (.text, .number(let number)):
            return .text(String(number))
        case (.text, .boolean(let flag)):
            return .text(String(flag))
        case (.choice(let names), .text(let text)):
            guard names.contains(text) else {
                let hint = text.nearest(in: names).map { "; did you mean \($0)?" } ?? ""
                throw Problem("\"\(text)\" is not one of \(names.joined(separator: ", "))\(hint)")
            }
            return raw
        case (.nullable(let kind), _):
            return try parse(raw, as: kind)
        case (.list(let kind), .list(let items)):
            return try parse(items, as: kind)
        case (.list(let kind), .text(let text)):
            return try parse(text.split(separator: "+").map { .text(String($0)) }, as: kind)
        case (.list(let kind), _):
            return try parse([raw], as: kind)
        default:
            throw wrong(raw.text, kind)
        }
    }

    private func parse(_ items: [ParameterValue], as kind: Kind) throws(Problem) -> ParameterValue {
        var values: [ParameterValue] = []
        for item in items { values.append(try parse(item, as: kind)) }
        return .list(values)
    }

    /// What is wrong with a value that must already have this field's type, such as that of a message: its type, or its range.
    ///
    /// - Returns: A sentence that names the field; nil: nothing is wrong.
    public func fault(of value: ParameterValue) -> String? {
        guard accepts(value) else { return typeFault }
        return rangeFault(of: value).map { "\"\(name)\": \($0)" }
    }

    /// That a value has another type than this field.
    public var typeFault: String {
        guard case .choice(let choices) = kind else { return "\"\(name)\" has another type" }
        return "\"\(name)\" is one of: \(choices.joined(separator: ", "))"
    }

    /// Whether a value is of the declared type. A record's values may be outside the range, which describes them.
    public func accepts(_ value: ParameterValue) -> Bool {
        if case .none = value { return isNullable }
        return Self.accepts(value, as: kind)
    }

    private static func accepts(_ value: ParameterValue, as kind: Kind) -> Bool {
        switch (kind, value) {
        case (.integer, .integer), (.number, .number), (.boolean, .boolean), (.text, .text), (.command, .text): true
        case (.choice(let choices), .text(let text)): choices.contains(text)
        case (.nullable(let kind), _): accepts(value, as: kind)
        case (.list(let kind), .list(let items)): items.allSatisfy { accepts($0, as: kind) }
        case (.command, .list(let items)): items.allSatisfy { accepts($0, as: .text) }
        default: false
        }
    }

    /// That a number, or one of a list, is outside the range; nil: it is within, or there is no range.
    private func rangeFault(of value: ParameterValue) -> String? {
        if let items = value.items { return items.lazy.compactMap(rangeFault).first }
        guard let number = value.number, let rangeText, number < minimum ?? number || number > maximum ?? number else { return nil }
        return "\(value.text) is outside \(rangeText)"
    }

    private func wrong(_ text: String, _ kind: Kind) -> Problem {
        Problem("\"\(text)\" is not \(kind.phrase)\(rangeText.map { " within \($0)" } ?? "")")
    }

    /// The range with its unit, as the manual prints it: `1...3600 s`; nil: there is none.
    public var rangeText: String? {
        let unit = unit.rawValue.isEmpty ? "" : " \(unit.rawValue)"
        return switch (minimum, maximum) {
        case (let low?, let high?): "\(ParameterValue.number(low).text)...\(ParameterValue.number(high).text)\(unit)"
        case (let low?, nil): "\(ParameterValue.number(low).text)...\(unit)"
        case (nil, let high?): "...\(ParameterValue.number(high).text)\(unit)"
        case (nil, nil): nil
        }
    }
}

extension Field.Kind {
    /// The type for people: `a whole number`.
    public var phrase: String {
        switch self {
        case .boolean: "true or false"
        case .integer: "a whole number"
        case .number: "a number"
        case .text: "text"
        case .choice(let names): "one of \(names.joined(separator: ", "))"
        case .list(let kind): "\(kind.phrase), joined with +"
        case .command: "a command, or a list of a program and its arguments"
        case .nullable(let kind): kind.phrase
        case .object, .table, .parameter: name
        }
    }
}
