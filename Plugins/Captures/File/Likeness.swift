/// What a file looks like by its first bytes, for the sentence that says why it cannot be read.
enum Likeness: Hashable {
    /// Sound or film that ffmpeg reads and libsndfile does not: `an MPEG-4 file (m4a, mp4, mov)`.
    case foreignAudio(String)
    /// A container that libsndfile reads; then what is in it is damaged or of a kind that it does not decode.
    case knownAudio(String)
    /// Something that holds no sound: `a PNG image`.
    case other(String)
    /// Nothing that is known.
    case unknown

    /// Judges the first bytes of a file; 64 are enough for everything but text, for which more are better.
    init(_ head: [UInt8]) {
        if let known = Self.signatures.first(where: { $0.matches(head) }) {
            self = known.likeness
        } else if head.isADTS {
            self = .foreignAudio("AAC")
        } else if MPEGFrame(head, at: 0) != nil {
            self = .knownAudio("MPEG audio")
        } else if head.allSatisfy({ $0 == 0 }) {
            self = .other("nothing but zero bytes")
        } else if head.isText {
            self = Self.text(head)
        } else {
            self = .unknown
        }
    }

    /// Whether libsndfile could mistake it for something else, and must not see it.
    ///
    /// - Parameter isTagged: Whether it stands behind a tag; then MPEG audio may follow after anything.
    func isToBeKeptAway(isTagged: Bool) -> Bool {
        switch self {
        case .foreignAudio: true
        case .other: !isTagged
        case .knownAudio, .unknown: false
        }
    }

    private struct Signature {
        var offset: Int
        var bytes: [UInt8]
        var likeness: Likeness
        var second: (offset: Int, bytes: [UInt8])?

        init(_ text: String, at offset: Int = 0, _ likeness: Likeness, and second: (offset: Int, text: String)? = nil) {
            self.init(Array(text.utf8), at: offset, likeness)
            self.second = second.map { ($0.offset, Array($0.text.utf8)) }
        }

        init(_ bytes: [UInt8], at offset: Int = 0, _ likeness: Likeness) {
            self.offset = offset
            self.bytes = bytes
            self.likeness = likeness
        }

        func matches(_ head: [UInt8]) -> Bool {
            Self.stands(bytes, at: offset, in: head) && second.map { Self.stands($0.bytes, at: $0.offset, in: head) } ?? true
        }

        private static func stands(_ bytes: [UInt8], at offset: Int, in head: [UInt8]) -> Bool {
            head.count >= offset + bytes.count && head[offset..<offset + bytes.count].elementsEqual(bytes)
        }
    }

