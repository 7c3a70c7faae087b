extension [UInt8] {
    /// Whether these characters stand at an offset.
    func hasText(_ text: StaticString, at offset: Int) -> Bool {
        let characters = Array(String(describing: text).utf8)
        return count >= offset + characters.count && self[offset..<offset + characters.count].elementsEqual(characters)
    }

    func unsigned16(at offset: Int, big: Bool) -> UInt16 { UInt16(truncatingIfNeeded: unsigned(at: offset, count: 2, big: big)) }
    func unsigned32(at offset: Int, big: Bool) -> UInt32 { UInt32(truncatingIfNeeded: unsigned(at: offset, count: 4, big: big)) }
    func unsigned64(at offset: Int, big: Bool) -> UInt64 { unsigned(at: offset, count: 8, big: big) }

    private func unsigned(at offset: Int, count: Int, big: Bool) -> UInt64 {
        let bytes = self[offset..<offset + count]
        return big ? bytes.reduce(0) { $0 << 8 | UInt64($1) } : bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// The 80-bit floating-point number that AIFF keeps its rate in, as a whole number; 0 for what is none.
    func extended80(at offset: Int) -> Int {
        let exponent = Int(unsigned16(at: offset, big: true) & 0x7fff) - 16383
        let mantissa = unsigned64(at: offset + 2, big: true)
        guard self[offset] & 0x80 == 0, (0...62).contains(exponent) else { return exponent > 62 ? Int.max : 0 }
        return Int(mantissa >> UInt64(63 - exponent))
    }
}

extension FixedWidthInteger {
    var littleEndianBytes: [UInt8] { (0..<Self.bitWidth / 8).map { UInt8(truncatingIfNeeded: self >> ($0 * 8)) } }
    var bigEndianBytes: [UInt8] { littleEndianBytes.reversed() }
}
