internal import HemiolaSignal

extension ChannelMap {
    /// Bytes of a layout with the most channels that a map can have.
    static let longestCoreAudioLayout = 12 + 20 * capacity

    /// From an AudioChannelLayout, the content of `CHAN` (AIFF) and `chan` (CAF). All numbers are big-endian: a tag, a bitmap, a count,
    /// and `count` descriptions of 20 bytes, each of which begins with a label.
    ///
    /// - Returns: nil for a layout that is not known, is damaged, or has no positions.
    init?(coreAudioLayout layout: [UInt8]) {
        guard layout.count >= 12 else { return nil }
        func number(at offset: Int) -> UInt32 { layout.unsigned32(at: offset, isBigEndian: true) }
        switch number(at: 0) {
        case 0:
            let count = Int(number(at: 8))
            guard count <= Self.capacity, layout.count >= 12 + 20 * count else { return nil }
            let positions = (0..<count).compactMap { Self.coreAudioLabels[number(at: 12 + 20 * $0)] }
            guard positions.count == count else { return nil }
            self.init(positions)
        case 1 << 16:
            // Core Audio's first 18 bits are those of WAVE_FORMAT_EXTENSIBLE.
            self.init(waveMask: number(at: 4), channelCount: number(at: 4).nonzeroBitCount)
        case let tag:
            guard let positions = Self.coreAudioLayouts[tag] else { return nil }
            self.init(positions)
        }
    }

    /// kAudioChannelLabel_…
    private static let coreAudioLabels: [UInt32: ChannelPosition] = [
        1: .frontLeft, 2: .frontRight, 3: .frontCenter, 4: .lowFrequency, 5: .backLeft, 6: .backRight, 7: .frontLeftOfCenter,
        8: .frontRightOfCenter, 9: .backCenter, 10: .sideLeft, 11: .sideRight, 12: .topCenter, 13: .topFrontLeft,
        14: .topFrontCenter, 15: .topFrontRight, 16: .topBackLeft, 17: .topBackCenter, 18: .topBackRight, 33: .backLeft,
        34: .backRight,
    ]

    /// kAudioChannelLayoutTag_… for three or more channels: number << 16 | channels.
    private static let coreAudioLayouts: [UInt32: [ChannelPosition]] = {
        let (l, r, c, lfe): (ChannelPosition, ChannelPosition, ChannelPosition, ChannelPosition) =
            (.frontLeft, .frontRight, .frontCenter, .lowFrequency)
        let (ls, rs, cs): (ChannelPosition, ChannelPosition, ChannelPosition) = (.sideLeft, .sideRight, .backCenter)
        let (lc, rc, bl, br): (ChannelPosition, ChannelPosition, ChannelPosition, ChannelPosition) =
            (.frontLeftOfCenter, .frontRightOfCenter, .backLeft, .backRight)
        let layouts: [UInt32: [ChannelPosition]] = [
            // Quadraphonic, MPEG 3.0 A and B, 4.0 A and B, 5.0 A to D, 5.1 A to D, 6.1 A, 7.1 A to C, ITU 2.1 and 2.2.
            108: [l, r, bl, br], 113: [l, r, c], 114: [c, l, r], 115: [l, r, c, cs], 116: [c, l, r, cs],
            117: [l, r, c, ls, rs], 118: [l, r, ls, rs, c], 119: [l, c, r, ls, rs], 120: [c, l, r, ls, rs],
            121: [l, r, c, lfe, ls, rs], 122: [l, r, ls, rs, c, lfe], 123: [l, c, r, ls, rs, lfe], 124: [c, l, r, ls, rs, lfe],
            125: [l, r, c, lfe, ls, rs, cs], 126: [l, r, c, lfe, ls, rs, lc, rc], 127: [c, lc, rc, l, r, ls, rs, lfe],
            128: [l, r, c, lfe, ls, rs, bl, br], 131: [l, r, cs], 132: [l, r, ls, rs],
        ]
        return Dictionary(uniqueKeysWithValues: layouts.map { ($0 << 16 | UInt32($1.count), $1) })
    }()
}
