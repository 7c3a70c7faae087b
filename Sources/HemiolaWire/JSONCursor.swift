/// A position in a JSON text (RFC 8259), and the tokens that a parser and a checker of the grammar both read.
package struct JSONCursor {
    package let bytes: [UInt8]
    package var position = 0

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    package var isAtEnd: Bool { position == bytes.count }

    /// The byte at the position; nil at the end.
    @inlinable @inline(__always)
    package func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

    /// Moves past a byte if it is the next one.
    @inlinable @inline(__always)
    package mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        position += 1
        return true
    }

    /// Moves past a word if it is next; the position is undefined if it is not.
    package mutating func take(word: StaticString) -> Bool {
        for index in 0..<word.utf8CodeUnitCount {
            guard take(word.utf8Start[index]) else { return false }
        }
        return true
    }

    /// Moves past a decimal digit and returns its value; nil if none is next.
    @inlinable @inline(__always)
    package mutating func takeDigit() -> UInt8? {
        guard let byte = peek(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        position += 1
        return byte - UInt8(ascii: "0")
    }

    /// Moves past four hexadecimal digits and returns their value; nil if they are not next.
    package mutating func takeHexadecimal() -> UInt32? {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = peek() else { return nil }
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: return nil
            }
            code = code << 4 | UInt32(digit)
            position += 1
        }
        return code
    }

    /// Moves past spaces, tabs and line breaks.
    @inlinable @inline(__always)
    package mutating func skipWhitespace() {
        while let byte = peek(), byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { position += 1 }
    }
}
