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

    /// A promise beyond this is no promise: 2⁴⁰ frames are 265 days at 48 kHz.
    static let longestPromise: Int64 = 1 << 40

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
        if head.hasText("RIFF", at: 0) || head.hasText("RIFX", at: 0), head.hasText("WAVE", at: 8) {
            readWave(file, from: start, head)
        } else if head.hasText("RF64", at: 0) || head.hasText("BW64", at: 0), head.hasText("WAVE", at: 8) {
            readWave(file, from: start, head)
        } else if head.hasText("FORM", at: 0), head.hasText("AIFF", at: 8) || head.hasText("AIFC", at: 8) {
            readAIFF(file, from: start)
        } else if head.hasText(".snd", at: 0) || head.hasText("dns.", at: 0) {
            readAU(file, from: start, head)
        } else if head.hasText("caff", at: 0) {
            readCAF(file, from: start)
        } else if head.hasText("riff", at: 0), head.starts(with: Self.wave64) {
            readWave64(file, from: start, head)
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
    /// ffmpeg leaves 0xffffffff behind in a pipe, sox 0x7ffff000 (0x7f000008 in AIFF), arecord 0x80000000 less a little, and
    /// GStreamer 0. Only when the file does not bear it out, that is.
    static func isUnknown(_ stated: Int64, present: Int64, isOpenEnded: Bool) -> Bool {
        if stated == 0 { return present > 0 && isOpenEnded }
        return isPlaceholder(stated) && (stated > present || stated == 0xffff_ffff)
    }

    static func isPlaceholder(_ size: Int64) -> Bool {
        (0x7f00_0000...0x7f00_ffff).contains(size) || (0x7fff_0000...0x8000_0000).contains(size)
            || (0xffff_0000...0xffff_ffff).contains(size)
    }
}
