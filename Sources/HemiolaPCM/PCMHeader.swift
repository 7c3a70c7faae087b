package import Hemiola

/// The header of a file or stream of samples: WAV, Wave64, AIFF, AU or CAF.
package struct PCMHeader: Sendable, Hashable {
    /// The container format, as messages name it.
    package enum Container: String, Sendable {
        case wav = "WAV"
        case wave64 = "Wave64"
        case aiff = "AIFF"
        case au = "AU"
        case caf = "CAF"
    }

    /// How the samples are encoded.
    package enum Encoding: Sendable, Hashable {
        /// Numbers.
        case pcm(PCMEncoding)
        /// Anything else: a name for messages, and WAV's format tag.
        case other(String, formatTag: Int?)
    }

    /// What the start of a source is.
    package enum Outcome: Sendable, Hashable {
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
        package var header: PCMHeader? { if case .header(let header) = self { header } else { nil } }
    }

    /// The container.
    package let container: Container
    /// Sample rate and channels as declared, supported or not; each 0….
    package internal(set) var stream = StreamFormat(sampleRate: 0, channelCount: 0)
    /// The encoding of the samples.
    package internal(set) var encoding = Encoding.other("", formatTag: nil)
    /// Offset of the first sample in bytes, from the start of the source.
    package internal(set) var offset: Int64 = 0
    /// Declared size of the samples in bytes, 0…; nil: unknown.
    package internal(set) var byteCount: Int64?
    /// Declared number of frames, in a container that has such a field beside the size.
    package internal(set) var frameCount: Int64?
    /// Bytes of a block of a codec, in WAV and Wave64; 0: not declared.
    package internal(set) var blockSize = 0
    /// Why the declared length is false although the samples can be read: there are more, or fewer; nil: it is true, or nothing tells.
    package internal(set) var lengthFault: Gap.Reason?
    /// The tags of the container's own chunks; of a file only.
    package internal(set) var tags = SoundTags()
    /// The range of an ID3 tag in a chunk, in bytes from the start of the source; of a file only.
    package internal(set) var id3: Range<Int64>?

    /// The format of the samples; nil for other encodings.
    package var format: PCMFormat? {
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
    package static func read<Source: ChunkSource>(
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