    /// From the formats' own specifications; file(1) says the same of each.
    private static let signatures: [Signature] = [
        Signature("RIFF", .knownAudio("a WAV file"), and: (8, "WAVE")),
        Signature("RIFX", .knownAudio("a WAV file"), and: (8, "WAVE")),
        Signature("RF64", .knownAudio("an RF64 file"), and: (8, "WAVE")),
        Signature("BW64", .knownAudio("a BW64 file"), and: (8, "WAVE")),
        Signature("riff", .knownAudio("a Wave64 file")),
        Signature("FORM", .knownAudio("an AIFF file"), and: (8, "AIF")),
        Signature(".snd", .knownAudio("an AU file")),
        Signature("caff", .knownAudio("a CAF file")),
        Signature("fLaC", .knownAudio("a FLAC file")),
        Signature("OggS", .knownAudio("an Ogg file")),
        Signature("ftyp", at: 4, .foreignAudio("an MPEG-4 file (m4a, mp4, mov)")),
        Signature("moov", at: 4, .foreignAudio("a QuickTime file (mov)")),
        Signature("mdat", at: 4, .foreignAudio("a QuickTime file (mov)")),
        Signature("ADIF", .foreignAudio("AAC")),
        Signature([0x1a, 0x45, 0xdf, 0xa3], .foreignAudio("a Matroska file (webm, mka, mkv)")),
        Signature([0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11], .foreignAudio("a Windows Media file (wma, wmv, asf)")),
        Signature("RIFF", .foreignAudio("an AVI film"), and: (8, "AVI ")),
        Signature("FLV", .foreignAudio("a Flash film")),
        Signature("MAC ", .foreignAudio("Monkey's Audio (ape)")),
        Signature("wvpk", .foreignAudio("WavPack")),
        Signature("MPCK", .foreignAudio("Musepack")),
        Signature("MP+", .foreignAudio("Musepack")),
        Signature("TTA1", .foreignAudio("True Audio")),
        Signature("DSD ", .foreignAudio("DSD audio (dsf)")),
        Signature("FRM8", .foreignAudio("DSD audio (dff)")),
        Signature("#!AMR", .foreignAudio("AMR speech")),
        Signature(".RMF", .foreignAudio("a RealMedia file")),
        Signature([0x0b, 0x77], .foreignAudio("Dolby Digital (ac3)")),
        Signature([0x7f, 0xfe, 0x80, 0x01], .foreignAudio("DTS")),
        Signature([0x00, 0x00, 0x01, 0xba], .foreignAudio("an MPEG film")),
        Signature("MThd", .other("a MIDI file: notes, not sound")),
        Signature([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a], .other("a PNG image")),
        Signature([0xff, 0xd8, 0xff], .other("a JPEG image")),
        Signature("GIF8", .other("a GIF image")),
        Signature("RIFF", .other("a WebP image"), and: (8, "WEBP")),
        Signature("BM", .other("a BMP image"), and: (6, "\0\0\0\0")),
        Signature("%PDF", .other("a PDF document")),
        Signature([0x50, 0x4b, 0x03, 0x04], .other("a ZIP archive")),
        Signature([0x1f, 0x8b], .other("a gzip archive")),
        Signature([0x28, 0xb5, 0x2f, 0xfd], .other("a Zstandard archive")),
        Signature([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], .other("an xz archive")),
        Signature([0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], .other("a 7z archive")),
        Signature("Rar!", .other("a RAR archive")),
        Signature([0x7f, 0x45, 0x4c, 0x46], .other("a program")),
        Signature("SQLite format 3", .other("an SQLite database")),
        // Text in UTF-16 begins as a frame of MPEG audio does.
        Signature([0xff, 0xfe], .other("text in UTF-16")),
        Signature([0xfe, 0xff], .other("text in UTF-16")),
    ]

    private static func text(_ head: [UInt8]) -> Likeness {
        var start = Substring(String(decoding: head.prefix(400), as: UTF8.self).lowercased())
        start = start.drop { $0.isWhitespace || $0 == "\u{feff}" }
        if start.hasPrefix("<!doctype html") || start.hasPrefix("<html") || start.contains("<head") { return .other("an HTML page") }
        if start.hasPrefix("<?xml") || start.hasPrefix("<svg") { return .other("XML") }
        if start.hasPrefix("#extm3u") || start.hasPrefix("[playlist]") { return .other("a playlist") }
        if start.hasPrefix("{\"") || start.hasPrefix("[{") || start.hasPrefix("{\n") { return .other("JSON") }
        return .other("text")
    }
}

extension [UInt8] {
    /// Whether a frame of AAC begins here: twelve bits of sync, and layer 0, which MPEG audio does not have.
    fileprivate var isADTS: Bool {
        count >= 7 && self[0] == 0xff && self[1] & 0xf6 == 0xf0 && self[2] >> 2 & 0x0f < 13
    }

    /// UTF-8 without control characters other than those of a page; a character that is cut in two at the end is let pass.
    fileprivate var isText: Bool {
        guard !isEmpty, !contains(where: { $0 < 0x20 && !(0x07...0x0d).contains($0) && $0 != 0x1b || $0 == 0x7f }) else { return false }
        return (0...3).contains { String(validating: dropLast($0), as: UTF8.self) != nil }
    }
}
