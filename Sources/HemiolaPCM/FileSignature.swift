/// The file type by its first bytes (magic numbers): it selects the decoder and explains errors.
public enum FileSignature: Sendable, Hashable {
    /// A container of samples, uncompressed or not: `a WAV file`.
    case samples(String)
    /// FLAC in its own container.
    case flac
    /// Ogg, whatever its codec.
    case ogg
    /// A frame of MPEG audio. Its sync word has eleven bits, which also occur in other bytes.
    case mpeg
    /// A type that ffmpeg decodes: `an MPEG-4 file (m4a, mp4, mov)`.
    case other(String)
    /// A type without audio: `a PNG image`.
    case notAudio(String)
    /// No known type.
    case unknown

    /// Recognizes a type. Bytes of no known type are `notAudio` where they are text or zeros only, else `unknown`.
    ///
    /// - Parameter head: The first bytes of a file: 64 for all types but text, where up to 400 are used.
    public init(_ head: [UInt8]) {
        if let known = Self.signatures.first(where: { $0.matches(head) }) {
            self = known.signature
        } else if head.isADTS {
            self = .other("AAC")
        } else if MPEGFrame(head, at: 0) != nil {
            self = .mpeg
        } else if head.allSatisfy({ $0 == 0 }) {
            self = .zeros
        } else if head.isText {
            self = Self.text(head)
        } else {
            self = .unknown
        }
    }

    private static let zeros = FileSignature.notAudio("nothing but zero bytes")
    private static let utf16 = FileSignature.notAudio("text in UTF-16")

    /// Whether sound may follow such bytes: zeros before the first frame, and a frame that begins as text in UTF-16 does.
    public var mayPrecedeSound: Bool { self == .unknown || self == Self.zeros || self == Self.utf16 }

    /// Whether a decoder is to try: not with an image or a text.
    public var mayBeSound: Bool { if case .notAudio = self { false } else { true } }

    /// The type with its article, for a message: `a WAV file`; nil for an unknown one.
    public var name: String? {
        switch self {
        case .samples(let name), .other(let name), .notAudio(let name): name
        case .flac: "a FLAC file"
        case .ogg: "an Ogg file"
        case .mpeg: "MPEG audio"
        case .unknown: nil
        }
    }

    private struct Pattern {
        var offset: Int
        var bytes: [UInt8]
        var signature: FileSignature
        var second: (offset: Int, bytes: [UInt8])?

        init(_ text: String, at offset: Int = 0, _ signature: FileSignature, and second: (offset: Int, text: String)? = nil) {
            self.init(Array(text.utf8), at: offset, signature)
            self.second = second.map { ($0.offset, Array($0.text.utf8)) }
        }

        init(_ bytes: [UInt8], at offset: Int = 0, _ signature: FileSignature) {
            self.offset = offset
            self.bytes = bytes
            self.signature = signature
        }

        func matches(_ head: [UInt8]) -> Bool {
            Self.contains(bytes, at: offset, in: head) && second.map { Self.contains($0.bytes, at: $0.offset, in: head) } ?? true
        }

        private static func contains(_ bytes: [UInt8], at offset: Int, in head: [UInt8]) -> Bool {
            head.count >= offset + bytes.count && head[offset..<offset + bytes.count].elementsEqual(bytes)
        }
    }

