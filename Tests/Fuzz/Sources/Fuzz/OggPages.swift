/// Checksums of Ogg pages that a fuzzer has changed: a decoder skips pages with a wrong checksum.
enum OggPages {
    /// The same bytes with the checksum of every complete page recomputed.
    static func withChecksums(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        var position = 0
        while position + 27 <= bytes.count {
            let bodyStart = position + 27 + Int(bytes[position + 26])
            guard bytes[position...].starts(with: "OggS".utf8), bodyStart <= bytes.count else {
                position += 1
                continue
            }
            let end = bodyStart + bytes[position + 27..<bodyStart].reduce(0) { $0 + Int($1) }
            guard end <= bytes.count else {
                position += 1
                continue
            }
            // The checksum is computed with zeros in its field.
            bytes.replaceSubrange(position + 22..<position + 26, with: [0, 0, 0, 0])
            let sum = bytes[position..<end].reduce(UInt32(0)) { $0 << 8 ^ table[Int($0 >> 24) ^ Int($1)] }
            bytes.replaceSubrange(position + 22..<position + 26, with: (0..<4).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) })
            position = end
        }
        return bytes
    }

    /// The CRC-32 of every byte, with the polynomial 0x04c11db7, neither reflected nor inverted. RFC 3533, section 6.
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte) << 24) { value, _ in value << 1 ^ (value >> 31 == 1 ? 0x04c1_1db7 : 0) }
    }
}
