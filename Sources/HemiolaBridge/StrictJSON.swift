/// Checks the grammar of RFC 8259, which Foundation's parser does not hold to: it takes a byte order mark and commas before a closing
/// bracket, and does not parse numbers that no caller needs.
struct StrictJSON {
    /// Brackets inside each other.
    static let deepest = 512

    private let bytes: [UInt8]
    private var place = 0

    /// Whether the bytes are one JSON text in UTF-8, which they are known to be.
    ///
    /// - Complexity: O(bytes), without recursion.
    static func isValid(_ bytes: [UInt8]) -> Bool {
        var scanner = StrictJSON(bytes: bytes)
        return scanner.readText()
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private mutating func readText() -> Bool {
        // Of each open bracket, whether it is an object's.
        var open: [Bool] = []
        while true {
            skipBlanks()
            guard let first = peek() else { return false }
            if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
                place += 1
                skipBlanks()
                let isObject = first == UInt8(ascii: "{")
                if peek() == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
                    place += 1
                } else {
                    guard open.count < Self.deepest else { return false }
                    open.append(isObject)
                    if isObject, !readKey() { return false }
                    continue
                }
            } else if !readScalar(first) {
                return false
            }
            // A value is over: a comma, or brackets close.
            while true {
                skipBlanks()
                guard let isObject = open.last else { return place == bytes.count }
                guard let next = peek() else { return false }
                place += 1
                if next == UInt8(ascii: ",") {
                    skipBlanks()
                    if isObject, !readKey() { return false }
                    break
                }
                guard next == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else { return false }
                open.removeLast()
            }
        }
    }

    private mutating func readKey() -> Bool {
        guard peek() == UInt8(ascii: "\""), readString() else { return false }
        skipBlanks()
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
        place += 1
        while let byte = peek() {
            place += 1
            switch byte {
            case UInt8(ascii: "\""): return true
            case 0..<0x20: return false
            case UInt8(ascii: "\\"):
                guard let escaped = peek() else { return false }
                place += 1
                if escaped == UInt8(ascii: "u") {
                    for _ in 0..<4 {
                        guard let digit = peek(), Self.isHexadecimal(digit) else { return false }
                        place += 1
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

    /// One digit at least.
    private mutating func readDigits() -> Bool {
        let start = place
        while let byte = peek(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { place += 1 }
        return place > start
    }

    private func peek() -> UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        place += 1
        return true
    }

    private mutating func skipBlanks() {
        while let byte = peek(), byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { place += 1 }
    }
}
