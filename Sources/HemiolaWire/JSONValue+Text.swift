extension JSONValue {
    /// On one line, with a newline at the end.
    package var line: String {
        var buffer = JSONBuffer(capacity: 4096)
        buffer.append(self)
        buffer.append("\n")
        return buffer.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// A string in double quotes, with JSON's escapes.
    package static func quoted(_ text: String) -> String {
        String(JSONValue.text(text).line.dropLast())
    }
}

extension JSONBuffer {
    fileprivate mutating func append(_ value: JSONValue) {
        switch value {
        case .null: append("null")
        case .boolean(let flag): append(flag)
        case .integer(let number): append(integer: number)
        case .number(let number): append(bytes: Array((number.isFinite ? number.description : "null").utf8))
        case .text(let text): append(string: text)
        case .list(let elements): appendList(elements) { $0.append($1) }
        case .object(let members): appendObject(members, key: \.key) { $0.append($1.value) }
        }
    }
}
