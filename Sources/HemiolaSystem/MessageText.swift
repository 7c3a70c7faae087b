extension String {
    /// The text with control characters, line breaks and changes of the text direction written as escapes, so that it stays on one
    /// line of a terminal. File names may contain all of these.
    package var onOneLine: String {
        guard unicodeScalars.contains(where: \.isDangerous) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            switch scalar {
            case "\n": text += "\\n"
            case "\t": text += "\\t"
            case "\r": text += "\\r"
            case _ where scalar.isDangerous: text += "\\u{\(Self(scalar.value, radix: 16))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isDangerous: Bool {
        if isASCII { return value < 0x20 || value == 0x7F }
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: return true
        case .format: return (0x202A...0x202E).contains(value) || (0x2066...0x2069).contains(value)
        default: return false
        }
    }
}

extension Double {
    /// Rounded to a number of decimal places, for messages.
    package func rounded(toPlaces places: Int) -> Double {
        let scale = (0..<places).reduce(1.0) { product, _ in product * 10 }
        return (self * scale).rounded() / scale
    }
}
