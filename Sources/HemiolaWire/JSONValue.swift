package import HemiolaSignal

/// A strict JSON text (RFC 8259) as a tree. Members keep their order.
package enum JSONValue: Sendable, Equatable {
    package struct Member: Sendable, Equatable {
        package var key: String
        package var value: JSONValue

        package init(_ key: String, _ value: JSONValue) {
            self.key = key
            self.value = value
        }
    }

    case null
    case boolean(Bool)
    /// A number without a point and an exponent, in the range of an Int.
    case integer(Int)
    /// Any other number. The unit determines how many digits are printed; nil, as in a parsed text: all. A parsed number is finite; one
    /// that is not is printed as null.
    case number(Double, in: Unit? = nil)
    case text(String)
    case list([JSONValue])
    case object([Member])

    /// The text is not JSON, or exceeds a limit.
    package struct Fault: Error {
        package var message: String
    }

    /// Maximum nesting of brackets: records have four levels.
    static let maximumDepth = 32
    /// Maximum number of values in a text, which bounds the memory of the tree to about 50 MB.
    static let maximumCount = 1 << 20

    /// Parses a text.
    ///
    /// - Complexity: O(bytes).
    package init(_ bytes: [UInt8]) throws(Fault) {
        // Ensures that all strings of the tree are valid.
        guard String(validating: bytes, as: UTF8.self) != nil else { throw Fault(message: "invalid UTF-8") }
        var parser = JSONParser(bytes)
        self = try parser.text()
    }

    // MARK: - Access

    /// The value of a member; nil for a missing one, and for a value that is not an object.
    package subscript(_ key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        for member in members where member.key == key { return member.value }
        return nil
    }

    /// The number, whole or not; nil for any other value.
    package var double: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .number(let number, _): number
        default: nil
        }
    }

    /// The whole number; nil for any other value.
    package var integer: Int? {
        if case .integer(let number) = self { number } else { nil }
    }

    /// The flag; nil for any other value.
    package var flag: Bool? {
        if case .boolean(let flag) = self { flag } else { nil }
    }

    /// The text; nil for any other value.
    package var string: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// The elements; nil for any other value.
    package var elements: [JSONValue]? {
        if case .list(let elements) = self { elements } else { nil }
    }

    /// The members; nil for any other value.
    package var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }
}

/// The parser of `JSONValue`: one pass, recursive to a limited depth.
private struct JSONParser {
    private var cursor: JSONCursor
    private var valueCount = 0

    init(_ bytes: [UInt8]) {
        cursor = JSONCursor(bytes)
    }

    mutating func text() throws(JSONValue.Fault) -> JSONValue {
        let value = try value(depth: 0)
        cursor.skipWhitespace()
        guard cursor.isAtEnd else { throw fault }
        return value
    }

    private var fault: JSONValue.Fault { JSONValue.Fault(message: "invalid JSON at byte \(cursor.position + 1)") }

