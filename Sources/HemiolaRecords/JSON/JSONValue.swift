public import HemiolaSystem

/// A strict JSON text (RFC 8259) as a tree, for a plugin that reads or writes JSON of its own: a state file, messages of a client. Members
/// keep their order.
///
///     let state = try JSONValue(bytes)
///     let preset = try state.text("preset")
///     let speed = try state.optionalNumber("speed") ?? 1
///
/// A stream's records are written by ``RecordEncoder`` and read by ``RecordDecoder``.
public enum JSONValue: Sendable, Equatable {
    /// A member of an object.
    public struct Member: Sendable, Equatable {
        /// Its name. A text may have a name more than once.
        public var key: String
        /// Its value.
        public var value: JSONValue
        /// Where the text of the value is in the bytes that were parsed; empty for a value that the program has made. Equal members may
        /// come from different places.
        public private(set) var source: Range<Int>

        /// A member of an object.
        ///
        /// - Parameters:
        ///   - key: Its name.
        ///   - value: Its value.
        ///   - source: Where the text of the value was read; empty: the program has made it.
        public init(_ key: String, _ value: JSONValue, source: Range<Int> = 0..<0) {
            self.key = key
            self.value = value
            self.source = source
        }

        public static func == (one: Self, other: Self) -> Bool { one.key == other.key && one.value == other.value }
    }

    /// `null`.
    case null
    /// `true` or `false`.
    case boolean(Bool)
    /// A number without a point and an exponent, in the range of an Int.
    case integer(Int)
    /// Any other number. The unit determines how many digits are printed; nil, as in a parsed text: all. A number that is not finite is
    /// printed as null.
    case number(Double, in: Unit? = nil)
    /// A string.
    case text(String)
    /// An array.
    case list([JSONValue])
    /// An object: its members in their order.
    case object([Member])

    /// Maximum number of values in a text, which bounds the memory of the tree to about 50 MB.
    static let maximumCount = 1 << 20

    /// Parses a record, or another text whose values are all read: at most 32 brackets deep, with numbers in the range of a Double and
    /// without unpaired surrogates.
    ///
    /// - Throws: Why it is refused: invalid UTF-8, the first byte that is no JSON, or a limit. A text has 1 048 576 values at most.
    /// - Complexity: O(bytes).
    public init(_ bytes: [UInt8]) throws(Problem) {
        self = try JSONParser.text(bytes, isMessage: false)
    }

    /// Parses a message, whose values may be passed on unread: at most 512 brackets deep. A number outside the range of a Double is infinite,
    /// and an unpaired surrogate is U+FFFD.
    ///
    /// - Throws: Why it is refused, as for a record.
    /// - Complexity: O(bytes).
    public init(message bytes: [UInt8]) throws(Problem) {
        self = try JSONParser.text(bytes, isMessage: true)
    }

    // MARK: - Access

    /// The value of a member, the first of this name; nil for a missing one, and for a value that is not an object.
    ///
    /// - Complexity: O(members).
    public subscript(_ key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.firstIndex { $0.key == key }.map { members[$0].value }
    }

    /// The number, whole or not; nil for any other value, and for a number that is not finite.
    public var double: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .number(let number, _): number.isFinite ? number : nil
        default: nil
        }
    }

    /// The whole number, also one that is written with a point or an exponent: 3.0; nil for any other value.
    public var integer: Int? {
        switch self {
        case .integer(let number): number
        case .number(let number, _): Int(exactly: number)
        default: nil
        }
    }

    /// The flag; nil for any other value.
    public var flag: Bool? {
        if case .boolean(let flag) = self { flag } else { nil }
    }

    /// The text; nil for any other value.
    public var string: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// The elements; nil for any other value.
    public var elements: [JSONValue]? {
        if case .list(let elements) = self { elements } else { nil }
    }

    /// The members; nil for any other value.
    public var members: [Member]? {
        if case .object(let members) = self { members } else { nil }
    }
}

/// The parser of `JSONValue`: one pass, recursive to a limited depth.
private struct JSONParser {
    private let bytes: [UInt8]
    private let isMessage: Bool
    private var position = 0
    private var valueCount = 0

