@testable import FileCapture

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
            var checksum = OggChecksum()
            bytes.withUnsafeBytes { checksum.add(UnsafeRawBufferPointer(rebasing: $0[position..<end])) }
            bytes.replaceSubrange(position + 22..<position + 26, with: checksum.value.littleEndianBytes)
            position = end
        }
        return bytes
    }
}
