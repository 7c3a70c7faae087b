/// A JSON document as a tree with ordered keys, for documents that are written once.
indirect enum DocumentTree {
    case text(String)
    case integer(Int)
    case number(Double)
    case boolean(Bool)
    case list([DocumentTree])
    case object([(key: String, value: DocumentTree)])

    /// Indented by two spaces, with a newline at the end. Lists without objects are written on one line.
    var document: String {
        var buffer = JSONBuffer(capacity: 4096)
        write(to: &buffer, indent: 0)
        buffer.append(byte: UInt8(ascii: "\n"))
        return String(decoding: buffer.bytes, as: UTF8.self)
    }

    private func write(to buffer: inout JSONBuffer, indent: Int) {
        switch self {
        case .text(let text): buffer.append(string: text)
        case .integer(let number): buffer.append(integer: number)
        case .number(let number): buffer.append(bytes: Array(number.description.utf8))
        case .boolean(let flag): buffer.append(flag)
        case .list(let items):
            let isTall = items.contains { $0.isObject }
            buffer.append("[")
            for (index, item) in items.enumerated() {
                if index > 0 { buffer.append(isTall ? "," : ", ") }
                if isTall { buffer.breakLine(indent + 2) }
                item.write(to: &buffer, indent: indent + 2)
            }
            if isTall { buffer.breakLine(indent) }
            buffer.append("]")
        case .object(let members):
            buffer.append("{")
            for (index, member) in members.enumerated() {
                if index > 0 { buffer.append(",") }
                buffer.breakLine(indent + 2)
                buffer.append(string: member.key)
                buffer.append(": ")
                member.value.write(to: &buffer, indent: indent + 2)
            }
            if !members.isEmpty { buffer.breakLine(indent) }
            buffer.append("}")
        }
    }

    private var isObject: Bool {
        if case .object = self { true } else { false }
    }
}

extension JSONBuffer {
    fileprivate mutating func breakLine(_ indent: Int) {
        append("\n")
        append(bytes: [UInt8](repeating: UInt8(ascii: " "), count: indent))
    }
}
