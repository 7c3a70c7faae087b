/// Paths as text that loses no byte. The system's paths are bytes and need not be UTF-8; a `String` would put U+FFFD in the place
/// of those that are not.
///
/// A byte that is no part of UTF-8 stands in the text as a character of the private use area, U+EF80 for 0x80 up to U+EFFF for
/// 0xFF. Those characters themselves are written byte by byte in the same way, so that every path has one text and every text
/// that was made of a path leads back to it. A path in UTF-8 is its own text.
public enum PathText {
    private static let escapes: ClosedRange<UInt32> = 0xEF80...0xEFFF

    /// The text of a path.
    public static func text(of path: some Sequence<UInt8>) -> String {
        var text = String.UnicodeScalarView()
        var parser = Unicode.UTF8.ForwardParser()
        var bytes = Array(path)[...]
        while !bytes.isEmpty {
            var input = bytes.makeIterator()
            let count: Int
            switch parser.parseScalar(from: &input) {
            case .valid(let encoded):
                count = encoded.count
                let scalar = Unicode.UTF8.decode(encoded)
                if escapes.contains(scalar.value) {
                    text.append(contentsOf: bytes.prefix(count).map(escape))
                } else {
                    text.append(scalar)
                }
            case .error(let length):
                count = length
                text.append(contentsOf: bytes.prefix(count).map(escape))
            case .emptyInput:
                count = bytes.count
            }
            bytes = bytes.dropFirst(count)
            parser = Unicode.UTF8.ForwardParser()
        }
        return String(text)
    }

    /// The bytes of a path, from its text.
    public static func bytes(of text: String) -> [UInt8] {
        guard isEscaped(text) else { return Array(text.utf8) }
        return text.unicodeScalars.flatMap { scalar in
            escapes.contains(scalar.value) ? [UInt8(truncatingIfNeeded: scalar.value - 0xEF00)] : Array(String(scalar).utf8)
        }
    }

    /// A path as the system takes it, from its text: its bytes, and a zero.
    public static func systemPath(_ text: String) -> [CChar] {
        bytes(of: text).map { CChar(truncatingIfNeeded: $0) } + [0]
    }

    /// The path as people and JSON read it: U+FFFD for what is no UTF-8.
    public static func shown(_ text: String) -> String {
        isEscaped(text) ? String(decoding: bytes(of: text), as: UTF8.self) : text
    }

    /// The path as a part of a new file's name, from its text: always UTF-8, `%E9` for a byte that is not. Two paths that differ in such
    /// bytes alone stay two.
    public static func portable(_ text: String) -> String {
        guard isEscaped(text) else { return text }
        return text.unicodeScalars.reduce(into: "") { result, scalar in
            if escapes.contains(scalar.value) {
                result += "%" + String(scalar.value - 0xEF00, radix: 16, uppercase: true)
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
    }

    /// The bytes of a path that is not UTF-8, from its text; nil for all others.
    public static func nonUTF8Bytes(of text: String) -> [UInt8]? {
        guard isEscaped(text) else { return nil }
        let bytes = bytes(of: text)
        return String(validating: bytes, as: UTF8.self) == nil ? bytes : nil
    }

    private static func isEscaped(_ text: String) -> Bool {
        text.unicodeScalars.contains { escapes.contains($0.value) }
    }

    private static func escape(_ byte: UInt8) -> Unicode.Scalar {
        // Within the private use area, which has no surrogates.
        Unicode.Scalar(0xEF00 + UInt32(byte))!
    }
}

extension [UInt8] {
    /// In Base64, with padding. RFC 4648, section 4.
    package var base64: String {
        let alphabet = base64Alphabet
        let textLength = (count + 2) / 3 * 4
        return String(unsafeUninitializedCapacity: textLength) { text in
            for start in stride(from: 0, to: count, by: 3) {
                let length = Swift.min(3, count - start)
                var bits = 0
                for index in 0..<3 { bits = bits << 8 | (index < length ? Int(self[start + index]) : 0) }
                for index in 0..<4 {
                    text[start / 3 * 4 + index] = index <= length ? alphabet[bits >> (18 - 6 * index) & 63] : UInt8(ascii: "=")
                }
            }
            return textLength
        }
    }

    /// The bytes of Base64, with or without padding; nil: it is none.
    package init?(base64 text: String) {
        self = []
        reserveCapacity(text.utf8.count / 4 * 3)
        var (bits, count) = (0, 0)
        for byte in text.utf8 where byte != UInt8(ascii: "=") {
            let value: Int
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = Int(byte) - 65
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = Int(byte) - 71
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = Int(byte) + 4
            case UInt8(ascii: "+"): value = 62
            case UInt8(ascii: "/"): value = 63
            default: return nil
            }
            (bits, count) = (bits << 6 & 0xffff | value, count + 6)
            if count >= 8 {
                count -= 8
                append(UInt8(truncatingIfNeeded: bits >> count))
            }
        }
    }
}

private let base64Alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
