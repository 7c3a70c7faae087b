internal import HemiolaRIFF

/// The format and length that a file's header declares.
///
/// libsndfile silently corrects a header that declares more than the file holds, and misreads or refuses some headers that were never
/// completed because the program wrote to a pipe. So this type parses the fields that matter for damage reports: format, length,
/// channel order. libsndfile parses the rest.
struct Header: Sendable, Hashable {
    /// Offset of the header in bytes: after the ID3 tags, which players put before any format.
    var start: Int64 = 0
    /// Declared number of channels, 0…; nil where this parser does not read it.
    var channelCount: Int?
    /// Loudspeaker positions of the channels.
    var channelOrder = ChannelOrder.unknown
    /// Declared sample rate in hertz, 0…; nil where this parser does not read it.
    var sampleRate: Int?
    /// The audio data, in a container that declares its size in bytes.
    var data: DataRegion?
    /// Declared length in frames, where the header has such a field.
    var declaredFrames: Int64?
    /// For MPEG audio: whether the first frame is a length tag (`Xing`, `Info`, `VBRI`).
    var hasLengthTag = false
    /// The bytes that libsndfile reads, where the whole file is one section.
    var view = ByteView()
    /// The sections of an Ogg or MPEG file; empty where the whole file is one.
    var sections: [Section] = []
    /// Whether ffmpeg decoded the file and reported errors.
    var isDamaged = false
    /// Whether the declared length is too short, in a format whose audio data extends to the end of the file.
    var isLengthTooShort = false

    /// The audio data of a container: declared size and size in the file.
    struct DataRegion: Sendable, Hashable {
        /// Offset of the first sample in the file, in bytes.
        var offset: Int64
        /// Declared size in bytes; nil when unknown.
        var declared: Int64?
        /// Bytes between `offset` and the end of the file, 0….
        var present: Int64
        /// Size of a frame in bytes; nil when frames are packed in blocks.
        var frameSize: Int64?

        /// Whether the file ends before the declared end of the data.
        var isTruncated: Bool { (declared ?? 0) > present }
    }
}

extension Header {
    /// Number of sections, 1….
    var sectionCount: Int { max(1, sections.count) }

    /// A section, 0..<sectionCount.
    func section(_ index: Int) -> Section { sections.isEmpty ? Section(view: view) : sections[index] }
}

extension Header {
    /// Parses the first bytes of a file, and the chunk headers before the audio data. Ogg and MPEG files are scanned to their end.
    init(of file: InputFile) {
        // Up to 8 tags: 10 bytes of header, and the declared size.
        for _ in 0..<8 {
            let tag = file.bytes(at: start, count: 10)
            guard tag.count == 10, tag.hasText("ID3", at: 0) else { break }
            let size = tag[6..<10].reduce(0) { $0 << 7 | Int64($1 & 0x7f) }
            start += 10 + size + (tag[5] & 0x10 != 0 ? 10 : 0)
        }
        let head = file.bytes(at: start, count: 64)
        if let riff = WaveFileHeader(head) {
            readWave(file, from: start, riff)
        } else if head.hasText("FORM", at: 0), head.hasText("AIFF", at: 8) || head.hasText("AIFC", at: 8) {
            readAIFF(file, from: start)
        } else if head.hasText(".snd", at: 0) || head.hasText("dns.", at: 0) {
            readAU(file, from: start, head)
        } else if head.hasText("caff", at: 0) {
            readCAF(file, from: start)
        } else if head.hasText("riff", at: 0), head.starts(with: Self.wave64) {
            readWave64(file, from: start)
        } else if head.hasText("fLaC", at: 0) {
            readFLAC(head)
            if let map = flacMask(file, from: start) { channelOrder = .explicit(map) }
        } else if head.hasText("OggS", at: 0) {
            readOgg(file, from: start)
        } else {
            readMPEG(file, from: start)
            return
        }
        // libsndfile expects a tag before MPEG audio only.
        if start > 0, view.replacedCount == 0 { view = ByteView(replacedCount: start) }
    }

    /// Maximum number of chunks to read before the audio data.
    static let chunkLimit = 1000

    /// Whether a declared size in bytes stands for an unknown length: a placeholder that disagrees with the size of the file.
    ///
    /// - Parameter isOpenEnded: Whether a size of 0 may stand for an unknown one.
    static func isUnknown(_ declared: Int64, present: Int64, isOpenEnded: Bool) -> Bool {
        if declared == 0 { return present > 0 && isOpenEnded }
        return DeclaredLength.isPlaceholder(declared) && (declared > present || declared == 0xffff_ffff)
    }
}

// MARK: - Headers of fixed layout

extension Header {
    /// Sun and NeXT audio, in either byte order: six numbers, then the samples.
    mutating func readAU(_ file: InputFile, from start: Int64, _ head: [UInt8]) {
        guard head.count >= 24 else { return }
        let isBig = head.hasText(".snd", at: 0)
        let offset = start + Int64(head.unsigned32(at: 4, isBigEndian: isBig))
        let size = Int64(head.unsigned32(at: 8, isBigEndian: isBig))
        channelCount = Int(head.unsigned32(at: 20, isBigEndian: isBig))
        sampleRate = Int(head.unsigned32(at: 16, isBigEndian: isBig))
        let sampleSizes: [UInt32: Int64] = [1: 1, 2: 1, 3: 2, 4: 3, 5: 4, 6: 4, 7: 8, 27: 1]
        let frameSize = sampleSizes[head.unsigned32(at: 12, isBigEndian: isBig)].map { $0 * Int64(channelCount!) }
        let present = max(0, file.size - offset)
        let isUnknown = Self.isUnknown(size, present: present, isOpenEnded: true)
        data = DataRegion(offset: offset, declared: isUnknown ? nil : size, present: present, frameSize: frameSize == 0 ? nil : frameSize)
        // In this format the samples extend to the end of the file: a shorter declared length is wrong, and libsndfile would use it.
        isLengthTooShort = !isUnknown && size + max(1, data?.frameSize ?? 1) <= present
        if isLengthTooShort { data?.declared = nil }
        if isUnknown && size == 0 || isLengthTooShort, offset >= start + 24, offset - start < 1 << 20 {
            var header = file.bytes(at: start, count: Int(offset - start))
            header.replaceSubrange(8..<12, with: [0xff, 0xff, 0xff, 0xff])
            view = ByteView(header: header, replacedCount: offset)
        }
    }

    /// FLAC: the STREAMINFO block holds the format and the number of frames.
    mutating func readFLAC(_ head: [UInt8]) {
        guard head.count >= 26, head[4] & 0x7f == 0 else { return }
        // 20 bits of sample rate, 3 of channels − 1, 5 of bits per sample − 1, 36 of frames; 0 frames: unknown.
        let packed = head.unsigned64(at: 18, isBigEndian: true)
        sampleRate = Int(packed >> 44)
        channelCount = Int(packed >> 41 & 7) + 1
        channelOrder = .flac
        let frames = Int64(packed & 0xf_ffff_ffff)
        declaredFrames = frames == 0 ? nil : frames
    }
}
