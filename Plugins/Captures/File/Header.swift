internal import HemiolaRIFF

/// What a file's header states about itself, read by ourselves.
///
/// libsndfile mends a header that promises more than the file holds without a word, and misreads or refuses some that were
/// never finished because they were written to a pipe. So the few bytes that matter are looked at here: the format, and how
/// long the sound is said to be. Everything else is libsndfile's.
struct Header: Sendable, Hashable {
    /// Where it begins: behind the ID3 tags that players put before anything.
    var start: Int64 = 0
    /// Channels as stated, 0…; nil where this reader does not look.
    var channelCount: Int?
    /// Which loudspeakers the channels belong to.
    var channelOrder = ChannelOrder.unknown
    /// Frames per second as stated, 0…; nil where this reader does not look.
    var sampleRate: Int?
    /// Where the sound lies in a container that states its length in bytes.
    var data: DataRegion?
    /// The length in frames, where the header states it so and it counts.
    var statedFrames: Int64?
    /// For MPEG audio: whether its first frame states the length of the rest.
    var hasLengthTag = false
    /// What libsndfile is to be shown of the file, where it is read in one section.
    var view = ByteView()
    /// The sections of an Ogg or MPEG file; empty where the whole file is one.
    var sections: [Section] = []
    /// Whether another program has decoded it and reported errors.
    var isDamaged = false
    /// Whether the header states a length that is too short for a format in which nothing follows the sound.
    var understatesLength = false

    /// Bytes of sound: what the header says, and what is there.
    struct DataRegion: Sendable, Hashable {
        /// Where the sound begins in the file.
        var offset: Int64
        /// Bytes that the header promises; nil when it does not know.
        var stated: Int64?
        /// Bytes between `offset` and the end of the file, 0….
        var present: Int64
        /// Bytes of a frame; nil when frames are packed in blocks.
        var frameSize: Int64?

        /// Whether the file ends before the sound does.
        var isCutOff: Bool { (stated ?? 0) > present }
    }
}

extension Header {
    /// Sections to read, 1….
    var sectionCount: Int { max(1, sections.count) }

    /// A section, 0..<sectionCount.
    func section(_ index: Int) -> Section { sections.isEmpty ? Section(view: view) : sections[index] }
}

extension Header {
    /// Looks at the first bytes of a file, and at as many chunk headers as stand before the sound.
    init(of file: InputFile) {
        // Up to a handful of tags, each of 10 bytes and as many as it says.
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
            if let map = flacMask(file, from: start) { channelOrder = .stated(map) }
        } else if head.hasText("OggS", at: 0) {
            readOgg(file, from: start)
        } else {
            readMPEG(file, from: start)
            return
        }
        // libsndfile loses its way behind a tag in everything but MPEG audio.
        if start > 0, view.replaced == 0 { view = ByteView(replaced: start) }
    }

    /// More chunks than this before the sound, and the file is not looked at further.
    static let chunkLimit = 1000

    /// Whether a length in bytes is one that programs write when they do not know it.
    ///
    /// Only when the file does not bear it out, that is; see `DeclaredLength.isPlaceholder`.
    static func isUnknown(_ stated: Int64, present: Int64, isOpenEnded: Bool) -> Bool {
        if stated == 0 { return present > 0 && isOpenEnded }
        return DeclaredLength.isPlaceholder(stated) && (stated > present || stated == 0xffff_ffff)
    }
}

// MARK: - Headers of fixed layout

extension Header {
    /// Sun and NeXT audio, in either byte order: six numbers, and the sound.
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
        data = DataRegion(offset: offset, stated: isUnknown ? nil : size, present: present, frameSize: frameSize == 0 ? nil : frameSize)
        // Nothing follows the sound in this format: a length that is too short is false, and libsndfile would believe it.
        understatesLength = !isUnknown && size + max(1, data?.frameSize ?? 1) <= present
        if understatesLength { data?.stated = nil }
        if isUnknown && size == 0 || understatesLength, offset >= start + 24, offset - start < 1 << 20 {
            var header = file.bytes(at: start, count: Int(offset - start))
            header.replaceSubrange(8..<12, with: [0xff, 0xff, 0xff, 0xff])
            view = ByteView(header: header, replaced: offset)
        }
    }

    /// FLAC: the first block has the format, and the frames that were meant to be.
    mutating func readFLAC(_ head: [UInt8]) {
        guard head.count >= 26, head[4] & 0x7f == 0 else { return }
        // 20 bits of rate, 3 of channels less one, 5 of bits less one, 36 of frames; 0 is unknown.
        let packed = head.unsigned64(at: 18, isBigEndian: true)
        sampleRate = Int(packed >> 44)
        channelCount = Int(packed >> 41 & 7) + 1
        channelOrder = .flac
        let frames = Int64(packed & 0xf_ffff_ffff)
        statedFrames = frames == 0 ? nil : frames
    }
}
