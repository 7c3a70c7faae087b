public import HemiolaSignal

/// The first 12 bytes of a WAV file, which identify its variant.
///
/// - Note: Microsoft and IBM, Multimedia Programming Interface and Data Specifications 1.0 (RIFF, RIFX); EBU Tech 3306 (RF64);
///   ITU-R BS.2088 (BW64).
public struct WaveFileHeader: Sendable, Hashable {
    /// Bytes of this header.
    public static let size = 12

    /// Whether all numbers are big-endian: RIFX.
    public var isBigEndian: Bool
    /// Whether a `ds64` chunk declares the lengths in 64 bits: RF64 and BW64.
    public var is64Bit: Bool
    /// The declared size of the file minus 8, in bytes.
    public var fileSize: Int64

    /// Reads the first bytes of a file.
    ///
    /// - Returns: nil for other files, and for fewer than 12 bytes.
    public init?(_ bytes: [UInt8]) {
        isBigEndian = bytes.hasText("RIFX", at: 0)
        is64Bit = bytes.hasText("RF64", at: 0) || bytes.hasText("BW64", at: 0)
        guard isBigEndian || is64Bit || bytes.hasText("RIFF", at: 0), bytes.hasText("WAVE", at: 8) else { return nil }
        fileSize = Int64(bytes.unsigned32(at: 4, isBigEndian: isBigEndian))
    }

    /// The layout of its chunk headers.
    public var layout: ChunkLayout { isBigEndian ? .iff : .riff }
}

/// The `fmt ` chunk of WAV and Wave64: `WAVEFORMATEX` and `WAVEFORMATEXTENSIBLE`.
public struct WaveFormat: Sendable, Hashable {
    /// Format tags: WAVE_FORMAT_….
    public static let pcm = 1
    /// WAVE_FORMAT_IEEE_FLOAT.
    public static let float = 3
    /// WAVE_FORMAT_ALAW.
    public static let aLaw = 6
    /// WAVE_FORMAT_MULAW.
    public static let muLaw = 7
    /// WAVE_FORMAT_EXTENSIBLE: the subformat identifies the codec.
    public static let extensible = 0xfffe

    /// Bytes of the longest form, `WAVEFORMATEXTENSIBLE`.
    public static let maximumSize = 40

    /// WAVE_FORMAT_…, which identifies the codec.
    public var formatTag: Int
    /// Channels, 0….
    public var channelCount: Int
    /// Frames per second, 0….
    public var sampleRate: Int
    /// Bytes of a frame, or of a block of frames; 0….
    public var blockSize: Int
    /// Bits of a sample that are used, 0….
    public var bitsPerSample: Int
    /// Bit n is set if there is a channel for loudspeaker n; nil if the format is not extensible.
    public var channelMask: UInt32?
    /// The first two bytes of an extensible format's subformat GUID, which are a format tag in standard GUIDs; nil if the format is not
    /// extensible.
    public var subformatTag: Int?
    /// Whether the rest of the GUID is Microsoft's, or that of ambisonic B-format.
    public var hasStandardSubformat = false

    /// Reads the content of a `fmt ` chunk.
    ///
    /// - Parameters:
    ///   - content: The chunk's content. Bytes after the first 40 are ignored.
    ///   - isBigEndian: Whether numbers are big-endian, as in RIFX.
    /// - Returns: nil for fewer than 16 bytes.
    public init?(_ content: [UInt8], isBigEndian: Bool) {
        guard content.count >= 16 else { return nil }
        func unsigned16(at offset: Int) -> Int { Int(content.unsigned16(at: offset, isBigEndian: isBigEndian)) }
        formatTag = unsigned16(at: 0)
        channelCount = unsigned16(at: 2)
        sampleRate = Int(content.unsigned32(at: 4, isBigEndian: isBigEndian))
        blockSize = unsigned16(at: 12)
        bitsPerSample = unsigned16(at: 14)
        guard formatTag == Self.extensible else { return }
        if content.count >= 24 { channelMask = content.unsigned32(at: 20, isBigEndian: isBigEndian) }
        if content.count >= 26 { subformatTag = unsigned16(at: 24) }
        hasStandardSubformat = content.count >= 40 && Self.subformats.contains { content.hasText($0, at: 26) }
    }

    /// GUIDs after their first two bytes.
    private static let subformats: [StaticString] = ["\0\0\0\0\u{10}\0", "\0\0\u{21}\u{07}"]

    /// The loudspeaker of each channel; nil without a mask, and with one that names fewer loudspeakers than there are channels.
    public var channelMap: ChannelMap? {
        channelMask.flatMap { ChannelMap(waveMask: $0, channelCount: channelCount) }
    }
}
