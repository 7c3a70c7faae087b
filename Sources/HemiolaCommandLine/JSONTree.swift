internal import HemiolaWire

/// A JSON document with ordered keys, as `--json` prints it.
indirect enum JSONTree {
    case null
    case text(String)
    case integer(Int)
    case number(Double)
    case boolean(Bool)
    case list([JSONTree])
    case object([(key: String, value: JSONTree)])

    /// On one line, with a newline at the end.
    var line: String {
        var buffer = JSONBuffer(capacity: 4096)
        write(to: &buffer)
        buffer.append("\n")
        return buffer.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// A string in double quotes, with JSON's escapes.
    static func quoted(_ text: String) -> String {
        String(JSONTree.text(text).line.dropLast())
    }

    private func write(to buffer: inout JSONBuffer) {
        switch self {
        case .null: buffer.append("null")
        case .text(let text): buffer.append(string: text)
        case .integer(let number): buffer.append(integer: number)
        case .number(let number): buffer.append(bytes: Array((number.isFinite ? number.description : "null").utf8))
        case .boolean(let flag): buffer.append(bytes: Array(flag.description.utf8))
        case .list(let items):
            buffer.append("[")
            for (index, item) in items.enumerated() {
                if index > 0 { buffer.append(",") }
                item.write(to: &buffer)
            }
            buffer.append("]")
        case .object(let members):
            buffer.append("{")
            for (index, member) in members.enumerated() {
                if index > 0 { buffer.append(",") }
                buffer.append(string: member.key)
                buffer.append(":")
                member.value.write(to: &buffer)
            }
            buffer.append("}")
        }
    }
}
