public import HemiolaSystem

extension Control {
    /// The control of a declared type, with the fields of an object: a client's message, or a record.
    ///
    ///     {"type":"setSpeed","speed":0.5}
    ///
    /// Members that the control does not declare are ignored. null means that a field is not given, unless null is one of its values.
    ///
    /// - Throws: The first field that is missing or has another type. Ranges are checked when the control is submitted.
    public init(_ type: ControlType, from object: JSONValue) throws(Problem) {
        var values: [String: ParameterValue] = [:]
        for field in type.fields {
            guard let member = object[field.name], member != .null || field.isNullable else { continue }
            guard let value = field.value(of: member), !value.hasMissingNumber else { throw field.fault(of: member) }
            values[field.name] = value
        }
        try self.init(type) { values[$0.name] }
    }
}

extension Field {
    /// The value of a member; nil when it has another type than this field. A missing number in a list is NaN.
    func value(of value: JSONValue) -> ParameterValue? {
        switch (kind, value) {
        case (_, .null): ParameterValue.none
        case (.integer, _): value.integer.map { .integer($0) }
        case (.number, _): value.double.map { .number($0) }
        case (.boolean, .boolean(let flag)): .boolean(flag)
        case (.text, .text(let text)), (.choice, .text(let text)): .text(text)
        case (.texts, .list(let elements)):
            elements.allSatisfy { $0.string != nil } ? .list(elements.map { .text($0.string ?? "") }) : nil
        case (.numbers, .list(let elements)):
            elements.allSatisfy { $0 == .null || $0.double != nil } ? .list(elements.map { .number($0.double ?? .nan) }) : nil
        default: nil
        }
    }
}

extension Field {
    /// That a member has another type than this field: which element of a list, or the member.
    fileprivate func fault(of value: JSONValue) -> Problem {
        let wrong: (index: Int?, type: String)
        switch kind {
        case .texts: wrong = (value.elements?.firstIndex { $0.string == nil }, "a text")
        case .numbers: wrong = (value.elements?.firstIndex { $0.double == nil }, "a number")
        default: wrong = (nil, "")
        }
        return Problem(wrong.index.map { "\"\(name).\($0)\" is not \(wrong.type)" } ?? typeFault)
    }
}

extension JSONValue {
    /// The value of a setting or of a control's field.
    package init(_ value: ParameterValue) {
        switch value {
        case .none: self = .null
        case .boolean(let flag): self = .boolean(flag)
        case .integer(let number): self = .integer(number)
        case .number(let number): self = .number(number)
        case .text(let text): self = .text(text)
        case .list(let items): self = .list(items.map { JSONValue($0) })
        }
    }
}

extension ParameterValue {
    /// The value of a JSON text; nil for an object.
    package init?(_ value: JSONValue) {
        switch value {
        case .null: self = .none
        case .boolean(let flag): self = .boolean(flag)
        case .integer(let number): self = .integer(number)
        case .number(let number, _): self = .number(number)
        case .text(let text): self = .text(text)
        case .list(let elements):
            let items = elements.compactMap(ParameterValue.init)
            guard items.count == elements.count else { return nil }
            self = .list(items)
        case .object: return nil
        }
    }

    /// Whether it is a list in which a number is NaN.
    fileprivate var hasMissingNumber: Bool {
        items?.contains { $0.number?.isNaN == true } ?? false
    }
}
