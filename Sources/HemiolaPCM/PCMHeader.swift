public import Hemiola

/// The header of a file or stream of samples: WAV, Wave64, AIFF, AU or CAF.
public struct PCMHeader: Sendable, Hashable {
    /// The container format, as messages name it.
    public enum Container: String, Sendable {
        /// WAV with its variants RIFX, RF64 and BW64.
        case wav = "WAV"
        /// Sony Wave64.
        case wave64 = "Wave64"
        /// AIFF and AIFF-C.
        case aiff = "AIFF"
        /// The format of Sun and NeXT, in either byte order.
        case au = "AU"
        /// Apple's Core Audio Format.
        case caf = "CAF"
    }

    /// How the samples are encoded.
    public enum Encoding: Sendable, Hashable {
        /// Numbers.
        case pcm(PCMEncoding)
        /// Anything else: a name for messages, and WAV's format tag.
        case other(String, formatTag: Int?)
    }

    /// What the start of a source is.
    public enum Outcome: Sendable, Hashable {
        /// A header that can be used.
        case header(PCMHeader)
        /// It is not that of one of the containers.
        case otherFormat
        /// The source ends, or the chunks end, before the samples.
        case incomplete(Container)
        /// The samples precede their format, in a stream.
        case dataFirst(Container)
        /// The format has fewer bytes than it needs.
        case damaged(Container)

        /// The header that can be used, if it is one.
        public var header: PCMHeader? { if case .header(let header) = self { header } else { nil } }
    }

    /// The container.
    public let container: Container
    /// Sample rate and channels as declared, supported or not; each 0….
    public internal(set) var stream = StreamFormat(sampleRate: 0, channelCount: 0)
    /// The encoding of the samples.
    public internal(set) var encoding = Encoding.other("", formatTag: nil)
    /// Offset of the first sample in bytes, from the start of the source.
    public internal(set) var offset: Int64 = 0
    /// Declared size of the samples in bytes, 0…; nil: unknown.
    public internal(set) var byteCount: Int64?
    /// Declared number of frames, in a container that has such a field beside the size.
    public internal(set) var frameCount: Int64?
    /// Bytes of a block of a codec, in WAV and Wave64; 0: not declared.
    public internal(set) var blockSize = 0
    /// Why the declared length is false although the samples can be read: there are more, or fewer; nil: it is true, or nothing tells.
    public internal(set) var lengthFault: Gap.Reason?
    /// The tags of the container's own chunks; of a file only.
    public internal(set) var tags = SoundTags()
    /// The range of an ID3 tag in a chunk, in bytes from the start of the source; of a file only.
    public internal(set) var id3: Range<Int64>?

    /// The format of the samples; nil for other encodings.
    public var format: PCMFormat? {
        if case .pcm(let encoding) = encoding { PCMFormat(encoding, stream) } else { nil }
    }
}

extension PCMHeader {
    /// Parses a header.
    ///
    /// - Parameters:
    ///   - source: The file or stream.
    ///   - start: Where its header begins, in bytes.
    ///   - size: The size of the source in bytes; nil: unknown.
    ///   - isStream: Whether it is read only once and forward: the header ends at the first sample then. Of a file, the chunks after the
    ///     samples are read too.
    /// - Throws: What the source throws. What is wrong with the header is in the result.
    /// - Complexity: At most 1000 chunks are read.
    public static func read<Source: ChunkSource>(
        _ source: Source, from start: Int64 = 0, size: Int64?, isStream: Bool = false
    ) throws(Source.Failure) -> Outcome {
        let head = try source.bytes(at: start, count: WaveFileHeader.size)
        guard let container = Container(head) else { return .otherFormat }
        var parser = PCMHeaderParser(source, container, start: start, size: size, isStream: isStream)
        return try parser.parse(head)
    }
}

extension PCMHeader.Container {
    /// - Parameter head: The first 12 bytes; nil for any other file.
    init?(_ head: [UInt8]) {
        if WaveFileHeader(head) != nil {
            self = .wav
        } else if head.starts(with: Self.wave64GUID) {
            self = .wave64
        } else if head.hasText("FORM", at: 0), head.hasText("AIFF", at: 8) || head.hasText("AIFC", at: 8) {
            self = .aiff
        } else if head.count == 12, head.hasText(".snd", at: 0) || head.hasText("dns.", at: 0) || head.hasText("\0ds.", at: 0) {
            // The little-endian names are NeXT's and DEC's.
            self = .au
        } else if head.count == 12, head.hasText("caff", at: 0) {
            self = .caf
        } else {
            return nil
        }
    }

    /// The first 12 bytes of Wave64's 16.
    private static let wave64GUID: [UInt8] = [0x72, 0x69, 0x66, 0x66, 0x2e, 0x91, 0xcf, 0x11, 0xa5, 0xd6, 0x28, 0xdb]
}
