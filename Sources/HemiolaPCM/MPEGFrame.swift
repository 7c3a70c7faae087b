/// The four-byte header of a frame of MPEG audio. ISO/IEC 11172-3, 2.4.1.3, and 13818-3 for the lower rates.
public struct MPEGFrame: Sendable, Hashable {
    private let header: UInt32
    /// Size of the frame in bytes, including this header.
    public private(set) var size: Int
    /// The size in bytes without padding of a frame with "free" bit rate; 0: the header tells the bit rate.
    public private(set) var freeSize = 0

    /// Reads a header.
    ///
    /// - Parameters:
    ///   - header: The four bytes, the first of which is the highest.
    ///   - freeSize: The size of a frame with free bit rate; 0: unknown, and such a frame counts as none.
    /// - Returns: nil where no frame begins: no sync word, or a forbidden value in a field.
    public init?(_ header: UInt32, freeSize: Int = 0) {
        self.header = header
        let bitRateIndex = Int(header >> 12 & 15)
        size = 0
        guard header >> 21 == 0x7ff, version != 1, layer != 4, header >> 10 & 3 != 3, bitRateIndex != 15 else { return nil }
        size = Int(header >> 9 & 1) * (layer == 1 ? 4 : 1)
        if bitRateIndex == 0 {
            if freeSize == 0 { return nil }
            self.freeSize = freeSize
            size += freeSize
            return
        }
        let bitRate = 1000 * Self.kilobits[isVersion1 ? layer - 1 : layer == 1 ? 3 : 4][bitRateIndex - 1]
        size += layer == 1 ? 12 * bitRate / sampleRate * 4 : length / 8 * bitRate / sampleRate
    }

    /// Reads the header at an offset.
    ///
    /// - Parameters:
    ///   - bytes: Bytes of a file.
    ///   - offset: Where the frame may begin. Behind the last four bytes there is none.
    ///   - freeSize: The size of a frame with free bit rate; 0: unknown, and such a frame counts as none.
    /// - Returns: nil where no frame begins.
    public init?(_ bytes: [UInt8], at offset: Int, freeSize: Int = 0) {
        guard offset >= 0, bytes.count >= offset + 4 else { return nil }
        self.init(bytes[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }, freeSize: freeSize)
    }

    /// The fields that are constant within a stream: version, layer and sample rate.
    public var kind: UInt32 { header & 0xfffe_0c00 }
    /// The layer: 1, 2 or 3.
    public var layer: Int { 4 - Int(header >> 17 & 3) }
    /// 0: version 2.5, 2: version 2, 3: version 1. The others have lower rates than version 1.
    private var version: UInt32 { header >> 19 & 3 }
    /// Whether it is MPEG 1, and not 2 or 2.5.
    public var isVersion1: Bool { version == 3 }
    /// Whether the frame has one channel; others have two.
    public var isMono: Bool { header >> 6 & 3 == 3 }
    /// Samples per second and channel.
    public var sampleRate: Int { Self.sampleRates[Int(header >> 10 & 3)] >> (isVersion1 ? 0 : version == 2 ? 1 : 2) }
    /// Samples per channel in the frame.
    public var length: Int { layer == 1 ? 384 : layer == 3 && !isVersion1 ? 576 : 1152 }
    /// The offset in bytes of the side information of layer III: after the header and, where there is one, the CRC.
    public var sideOffset: Int { header >> 16 & 1 == 0 ? 6 : 4 }
    /// Bytes of the side information of layer III.
    public var sideSize: Int { isVersion1 ? (isMono ? 17 : 32) : (isMono ? 9 : 17) }

    /// The largest frame that libmpg123 decodes, in bytes: one with free bit rate.
    public static let largest = 3460

    /// Sample rates of version 1; those of version 2 are half as high, and those of version 2.5 a quarter.
    private static let sampleRates = [44100, 48000, 32000]
    /// Bit rates in kbit/s: version 1 by layer, then layer I of the other versions, then their layers II and III.
    private static let kilobits = [
        [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
        [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
        [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
        [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
        [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    ]
}

extension [UInt8] {
    /// The declared size in bytes of the ID3v2 tag that these bytes begin with, including header and footer; nil without a tag.
    public var id3Size: Int64? {
        guard count >= 10, hasText("ID3", at: 0), self[3] < 0xff, self[4] < 0xff, self[6..<10].allSatisfy({ $0 < 0x80 }) else { return nil }
        return 10 + self[6..<10].reduce(0) { $0 << 7 | Int64($1) } + (self[5] & 0x10 != 0 ? 10 : 0)
    }
}
