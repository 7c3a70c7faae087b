internal import HemiolaWire

/// Checks a text against the grammar of RFC 8259. Foundation's parser is less strict: it accepts a byte order mark and a comma before a
/// closing bracket, and does not parse numbers that are not decoded.
struct StrictJSON {
    /// Maximum nesting of brackets.
    static let maximumDepth = 512

    private var cursor: JSONCursor
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
        cursor = JSONCursor(bytes)
        self.key = key
    }

    private mutating func readText() -> Bool {
        // For each open bracket: whether it opens an object.
        var open: [Bool] = []
        var valueStart: Int?
        while true {
            cursor.skipWhitespace()
            if isWanted, open.count == 1 { valueStart = cursor.position }
            guard let first = cursor.peek() else { return false }
            if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
                cursor.position += 1
                cursor.skipWhitespace()
                let isObject = first == UInt8(ascii: "{")
                if cursor.peek() == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                    cursor.position += 1
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
                    values.append(start..<cursor.position)
                    valueStart = nil
                }
                cursor.skipWhitespace()
                guard let isObject = open.last else { return cursor.isAtEnd }
                guard let next = cursor.peek() else { return false }
                cursor.position += 1
                if next == UInt8(ascii: ",") {
                    cursor.skipWhitespace()
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
        let start = cursor.position
        guard cursor.peek() == UInt8(ascii: "\""), readString() else { return false }
        if isOutermost, let key { isWanted = cursor.bytes[start..<cursor.position].elementsEqual(key) }
        cursor.skipWhitespace()
        return cursor.take(UInt8(ascii: ":"))
    }

    private mutating func readScalar(_ first: UInt8) -> Bool {
        switch first {
        case UInt8(ascii: "\""): readString()
        case UInt8(ascii: "t"): cursor.take(word: "true")
        case UInt8(ascii: "f"): cursor.take(word: "false")
        case UInt8(ascii: "n"): cursor.take(word: "null")
        default: readNumber()
        }
    }

    private mutating func readString() -> Bool {
        cursor.position += 1
        while let byte = cursor.peek() {
            cursor.position += 1
            switch byte {
            case UInt8(ascii: "\""): return true
            case 0..<0x20: return false
            case UInt8(ascii: "\\"):
                guard let escaped = cursor.peek() else { return false }
                cursor.position += 1
                if escaped == UInt8(ascii: "u") {
                    if cursor.takeHexadecimal() == nil { return false }
                } else if !Self.escapes.contains(escaped) {
                    return false
                }
            default: break
            }
        }
        return false
    }

    private static let escapes = Array("\"\\/bfnrt".utf8)

    private mutating func readNumber() -> Bool {
        _ = cursor.take(UInt8(ascii: "-"))
        if !cursor.take(UInt8(ascii: "0")), !readDigits() { return false }
        if cursor.take(UInt8(ascii: ".")), !readDigits() { return false }
        if cursor.take(UInt8(ascii: "e")) || cursor.take(UInt8(ascii: "E")) {
            if !cursor.take(UInt8(ascii: "+")) { _ = cursor.take(UInt8(ascii: "-")) }
            return readDigits()
        }
        return true
    }

    /// Reads one or more digits.
    private mutating func readDigits() -> Bool {
        guard cursor.takeDigit() != nil else { return false }
        while cursor.takeDigit() != nil {}
        return true
    }
}