    private mutating func value(depth: Int) throws(JSONValue.Fault) -> JSONValue {
        cursor.skipWhitespace()
        valueCount += 1
        guard valueCount <= JSONValue.maximumCount else {
            throw JSONValue.Fault(message: "more than \(JSONValue.maximumCount) values")
        }
        guard depth <= JSONValue.maximumDepth else {
            throw JSONValue.Fault(message: "brackets are nested more than \(JSONValue.maximumDepth) deep")
        }
        switch cursor.peek() {
        case UInt8(ascii: "{"): return .object(try members(depth: depth))
        case UInt8(ascii: "["): return .list(try elements(depth: depth))
        case UInt8(ascii: "\""): return .text(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func members(depth: Int) throws(JSONValue.Fault) -> [JSONValue.Member] {
        cursor.position += 1
        var members: [JSONValue.Member] = []
        cursor.skipWhitespace()
        if cursor.take(UInt8(ascii: "}")) { return members }
        while true {
            cursor.skipWhitespace()
            guard cursor.peek() == UInt8(ascii: "\"") else { throw fault }
            let key = try string()
            cursor.skipWhitespace()
            guard cursor.take(UInt8(ascii: ":")) else { throw fault }
            members.append(JSONValue.Member(key, try value(depth: depth + 1)))
            cursor.skipWhitespace()
            if cursor.take(UInt8(ascii: ",")) { continue }
            guard cursor.take(UInt8(ascii: "}")) else { throw fault }
            return members
        }
    }

    private mutating func elements(depth: Int) throws(JSONValue.Fault) -> [JSONValue] {
        cursor.position += 1
        var elements: [JSONValue] = []
        cursor.skipWhitespace()
        if cursor.take(UInt8(ascii: "]")) { return elements }
        while true {
            elements.append(try value(depth: depth + 1))
            cursor.skipWhitespace()
            if cursor.take(UInt8(ascii: ",")) { continue }
            guard cursor.take(UInt8(ascii: "]")) else { throw fault }
            return elements
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(JSONValue.Fault) -> JSONValue {
        guard cursor.take(word: word) else { throw fault }
        return value
    }

    // MARK: - Strings

    private mutating func string() throws(JSONValue.Fault) -> String {
        cursor.position += 1
        let start = cursor.position
        while let byte = cursor.peek(), byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { cursor.position += 1 }
        if cursor.peek() == UInt8(ascii: "\"") {
            cursor.position += 1
            return String(decoding: cursor.bytes[start..<cursor.position - 1], as: UTF8.self)
        }
        var text = Array(cursor.bytes[start..<cursor.position])
        while let byte = cursor.peek() {
            cursor.position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try appendEscape(to: &text)
            case 0..<0x20: throw fault
            default: text.append(byte)
            }
        }
        throw fault
    }

    private mutating func appendEscape(to text: inout [UInt8]) throws(JSONValue.Fault) {
        guard let letter = cursor.peek() else { throw fault }
        cursor.position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0c)
        case UInt8(ascii: "n"): text.append(0x0a)
        case UInt8(ascii: "r"): text.append(0x0d)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            guard var code = cursor.takeHexadecimal() else { throw fault }
            if (0xD800..<0xDC00).contains(code), cursor.take(UInt8(ascii: "\\")), cursor.take(UInt8(ascii: "u")) {
                guard let low = cursor.takeHexadecimal(), (0xDC00..<0xE000).contains(low) else { throw fault }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw fault }
            text.append(contentsOf: Array(String(scalar).utf8))
        default: throw fault
        }
    }

    // MARK: - Numbers

    /// 10⁰…10²²: exact as doubles, so that one multiplication or division rounds correctly.
    private static let powers: [Double] = (0...22).map { Double("1e\($0)")! }

    private mutating func number() throws(JSONValue.Fault) -> JSONValue {
        let start = cursor.position
        let isNegative = cursor.take(UInt8(ascii: "-"))
        var digits: UInt64 = 0
        var digitCount = 0
        func add(_ digit: UInt8) {
            if digits > 0 || digit > 0 { digitCount += 1 }
            if digitCount <= 18 { digits = digits * 10 + UInt64(digit) }
        }
        guard let first = cursor.takeDigit() else { throw fault }
        add(first)
        if first != 0 { while let next = cursor.takeDigit() { add(next) } }
        var exponent = 0
        var isWhole = true
        if cursor.take(UInt8(ascii: ".")) {
            isWhole = false
            guard let next = cursor.takeDigit() else { throw fault }
            add(next)
            exponent = -1
            while let next = cursor.takeDigit() {
                add(next)
                exponent -= 1
            }
        }
        if cursor.take(UInt8(ascii: "e")) || cursor.take(UInt8(ascii: "E")) {
            isWhole = false
            let isBelow = cursor.take(UInt8(ascii: "-"))
            if !isBelow { _ = cursor.take(UInt8(ascii: "+")) }
            guard let next = cursor.takeDigit() else { throw fault }
            var power = Int(next)
            while let next = cursor.takeDigit() { power = min(power * 10 + Int(next), 1_000_000) }
            exponent += isBelow ? -power : power
        }
        if isWhole, digitCount <= 18 { return .integer(isNegative ? -Int(digits) : Int(digits)) }
        if digitCount <= 15, exponent.magnitude < Self.powers.count {
            let value = exponent < 0 ? Double(digits) / Self.powers[-exponent] : Double(digits) * Self.powers[exponent]
            return .number(isNegative ? -value : value)
        }
        let text = String(decoding: cursor.bytes[start..<cursor.position], as: UTF8.self)
        if isWhole, let number = Int(text) { return .integer(number) }
        guard let value = Double(text), value.isFinite else { throw JSONValue.Fault(message: "the number \(text.prefix(40)) is too large") }
        return .number(value)
    }
}
