/// A strict JSON parser that also returns the order of keys, and whether a number has a decimal point.
indirect enum ParsedJSON: Equatable {
    case null
    case boolean(Bool)
    case integer(String)
    case number(String)
    case text(String)
    case list([ParsedJSON])
    case object([Member])

    struct Member: Equatable {
        var key: String
        var value: ParsedJSON
    }

    struct Fault: Error {
        var message: String
    }

    init(_ text: some StringProtocol) throws {
        var reader = Reader(bytes: Array(text.utf8))
        self = try reader.value()
        guard reader.place == reader.bytes.count else { throw Fault(message: "something follows the value") }
    }

    var members: [Member] {
        if case .object(let members) = self { members } else { [] }
    }

    var keys: [String] { members.map(\.key) }

    subscript(_ key: String) -> ParsedJSON? { members.first { $0.key == key }?.value }

    var elements: [ParsedJSON] {
        if case .list(let elements) = self { elements } else { [] }
    }

    var string: String? {
        if case .text(let text) = self { text } else { nil }
    }

    private struct Reader {
        let bytes: [UInt8]
        var place = 0

        mutating func value() throws -> ParsedJSON {
            switch peek {
            case "{": return try object()
            case "[": return try list()
            case "\"": return .text(try string())
            case "t", "f", "n": return try word()
            default: return try number()
            }
        }

        private var peek: Character? {
            place < bytes.count ? Character(Unicode.Scalar(bytes[place])) : nil
        }

        private mutating func take(_ character: Character) -> Bool {
            guard peek == character else { return false }
            place += 1
            return true
        }

        private mutating func expect(_ character: Character) throws {
            guard take(character) else { throw Fault(message: "no \(character) at \(place)") }
        }

        private mutating func object() throws -> ParsedJSON {
            try expect("{")
            var members: [Member] = []
            if take("}") { return .object([]) }
            repeat {
                let key = try string()
                guard !members.contains(where: { $0.key == key }) else { throw Fault(message: "\(key) stands twice") }
                try expect(":")
                members.append(Member(key: key, value: try value()))
            } while take(",")
            try expect("}")
            return .object(members)
        }

        private mutating func list() throws -> ParsedJSON {
            try expect("[")
            var elements: [ParsedJSON] = []
            if take("]") { return .list([]) }
            repeat { elements.append(try value()) } while take(",")
            try expect("]")
            return .list(elements)
        }

        /// Escapes are not decoded: tests that need this use Foundation's parser.
        private mutating func string() throws -> String {
            try expect("\"")
            let start = place
            while let character = peek, character != "\"" {
                guard bytes[place] >= 0x20 else { throw Fault(message: "a control character at \(place)") }
                place += character == "\\" ? 2 : 1
            }
            defer { place += 1 }
            return String(decoding: bytes[start..<place], as: UTF8.self)
        }

        private mutating func word() throws -> ParsedJSON {
            for (text, value) in [("true", ParsedJSON.boolean(true)), ("false", .boolean(false)), ("null", .null)]
            where bytes[place...].starts(with: text.utf8) {
                place += text.utf8.count
                return value
            }
            throw Fault(message: "an unknown word at \(place)")
        }

        private mutating func number() throws -> ParsedJSON {
            let start = place
            while let character = peek, "+-.0123456789eE".contains(character) { place += 1 }
            let text = String(decoding: bytes[start..<place], as: UTF8.self)
            guard text.wholeMatch(of: /-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?/) != nil else {
                throw Fault(message: "\"\(text)\" at \(start) is no number")
            }
            return text.contains { ".eE".contains($0) } ? .number(text) : .integer(text)
        }
    }
}
