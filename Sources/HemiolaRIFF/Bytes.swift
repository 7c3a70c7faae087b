extension [UInt8] {
    /// Whether the characters of a text are at an offset; false where the array ends before.
    public func hasText(_ text: StaticString, at offset: Int) -> Bool {
        guard offset >= 0, count >= offset + text.utf8CodeUnitCount else { return false }
        return text.withUTF8Buffer { self[offset..<offset + $0.count].elementsEqual($0) }
    }

    /// The unsigned 16-bit integer at an offset. The array must hold its bytes.
    public func unsigned16(at offset: Int, isBigEndian: Bool) -> UInt16 {
        UInt16(truncatingIfNeeded: unsigned(at: offset, count: 2, isBigEndian))
    }

    /// The unsigned 32-bit integer at an offset. The array must hold its bytes.
    public func unsigned32(at offset: Int, isBigEndian: Bool) -> UInt32 {
        UInt32(truncatingIfNeeded: unsigned(at: offset, count: 4, isBigEndian))
    }

    /// The unsigned 64-bit integer at an offset. The array must hold its bytes.
    public func unsigned64(at offset: Int, isBigEndian: Bool) -> UInt64 {
        unsigned(at: offset, count: 8, isBigEndian)
    }

    private func unsigned(at offset: Int, count: Int, _ isBigEndian: Bool) -> UInt64 {
        let bytes = self[offset..<offset + count]
        return isBigEndian ? bytes.reduce(0) { $0 << 8 | UInt64($1) } : bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
