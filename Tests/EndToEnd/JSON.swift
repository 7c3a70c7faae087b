/// A JSON value with ordered keys, and with numbers as text.
///
/// The parser is strict (RFC 8259; no NaN, no duplicate keys, no control characters in strings), which Foundation does not guarantee.
enum JSON: Hashable {
    case null
    case bool(Bool)
    case number(String)
    case string(String)
    case array([JSON])
    case object([Member])

    struct Member: Hashable {
        var key: String
        var value: JSON
    }

    struct SyntaxError: Error, CustomStringConvertible {
        var description: String
    }

    /// The text without white space, as in a line of records.
    init(_ text: String) throws {
        var parser = Parser(bytes: Array(text.utf8))
        self = try parser.document()
    }

    /// The text with white space between its parts.
    init(document text: String) throws {
        var isText = false
        var isEscaped = false
        try self.init(
            text.filter { character in
                if character == "\"", !isEscaped { isText.toggle() }
                isEscaped = character == "\\" && !isEscaped
                return isText || !character.isWhitespace
            })
    }
}

// MARK: - Access

extension JSON {
    /// The JSON type, with integers and fractions as separate types. A key has the same type in every record.
    enum Kind: String {
        case null, bool, integer, fraction, string, array, object
    }

    var kind: Kind {
        switch self {
        case .null: .null
        case .bool: .bool
        case .number(let text): text.contains { ".eE".contains($0) } ? .fraction : .integer
        case .string: .string
        case .array: .array
        case .object: .object
        }
    }

    var members: [Member] { if case .object(let members) = self { members } else { [] } }
    var array: [JSON] { if case .array(let values) = self { values } else { [] } }
    var string: String? { if case .string(let text) = self { text } else { nil } }
    var double: Double? { if case .number(let text) = self { Double(text) } else { nil } }
    var int: Int? { if case .number(let text) = self { Int(text) } else { nil } }

    subscript(_ key: String) -> JSON? {
        members.first { $0.key == key }?.value
    }

    /// `levels.rms_db`
    subscript(path path: String) -> JSON? {
        path.split(separator: ".").reduce(self as JSON?) { value, key in value?[String(key)] }
    }
}

// MARK: - Parsing

private struct Parser {
    var bytes: [UInt8]
    var place = 0

    mutating func document() throws -> JSON {
        let value = try value()
        guard place == bytes.count else { throw error("something follows the value") }
        return value
    }

    private mutating func value() throws -> JSON {
        switch peek {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func object() throws -> JSON {
        var members: [JSON.Member] = []
        var keys: Set<String> = []
        try list(closing: "}") { parser in
            let key = try parser.string()
            guard keys.insert(key).inserted else { throw parser.error("the key \(key) stands there twice") }
            try parser.expect(":")
            members.append(JSON.Member(key: key, value: try parser.value()))
        }
        return .object(members)
    }

    private mutating func array() throws -> JSON {
        var values: [JSON] = []
        try list(closing: "]") { parser in values.append(try parser.value()) }
        return .array(values)
    }

    private mutating func list(closing: Unicode.Scalar, _ item: (inout Parser) throws -> Void) throws {
        place += 1
        if peek == UInt8(ascii: closing) {
            place += 1
            return
        }
        while true {
            try item(&self)
            if peek != UInt8(ascii: ",") { return try expect(closing) }
            place += 1
        }
    }

    private mutating func string() throws -> String {
        try expect("\"")
        var text: [UInt8] = []
        while let byte = peek {
            place += 1
            switch byte {
            case UInt8(ascii: "\""):
                guard let text = String(validating: text, as: UTF8.self) else { throw error("a text is not UTF-8") }
                return text
            case UInt8(ascii: "\\"): try escape(into: &text)
            case ..<0x20: throw error("a control character stands in a text")
            default: text.append(byte)
            }
        }
        throw error("a text does not end")
    }

    private mutating func escape(into text: inout [UInt8]) throws {
        let plain: [UInt8: UInt8] = [0x22: 0x22, 0x5C: 0x5C, 0x2F: 0x2F, 0x62: 8, 0x66: 12, 0x6E: 10, 0x72: 13, 0x74: 9]
        guard let letter = peek else { throw error("a text does not end") }
        place += 1
        if let byte = plain[letter] { return text.append(byte) }
        guard letter == UInt8(ascii: "u"), place + 4 <= bytes.count,
            let code = UInt16(String(decoding: bytes[place..<place + 4], as: UTF8.self), radix: 16),
            let scalar = Unicode.Scalar(code)
        else { throw error("an escape is none") }
        place += 4
        text += Array(String(Character(scalar)).utf8)
    }

    /// `-? (0 | [1-9] digits) (. digits)? ([eE] [+-]? digits)?`
    private mutating func number() throws -> JSON {
        let start = place
        skip("-")
        if !skip("0") { try digits() }
        if skip(".") { try digits() }
        if skip("e") || skip("E") {
            if !skip("+") { skip("-") }
            try digits()
        }
        return .number(String(decoding: bytes[start..<place], as: UTF8.self))
    }

    private mutating func digits() throws {
        let start = place
        while let byte = peek, (0x30...0x39).contains(byte) { place += 1 }
        if place == start { throw error("there is no number") }
    }

    private mutating func word(_ word: String, _ value: JSON) throws -> JSON {
        for scalar in word.unicodeScalars { try expect(scalar) }
        return value
    }

    private var peek: UInt8? { place < bytes.count ? bytes[place] : nil }

    @discardableResult
    private mutating func skip(_ scalar: Unicode.Scalar) -> Bool {
        guard peek == UInt8(ascii: scalar) else { return false }
        place += 1
        return true
    }

    private mutating func expect(_ scalar: Unicode.Scalar) throws {
        guard skip(scalar) else { throw error("there is no \(scalar)") }
    }

    private func error(_ text: String) -> JSON.SyntaxError {
        JSON.SyntaxError(description: "\(text), at byte \(place) of \(String(decoding: bytes.prefix(200), as: UTF8.self))")
    }
}
