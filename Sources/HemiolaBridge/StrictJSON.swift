/// Checks a text against the grammar of RFC 8259. Foundation's parser is less strict: it accepts a byte order mark and a comma before a
/// closing bracket, and does not parse numbers that are not decoded.
struct StrictJSON {
    /// Maximum nesting of brackets.
    static let maximumDepth = 512

    private let bytes: [UInt8]
    private var position = 0
    /// The key whose value is looked up in the outermost object; nil: none.
    private let key: [UInt8]?
    /// Whether the last key of the outermost object is that key.
    private var isWanted = false
    /// Where the values of that key begin and end.
    private var values: [Range<Int>] = []

    /// Whether the bytes are one JSON text.
    ///
    /// - Parameter bytes: Valid UTF-8.
    /// - Complexity: O(bytes), without recursion.
    static func isValid(_ bytes: [UInt8]) -> Bool {
        var scanner = StrictJSON(bytes, key: nil)
        return scanner.readText()
    }

    /// The JSON text of a member of an object, on one line.
    ///
    /// - Parameters:
    ///   - key: The name of the member; only a key without escapes is found.
    ///   - bytes: Valid JSON.
    /// - Returns: nil if the text is not an object with one member of this name.
    /// - Complexity: O(bytes), without recursion.
    static func member(_ key: String, of bytes: [UInt8]) -> [UInt8]? {
        var scanner = StrictJSON(bytes, key: Array("\"\(key)\"".utf8))
        guard scanner.readText(), scanner.values.count == 1, let range = scanner.values.first else { return nil }
        // In valid JSON, line breaks are only between tokens.
        return bytes[range].map { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") ? UInt8(ascii: " ") : $0 }
    }

    private init(_ bytes: [UInt8], key: [UInt8]?) {
        self.bytes = bytes
        self.key = key
    }

    private mutating func readText() -> Bool {
        // For each open bracket: whether it opens an object.
        var open: [Bool] = []
        var valueStart: Int?
        while true {
            skipWhitespace()
            if isWanted, open.count == 1 { valueStart = position }
            guard let first = peek() else { return false }
            if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
                position += 1
                skipWhitespace()
                let isObject = first == UInt8(ascii: "{")
                if peek() == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                    position += 1
                } else {
                    guard open.count < Self.maximumDepth else { return false }
                    open.append(isObject)
                    if isObject, !readKey(isOutermost: open.count == 1) { return false }
                    continue
                }
            } else if !readScalar(first) {
                return false
            }
            // After a value: a comma or closing brackets.
            while true {
                if open.count == 1, let start = valueStart {
                    values.append(start..<position)
                    valueStart = nil
                }
                skipWhitespace()
                guard let isObject = open.last else { return position == bytes.count }
                guard let next = peek() else { return false }
                position += 1
                if next == UInt8(ascii: ",") {
                    skipWhitespace()
                    if isObject, !readKey(isOutermost: open.count == 1) { return false }
                    break
                }
                guard next == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { return false }
                open.removeLast()
            }
        }
    }

    /// - Parameter isOutermost: Whether the key is one of the outermost object.
    private mutating func readKey(isOutermost: Bool) -> Bool {
        let start = position
        guard peek() == UInt8(ascii: "\""), readString() else { return false }
        if isOutermost, let key { isWanted = bytes[start..<position].elementsEqual(key) }
        skipWhitespace()
        return take(UInt8(ascii: ":"))
    }

    private mutating func readScalar(_ first: UInt8) -> Bool {
        switch first {
        case UInt8(ascii: "\""): readString()
        case UInt8(ascii: "t"): readWord("true")
        case UInt8(ascii: "f"): readWord("false")
        case UInt8(ascii: "n"): readWord("null")
        default: readNumber()
        }
    }

    private mutating func readString() -> Bool {
        position += 1
        while let byte = peek() {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return true
            case 0..<0x20: return false
            case UInt8(ascii: "\\"):
                guard let escaped = peek() else { return false }
                position += 1
                if escaped == UInt8(ascii: "u") {
                    for _ in 0..<4 {
                        guard let digit = peek(), Self.isHexadecimal(digit) else { return false }
                        position += 1
                    }
                } else if !Self.escapes.contains(escaped) {
                    return false
                }
            default: break
            }
        }
        return false
    }

    private static let escapes = Array("\"\\/bfnrt".utf8)

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"): true
        default: false
        }
    }

    private mutating func readWord(_ word: StaticString) -> Bool {
        for index in 0..<word.utf8CodeUnitCount {
            guard word.withUTF8Buffer({ take($0[index]) }) else { return false }
        }
        return true
    }

    private mutating func readNumber() -> Bool {
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")), !readDigits() { return false }
        if take(UInt8(ascii: ".")), !readDigits() { return false }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            return readDigits()
        }
        return true
    }

    /// Reads one or more digits.
    private mutating func readDigits() -> Bool {
        let start = position
        while let byte = peek(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        return position > start
    }

    private func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        position += 1
        return true
    }

    private mutating func skipWhitespace() {
        while let byte = peek(), byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }
}
