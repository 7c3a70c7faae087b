internal import HemiolaRIFF
internal import HemiolaSignal

/// The order of the channels: which loudspeaker each belongs to.
///
/// Parsed from the file, because libsndfile reports it for some containers only, and for AIFF and CAF its
/// SFC_GET_CHANNEL_MAP_INFO reads beyond the end of its own table when the file's layout has fewer channels.
enum ChannelOrder: Sendable, Hashable {
    /// The file holds no channel order.
    case unknown
    /// The file holds one: the channel mask of WAV, the layout chunk of AIFF and CAF.
    case explicit(ChannelMap)
    /// The order that RFC 9639 (FLAC), section 9.1.3, gives to each number of channels.
    case flac
    /// The order that the Vorbis I specification, section 4.3.9, gives to each number of channels; Opus of mapping family 1
    /// has the same (RFC 7845, section 5.1.1.2). libsndfile does not reorder it.
    case vorbis

    /// The map of `channelCount` channels; nil where it is unknown.
    func map(of channelCount: Int) -> ChannelMap? {
        switch self {
        case .unknown: nil
        case .explicit(let map): map
        case .flac: Self.flacOrders[channelCount].flatMap(ChannelMap.init)
        case .vorbis: Self.vorbisOrders[channelCount].flatMap(ChannelMap.init)
        }
    }

    private static let flacOrders: [Int: [ChannelPosition]] = [
        3: [.frontLeft, .frontRight, .frontCenter],
        4: [.frontLeft, .frontRight, .backLeft, .backRight],
        5: [.frontLeft, .frontRight, .frontCenter, .backLeft, .backRight],
        6: [.frontLeft, .frontRight, .frontCenter, .lowFrequency, .backLeft, .backRight],
        7: [.frontLeft, .frontRight, .frontCenter, .lowFrequency, .backCenter, .sideLeft, .sideRight],
        8: [.frontLeft, .frontRight, .frontCenter, .lowFrequency, .backLeft, .backRight, .sideLeft, .sideRight],
    ]

    private static let vorbisOrders: [Int: [ChannelPosition]] = [
        3: [.frontLeft, .frontCenter, .frontRight],
        4: [.frontLeft, .frontRight, .backLeft, .backRight],
        5: [.frontLeft, .frontCenter, .frontRight, .backLeft, .backRight],
        6: [.frontLeft, .frontCenter, .frontRight, .backLeft, .backRight, .lowFrequency],
        7: [.frontLeft, .frontCenter, .frontRight, .sideLeft, .sideRight, .backCenter, .lowFrequency],
        8: [.frontLeft, .frontCenter, .frontRight, .sideLeft, .sideRight, .backLeft, .backRight, .lowFrequency],
    ]
}

extension Header {
    /// The channel mask of a FLAC file whose channels are not in the default order, from a tag (RFC 9639, section 8.6.2).
    func flacMask(_ file: InputFile, from start: Int64) -> ChannelMap? {
        guard let channelCount, channelCount > 2 else { return nil }
        var position = start + 4
        // More metadata blocks than any file needs; a flag marks the last one.
        for _ in 0..<128 {
            let head = file.bytes(at: position, count: 4)
            guard head.count == 4 else { return nil }
            let size = Int64(head[1]) << 16 | Int64(head[2]) << 8 | Int64(head[3])
            if head[0] & 0x7f == 4 {
                let tags = file.bytes(at: position + 4, count: Int(min(size, 1 << 16)))
                return Self.mask(inTags: tags).flatMap { ChannelMap(waveMask: $0, channelCount: channelCount) }
            }
            if head[0] & 0x80 != 0 { return nil }
            position += 4 + size
        }
        return nil
    }

    /// The value of WAVEFORMATEXTENSIBLE_CHANNEL_MASK among Vorbis comments, which are little-endian lengths and texts.
    private static func mask(inTags tags: [UInt8]) -> UInt32? {
        func length(at offset: Int) -> Int? { offset + 4 <= tags.count ? Int(tags.unsigned32(at: offset, isBigEndian: false)) : nil }
        guard let vendor = length(at: 0), let count = length(at: 4 + vendor) else { return nil }
        var offset = 8 + vendor
        for _ in 0..<min(count, 1000) {
            guard let size = length(at: offset), offset + 4 + size <= tags.count else { return nil }
            let text = String(decoding: tags[offset + 4..<offset + 4 + size], as: UTF8.self).lowercased()
            if let digits = text.split(separator: "=").last, text.hasPrefix("waveformatextensible_channel_mask=0x") {
                return UInt32(digits.dropFirst(2), radix: 16)
            }
            offset += 4 + size
        }
        return nil
    }
}

extension ChannelOrder {
    /// From the first page of an Ogg stream, which identifies the codec.
    init(oggPage page: [UInt8]) {
        let start = page.count > 26 ? 27 + Int(page[26]) : 0
        self = .unknown
        guard start > 0 else { return }
        if page.hasText("vorbis", at: start + 1) { self = .vorbis }
        if page.hasText("FLAC", at: start + 1) { self = .flac }
        if page.hasText("OpusHead", at: start), page.count > start + 18, page[start + 18] <= 1 { self = .vorbis }
    }

    // MARK: - Core Audio

    /// From an AudioChannelLayout, the content of `CHAN` (AIFF) and `chan` (CAF). All numbers are big-endian: a tag, a bitmap, a count,
    /// and `count` descriptions of 20 bytes, each of which begins with a label.
    init(coreAudioLayout layout: [UInt8]) {
        self = .unknown
        guard layout.count >= 12 else { return }
        let tag = layout.unsigned32(at: 0, isBigEndian: true)
        let map: ChannelMap? =
            switch tag {
            case 0:
                Self.described(layout)
            case 1 << 16:
                // Core Audio's first 18 bits are those of WAVE_FORMAT_EXTENSIBLE.
                ChannelMap(
                    waveMask: layout.unsigned32(at: 4, isBigEndian: true),
                    channelCount: layout.unsigned32(at: 4, isBigEndian: true).nonzeroBitCount)
            default:
                Self.coreAudioLayouts[tag].flatMap(ChannelMap.init)
            }
        if let map { self = .explicit(map) }
    }

    private static func described(_ layout: [UInt8]) -> ChannelMap? {
        let count = Int(layout.unsigned32(at: 8, isBigEndian: true))
        guard count <= ChannelMap.capacity, layout.count >= 12 + 20 * count else { return nil }
        let positions = (0..<count).compactMap { coreAudioLabels[layout.unsigned32(at: 12 + 20 * $0, isBigEndian: true)] }
        return positions.count == count ? ChannelMap(positions) : nil
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
