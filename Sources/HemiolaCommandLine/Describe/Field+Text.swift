internal import HemiolaRecords

// A field as people and programs read it: in `hemiola plugins`, in the manual and in completions.

extension Field {
    /// The values and the default: `64...65536 frames, whole; default 1024`, `one of hann, hamming`, `a number or null`.
    var valuesText: String {
        var text: String
        switch (kind, rangeText) {
        case (.integer, let range?): text = "\(range), whole"
        case (.number, let range?): text = range
        default: text = kind.phrase + (unit.rawValue.isEmpty ? "" : " in \(unit.rawValue)")
        }
        if isNullable, defaultValue != ParameterValue.none { text += " or null" }
        return text + (defaultText.map { "; default \($0)" } ?? "")
    }

    /// The default value; nil: the field has to be given.
    var defaultText: String? {
        switch defaultValue {
        case nil: nil
        case ParameterValue.none?, .text("")?, .list([])?: "unset"
        case let value?: value.text
        }
    }

    /// A value for an example: for a choice or a flag, another one than the default.
    var exampleText: String {
        if let example { return example }
        return switch (kind, defaultValue) {
        case (.boolean, .boolean(let flag)?): String(!flag)
        case (.choice(let names), let value): names.first { .text($0) != value } ?? name.uppercased()
        case (.text, _): name.uppercased()
        case (_, nil), (_, ParameterValue.none?): minimum.map { ParameterValue.number($0).text } ?? name.uppercased()
        case (_, let value?): value.text
        }
    }

    /// The values among which one chooses; empty: there are too many.
    var candidates: [String] {
        kind == .boolean ? ["true", "false"] : choices ?? []
    }

    /// The object of a setting in the JSON of `hemiola plugins`.
    var settingJSON: JSONValue {
        var members: [JSONValue.Member] = [
            .init("key", .text(name)), .init("type", .text(typeText(of: kind))),
            .init("choices", choices.map { .list($0.map { .text($0) }) } ?? .null),
        ]
        members += range
        members += [.init("default", JSONValue(defaultValue ?? .none)), .init("description", .text(summary))]
        return .object(members)
    }

    /// The object of a record's or a control's field in the JSON of `hemiola plugins`.
    var json: JSONValue {
        var members: [JSONValue.Member] = [.init("name", .text(name)), .init("type", .text(kind.name))]
        if case .choice(let choices) = kind { members.append(.init("choices", .list(choices.map { .text($0) }))) }
        members += range
        members += [
            .init("nullable", .boolean(isNullable)), .init("required", .boolean(defaultValue == nil)), .init("description", .text(summary)),
        ]
        return .object(members)
    }

    private var range: [JSONValue.Member] {
        [
            .init("unit", .text(unit.rawValue)), .init("minimum", minimum.map { .number($0) } ?? .null),
            .init("maximum", maximum.map { .number($0) } ?? .null),
        ]
    }

    private var choices: [String]? {
        switch kind {
        case .choice(let names), .list(.choice(let names)): names
        default: nil
        }
    }

    private func typeText(of kind: Kind) -> String {
        if case .list(let kind) = kind { "list of \(typeText(of: kind))" } else { kind.name }
    }
}
