internal import HemiolaSignal

/// The first 12 bytes of a WAV file, which identify its variant.
///
/// - Note: Microsoft and IBM, Multimedia Programming Interface and Data Specifications 1.0 (RIFF, RIFX); EBU Tech 3306 (RF64);
///   ITU-R BS.2088 (BW64).
struct WaveFileHeader: Sendable, Hashable {
    /// Bytes of this header.
    static let size = 12

    /// Whether all numbers are big-endian: RIFX.
    var isBigEndian: Bool
    /// Whether a `ds64` chunk declares the lengths in 64 bits: RF64 and BW64.
    var is64Bit: Bool
    /// The declared size of the file minus 8, in bytes.
    var fileSize: Int64

    /// Reads the first bytes of a file.
    ///
    /// - Returns: nil for other files, and for fewer than 12 bytes.
    init?(_ bytes: [UInt8]) {
        isBigEndian = bytes.hasText("RIFX", at: 0)
        is64Bit = bytes.hasText("RF64", at: 0) || bytes.hasText("BW64", at: 0)
        guard isBigEndian || is64Bit || bytes.hasText("RIFF", at: 0), bytes.hasText("WAVE", at: 8) else { return nil }
        fileSize = Int64(bytes.unsigned32(at: 4, isBigEndian: isBigEndian))
    }
}

/// The `fmt ` chunk of WAV and Wave64: `WAVEFORMATEX` and `WAVEFORMATEXTENSIBLE`.
struct WaveFormat: Sendable, Hashable {
    /// Format tags: WAVE_FORMAT_….
    static let pcm = 1
    /// WAVE_FORMAT_IEEE_FLOAT.
    static let float = 3
    /// WAVE_FORMAT_ALAW.
    static let aLaw = 6
    /// WAVE_FORMAT_MULAW.
    static let muLaw = 7
    /// WAVE_FORMAT_EXTENSIBLE: the subformat identifies the codec.
    static let extensible = 0xfffe

    /// Bytes of the longest form, `WAVEFORMATEXTENSIBLE`.
    static let maximumSize = 40

    /// WAVE_FORMAT_…, which identifies the codec: that of the subformat where the format is extensible and the subformat is known.
    var formatTag: Int
    /// Channels, 0….
    var channelCount: Int
    /// Frames per second, 0….
    var sampleRate: Int
    /// Bytes of a frame, or of a block of frames; 0….
    var blockSize: Int
    /// Bits of a sample that are used, 0….
    var bitsPerSample: Int
    /// The loudspeaker of each channel; nil where the format is not extensible, or its mask names fewer loudspeakers than there are channels.
    var channelMap: ChannelMap?

    /// Reads the content of a `fmt ` chunk.
    ///
    /// - Parameters:
    ///   - content: The chunk's content. Bytes after the first 40 are ignored.
    ///   - isBigEndian: Whether numbers are big-endian, as in RIFX.
    /// - Returns: nil for fewer than 16 bytes.
    init?(_ content: [UInt8], isBigEndian: Bool) {
        guard content.count >= 16 else { return nil }
        func unsigned16(at offset: Int) -> Int { Int(content.unsigned16(at: offset, isBigEndian: isBigEndian)) }
        formatTag = unsigned16(at: 0)
        channelCount = unsigned16(at: 2)
        sampleRate = Int(content.unsigned32(at: 4, isBigEndian: isBigEndian))
        blockSize = unsigned16(at: 12)
        bitsPerSample = unsigned16(at: 14)
        guard formatTag == Self.extensible else { return }
        if content.count >= 24 {
            channelMap = ChannelMap(waveMask: content.unsigned32(at: 20, isBigEndian: isBigEndian), channelCount: channelCount)
        }
        if content.count >= 40, Self.subformats.contains(where: { content.hasText($0, at: 26) }) { formatTag = unsigned16(at: 24) }
    }

    /// GUIDs of Microsoft and of ambisonic B-format, after their first two bytes, which are a format tag.
    private static let subformats: [StaticString] = ["\0\0\0\0\u{10}\0", "\0\0\u{21}\u{07}"]
}