    static func text(_ bytes: [UInt8], isMessage: Bool) throws(Problem) -> JSONValue {
        // Ensures that all strings of the tree are valid.
        guard String(validating: bytes, as: UTF8.self) != nil else { throw Problem("invalid UTF-8") }
        var parser = JSONParser(bytes: bytes, isMessage: isMessage)
        let value = try parser.value(depth: 0)
        parser.skipWhitespace()
        guard parser.position == bytes.count else { throw parser.fault }
        return value
    }

    private init(bytes: [UInt8], isMessage: Bool) {
        self.bytes = bytes
        self.isMessage = isMessage
    }

    private var fault: Problem { Problem("invalid JSON at byte \(position + 1)") }

    // MARK: - Bytes

    /// The byte at the position; nil at the end.
    @inline(__always)
    private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Moves past a byte if it is the next one.
    @inline(__always)
    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        position += 1
        return true
    }

    /// Moves past a decimal digit and returns its value; nil if none is next.
    @inline(__always)
    private mutating func takeDigit() -> UInt8? {
        guard let byte = peek(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        position += 1
        return byte - UInt8(ascii: "0")
    }

    /// Moves past spaces, tabs and line breaks.
    @inline(__always)
    private mutating func skipWhitespace() {
        while let byte = peek(), byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }

    // MARK: - Values

    private mutating func value(depth: Int) throws(Problem) -> JSONValue {
        skipWhitespace()
        valueCount += 1
        guard valueCount <= JSONValue.maximumCount else { throw Problem("more than \(JSONValue.maximumCount) values") }
        let maximumDepth = isMessage ? 512 : 32
        guard depth <= maximumDepth else { throw Problem("brackets are nested more than \(maximumDepth) deep") }
        switch peek() {
        case UInt8(ascii: "{"): return .object(try members(depth: depth))
        case UInt8(ascii: "["): return .list(try elements(depth: depth))
        case UInt8(ascii: "\""): return .text(try string())
        case UInt8(ascii: "t"): return try word("true", .boolean(true))
        case UInt8(ascii: "f"): return try word("false", .boolean(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return try number()
        }
    }

    private mutating func members(depth: Int) throws(Problem) -> [JSONValue.Member] {
        position += 1
        var members: [JSONValue.Member] = []
        skipWhitespace()
        if take(UInt8(ascii: "}")) { return members }
        while true {
            skipWhitespace()
            guard peek() == UInt8(ascii: "\"") else { throw fault }
            let key = try string()
            skipWhitespace()
            guard take(UInt8(ascii: ":")) else { throw fault }
            skipWhitespace()
            let start = position
            let value = try value(depth: depth + 1)
            members.append(JSONValue.Member(key, value, source: start..<position))
            skipWhitespace()
            if take(UInt8(ascii: ",")) { continue }
            guard take(UInt8(ascii: "}")) else { throw fault }
            return members
        }
    }

    private mutating func elements(depth: Int) throws(Problem) -> [JSONValue] {
        position += 1
        var elements: [JSONValue] = []
        skipWhitespace()
        if take(UInt8(ascii: "]")) { return elements }
        while true {
            elements.append(try value(depth: depth + 1))
            skipWhitespace()
            if take(UInt8(ascii: ",")) { continue }
            guard take(UInt8(ascii: "]")) else { throw fault }
            return elements
        }
    }

    private mutating func word(_ word: StaticString, _ value: JSONValue) throws(Problem) -> JSONValue {
        for index in 0..<word.utf8CodeUnitCount {
            guard take(word.utf8Start[index]) else { throw fault }
        }
        return value
    }

    // MARK: - Strings

    private mutating func string() throws(Problem) -> String {
        position += 1
        let start = position
        while let byte = peek(), byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 { position += 1 }
        if peek() == UInt8(ascii: "\"") {
            position += 1
            return String(decoding: bytes[start..<position - 1], as: UTF8.self)
        }
        var text = Array(bytes[start..<position])
        while let byte = peek() {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"): try appendEscape(to: &text)
            case 0..<0x20:
                position -= 1
                throw fault
            default: text.append(byte)
            }
        }
        throw fault
    }

    private mutating func appendEscape(to text: inout [UInt8]) throws(Problem) {
        guard let letter = peek() else { throw fault }
        position += 1
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(letter)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0c)
        case UInt8(ascii: "n"): text.append(0x0a)
        case UInt8(ascii: "r"): text.append(0x0d)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var code = try hexadecimal()
            if (0xD800..<0xDC00).contains(code) { code = try codePoint(ofPairFrom: code) }
            guard let scalar = Unicode.Scalar(code) ?? (isMessage ? "\u{FFFD}" : nil) else { throw fault }
            text.append(contentsOf: Array(String(scalar).utf8))
        default:
            position -= 1
            throw fault
        }
    }

    /// The code point of a surrogate pair whose first half was read; the half itself if the second does not follow.
    private mutating func codePoint(ofPairFrom high: UInt32) throws(Problem) -> UInt32 {
        let start = position
        guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
            position = start
            return high
        }
        let low = try hexadecimal()
        guard (0xDC00..<0xE000).contains(low) else {
            position = start
            return high
        }
        return 0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)
    }

    /// Four hexadecimal digits.
    private mutating func hexadecimal() throws(Problem) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek(), let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw fault }
            code = code << 4 | UInt32(digit)
            position += 1
        }
        return code
    }

    // MARK: - Numbers

    /// 10⁰…10¹⁹.
    private static let powers: [UInt64] = (0..<19).reduce(into: [1]) { powers, _ in powers.append(powers.last! * 10) }

    /// The number `digits` / `divisor`, rounded correctly: both are scaled such that their quotient has at least 63 bits, of which the last
    /// one says whether there are more.
    private static func quotient(_ digits: UInt64, _ divisor: UInt64) -> Double {
        if digits == 0 { return 0 }
        let (up, down) = (digits.leadingZeroBitCount, divisor.leadingZeroBitCount)
        let scaled = digits << up
        let (quotient, rest) = (divisor << down).dividingFullWidth((scaled >> 1, scaled << 63))
        return Double(sign: .plus, exponent: down - up - 63, significand: Double(quotient | (rest == 0 ? 0 : 1)))
    }

    private mutating func number() throws(Problem) -> JSONValue {
        let start = position
        let isNegative = take(UInt8(ascii: "-"))
        var digits: UInt64 = 0
        var digitCount = 0
        func add(_ digit: UInt8) {
            if digits > 0 || digit > 0 { digitCount += 1 }
            if digitCount <= 19 { digits = digits * 10 + UInt64(digit) }
        }
        guard let first = takeDigit() else { throw fault }
        add(first)
        if first != 0 { while let next = takeDigit() { add(next) } }
        var exponent = 0
        var isWhole = true
        if take(UInt8(ascii: ".")) {
            isWhole = false
            guard let next = takeDigit() else { throw fault }
            add(next)
            exponent = -1
            while let next = takeDigit() {
                add(next)
                exponent -= 1
            }
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            isWhole = false
            let isBelow = take(UInt8(ascii: "-"))
            if !isBelow { _ = take(UInt8(ascii: "+")) }
            guard let next = takeDigit() else { throw fault }
            var power = Int(next)
            while let next = takeDigit() { power = min(power * 10 + Int(next), 1_000_000) }
            exponent += isBelow ? -power : power
        }
        // An Int has no negative zero.
        if isWhole, digitCount <= 19, digits > 0 || !isNegative, let number = Int(exactly: isNegative ? -Int128(digits) : Int128(digits)) {
            return .integer(number)
        }
        if digitCount <= 19, (1 - Self.powers.count...0).contains(exponent) {
            let value = Self.quotient(digits, Self.powers[-exponent])
            return .number(isNegative ? -value : value)
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        guard let value = Double(text), value.isFinite || isMessage else { throw Problem("the number \(text.prefix(40)) is too large") }
        return .number(value)
    }
}