    /// From the specifications of the formats; file(1) agrees.
    private static let signatures: [Pattern] =
        [
            Pattern("RIFF", .samples("a WAV file"), and: (8, "WAVE")),
            Pattern("RIFX", .samples("a WAV file"), and: (8, "WAVE")),
            Pattern("RF64", .samples("an RF64 file"), and: (8, "WAVE")),
            Pattern("BW64", .samples("a BW64 file"), and: (8, "WAVE")),
            Pattern("riff", .samples("a Wave64 file")),
            Pattern("FORM", .samples("an AIFF file"), and: (8, "AIF")),
            Pattern("FORM", .samples("an IFF file (8svx)"), and: (8, "8SVX")),
            Pattern(".snd", .samples("an AU file")),
            Pattern("caff", .samples("a CAF file")),
            // Its header is text.
            Pattern("NIST_1A", .samples("a NIST SPHERE file")),
            Pattern("fLaC", .flac),
            Pattern("OggS", .ogg),
            Pattern("ftyp", at: 4, .other("an MPEG-4 file (m4a, mp4, mov)")),
            Pattern("ADIF", .other("AAC")),
            Pattern([0x1a, 0x45, 0xdf, 0xa3], .other("a Matroska file (webm, mka, mkv)")),
            Pattern(
                [0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11], .other("a Windows Media file (wma, wmv, asf)")),
            Pattern("RIFF", .other("an AVI video"), and: (8, "AVI ")),
            Pattern("FLV", .other("a Flash video")),
            Pattern("MAC ", .other("Monkey's Audio (ape)")),
            Pattern("wvpk", .other("WavPack")),
            Pattern("MPCK", .other("Musepack")),
            Pattern("MP+", .other("Musepack")),
            Pattern("TTA1", .other("True Audio")),
            Pattern("tBaK", .other("TAK")),
            Pattern("OFR ", .other("OptimFROG (ofr)")),
            Pattern("DSD ", .other("DSD audio (dsf)")),
            Pattern("FRM8", .other("DSD audio (dff)")),
            Pattern("#!AMR", .other("AMR speech")),
            Pattern(".RMF", .other("a RealMedia file")),
            Pattern([0x0b, 0x77], .other("Dolby Digital (ac3)")),
            Pattern([0x7f, 0xfe, 0x80, 0x01], .other("DTS")),
            Pattern([0x00, 0x00, 0x01, 0xba], .other("an MPEG video")),
            Pattern("MThd", .notAudio("a MIDI file, which holds notes and no audio")),
            Pattern([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a], .notAudio("a PNG image")),
            Pattern([0xff, 0xd8, 0xff], .notAudio("a JPEG image")),
            Pattern("GIF8", .notAudio("a GIF image")),
            Pattern("RIFF", .notAudio("a WebP image"), and: (8, "WEBP")),
            Pattern("BM", .notAudio("a BMP image"), and: (6, "\0\0\0\0")),
            Pattern("FORM", .notAudio("an IFF image"), and: (8, "ILBM")),
            Pattern("%PDF", .notAudio("a PDF document")),
            Pattern([0x50, 0x4b, 0x03, 0x04], .notAudio("a ZIP archive")),
            Pattern([0x1f, 0x8b], .notAudio("a gzip archive")),
            Pattern([0x28, 0xb5, 0x2f, 0xfd], .notAudio("a Zstandard archive")),
            Pattern([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], .notAudio("an xz archive")),
            Pattern([0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], .notAudio("a 7z archive")),
            Pattern("Rar!", .notAudio("a RAR archive")),
            Pattern([0x7f, 0x45, 0x4c, 0x46], .notAudio("a program")),
            Pattern("SQLite format 3", .notAudio("an SQLite database")),
            Pattern([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1], .notAudio("a Microsoft Office document")),
            // A byte order mark looks like the sync word of MPEG audio.
            Pattern([0xff, 0xfe], .utf16),
            Pattern([0xfe, 0xff], .utf16),
        ] + ["moov", "mdat", "wide", "free", "skip", "pnot"].map { Pattern($0, at: 4, .other("a QuickTime file (mov)")) }

    private static func text(_ head: [UInt8]) -> FileSignature {
        var start = Substring(String(decoding: head.prefix(400), as: UTF8.self).lowercased())
        start = start.drop { $0.isWhitespace || $0 == "\u{feff}" }
        if start.hasPrefix("<!doctype html") || start.hasPrefix("<html") || start.contains("<head") { return .notAudio("an HTML page") }
        if start.hasPrefix("<?xml") || start.hasPrefix("<svg") { return .notAudio("XML") }
        if start.hasPrefix("#extm3u") || start.hasPrefix("[playlist]") { return .notAudio("a playlist") }
        if start.hasPrefix("{\"") || start.hasPrefix("[{") || start.hasPrefix("{\n") { return .notAudio("JSON") }
        return .notAudio("text")
    }
}

extension [UInt8] {
    /// Whether a frame of AAC begins here (ADTS): a sync word of twelve bits, and layer 0, which MPEG audio does not have.
    fileprivate var isADTS: Bool {
        count >= 7 && self[0] == 0xff && self[1] & 0xf6 == 0xf0 && self[2] >> 2 & 0x0f < 13
    }

    /// Whether these bytes are UTF-8 without control characters other than white space, bell and escape. The last character may be
    /// incomplete.
    fileprivate var isText: Bool {
        guard !isEmpty, !contains(where: { $0 < 0x20 && !(0x07...0x0d).contains($0) && $0 != 0x1b || $0 == 0x7f }) else { return false }
        return (0...3).contains { String(validating: dropLast($0), as: UTF8.self) != nil }
    }
}
