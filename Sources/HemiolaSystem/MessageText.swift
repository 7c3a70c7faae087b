extension String {
    /// The text with control characters, line breaks and changes of the text direction written as escapes, so that it stays on one
    /// line of a terminal. File names, tags and the texts of pages may contain all of these: whatever a message quotes is written so.
    public var onOneLine: String { escaped { $0.isUnsafeForReaders } }

    /// Several lines with the same escapes: line breaks and tabs stay.
    package var printable: String { escaped { $0.isUnsafeForReaders && $0 != "\n" && $0 != "\t" } }

    /// The escapes are those of JSON, so that JSON stays JSON.
    private func escaped(where isEscaped: (Unicode.Scalar) -> Bool) -> String {
        guard unicodeScalars.contains(where: isEscaped) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            guard isEscaped(scalar) else { return text.unicodeScalars.append(scalar) }
            switch scalar {
            case "\n": text += "\\n"
            case "\t": text += "\\t"
            case "\r": text += "\\r"
            default:
                let digits = Self(scalar.value, radix: 16)
                text += "\\u" + Self(repeating: "0", count: 4 - digits.count) + digits
            }
        }
    }
}

extension Unicode.Scalar {
    /// Whether a terminal can take the character as a command, or it breaks the line, or changes the direction of the text, so that
    /// `gnp.exe` is read as `exe.png`.
    public var isUnsafeForReaders: Bool {
        switch value {
        case 0..<0x20, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension Double {
    /// Rounded to a number of decimal places, for messages: 0.1 for 0.123 and one place.
    ///
    /// - Parameter places: The places, 0….
    public func rounded(toPlaces places: Int) -> Double {
        let scale = (0..<places).reduce(1.0) { product, _ in product * 10 }
        return (self * scale).rounded() / scale
    }
}
