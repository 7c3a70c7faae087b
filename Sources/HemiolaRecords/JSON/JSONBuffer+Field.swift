extension JSONBuffer {
    /// Appends a field of a CSV table: text, in quotes only where RFC 4180 requires them, its own quotes doubled.
    public mutating func append(field text: String) {
        let quote = UInt8(ascii: "\"")
        let needsQuotes = text.utf8.contains { [quote, UInt8(ascii: ","), UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains($0) }
        guard needsQuotes else { return append(bytes: Array(text.utf8)) }
        append(byte: quote)
        for byte in text.utf8 {
            if byte == quote { append(byte: quote) }
            append(byte: byte)
        }
        append(byte: quote)
    }

    /// Appends a row of a CSV table with its line break.
    public mutating func append(row fields: [String]) {
        for (index, field) in fields.enumerated() {
            if index > 0 { append(",") }
            append(field: field)
        }
        append("\n")
    }

    /// Appends a field of a CSV table: text as `append(field:)` of a text does, nothing for null and a number that is not finite, any other
    /// value as in JSON.
    public mutating func append(field value: JSONValue) {
        switch value {
        case .null: break
        case .text(let text): append(field: text)
        case .number(let number, _) where !number.isFinite: break
        default: append(value)
        }
    }
}
