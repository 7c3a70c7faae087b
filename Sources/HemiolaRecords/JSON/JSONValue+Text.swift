extension JSONValue {
    /// The value as JSON text on one line, with a newline at the end.
    ///
    /// - Complexity: O(bytes). Who writes many values appends them to a ``JSONBuffer``, which is reused.
    public var line: String {
        text { $0.append(self) }
    }

    /// Indented by two spaces, with a newline at the end. Lists without objects are written on one line.
    var document: String {
        text { $0.append(self, indent: 0) }
    }

    private func text(_ write: (inout JSONBuffer) -> Void) -> String {
        var buffer = JSONBuffer(capacity: 4096)
        write(&buffer)
        buffer.append("\n")
        return buffer.text
    }

    /// A string in double quotes, with JSON's escapes.
    package static func quoted(_ text: String) -> String {
        String(JSONValue.text(text).line.dropLast())
    }

    fileprivate var isObject: Bool {
        if case .object = self { true } else { false }
    }
}

extension JSONBuffer {
    /// Appends a value on one line, without a newline.
    public mutating func append(_ value: JSONValue) {
        switch value {
        case .null: append("null")
        case .boolean(let flag): append(flag)
        case .integer(let number): append(integer: number)
        case .number(let number, let unit?): append(number, in: unit)
        case .number(let number, nil): append(bytes: Array((number.isFinite ? number.description : "null").utf8))
        case .text(let text): append(string: text)
        case .list(let elements): appendList(elements) { $0.append($1) }
        case .object(let members): appendObject(members, key: \.key) { $0.append($1.value) }
        }
    }

    /// Appends a value on as many lines as it needs; all but the first are indented.
    fileprivate mutating func append(_ value: JSONValue, indent: Int) {
        switch value {
        case .list(let elements):
            let isTall = elements.contains(where: \.isObject)
            append("[")
            for (index, element) in elements.enumerated() {
                if index > 0 { append(isTall ? "," : ", ") }
                if isTall { breakLine(indent + 2) }
                append(element, indent: indent + 2)
            }
            if isTall { breakLine(indent) }
            append("]")
        case .object(let members):
            append("{")
            for (index, member) in members.enumerated() {
                if index > 0 { append(",") }
                breakLine(indent + 2)
                append(string: member.key)
                append(": ")
                append(member.value, indent: indent + 2)
            }
            if !members.isEmpty { breakLine(indent) }
            append("}")
        default: append(value)
        }
    }

    private mutating func breakLine(_ indent: Int) {
        append("\n")
        append(bytes: [UInt8](repeating: UInt8(ascii: " "), count: indent))
    }
}
