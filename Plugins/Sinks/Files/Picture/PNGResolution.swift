/// Adds the resolution to a PNG file.
enum PNGResolution {
    /// The bytes before the first chunk after `IHDR`: the signature and `IHDR`.
    private static let headerSize = 33

    /// Inserts the chunk `pHYs` behind `IHDR`.
    static func insert(_ dotsPerInch: Int, into png: [UInt8]) -> [UInt8] {
        guard png.count > headerSize else { return png }
        let perMeter = UInt32((Double(dotsPerInch) / 0.0254).rounded())
        let body = Array("pHYs".utf8) + bytes(perMeter) + bytes(perMeter) + [1]
        return Array(png[..<headerSize]) + bytes(9) + body + bytes(checksum(body)) + png[headerSize...]
    }

    private static func bytes(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    /// CRC-32 of ISO 3309.
    static func checksum(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in sum >> 1 ^ (sum & 1 == 0 ? 0 : 0xEDB8_8320) }
        }
    }
}
