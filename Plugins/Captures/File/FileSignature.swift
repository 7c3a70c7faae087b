/// The file type by its first bytes (magic numbers). Used to choose the decoder and to explain errors.
enum FileSignature: Hashable {
    /// Audio or video that ffmpeg supports and libsndfile does not, for example `an MPEG-4 file (m4a, mp4, mov)`, with ffmpeg's name of the
    /// format.
    case unsupportedAudio(String, demuxer: String)
    /// A container that libsndfile supports. Its content may still be damaged, or in a codec that libsndfile does not support.
    case supportedAudio(String, demuxer: String)
    /// A type without audio, for example `a PNG image`.
    case notAudio(String)
    /// No known type.
    case unknown

    /// - Parameter head: The first bytes of a file: 64 for all types but text, where up to 400 are used.
    init(_ head: [UInt8]) {
        if let known = Self.signatures.first(where: { $0.matches(head) }) {
            self = known.signature
        } else if head.isADTS {
            self = .unsupportedAudio("AAC", demuxer: "aac")
        } else if MPEGFrame(head, at: 0) != nil {
            self = .supportedAudio("MPEG audio", demuxer: "mp3")
        } else if head.allSatisfy({ $0 == 0 }) {
            self = .notAudio("nothing but zero bytes")
        } else if head.isText {
            self = Self.text(head)
        } else {
            self = .unknown
        }
    }

    /// Whether libsndfile must not open the file, because it could take it for another format.
    ///
    /// - Parameter isTagged: Whether an ID3 tag precedes these bytes; then MPEG audio may follow after any bytes.
    func bypassesLibsndfile(isTagged: Bool) -> Bool {
        switch self {
        case .unsupportedAudio: true
        case .notAudio: !isTagged
        case .supportedAudio, .unknown: false
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
    private static let signatures: [Pattern] = [
        Pattern("RIFF", .supportedAudio("a WAV file", demuxer: "wav"), and: (8, "WAVE")),
        Pattern("RIFX", .supportedAudio("a WAV file", demuxer: "wav"), and: (8, "WAVE")),
        Pattern("RF64", .supportedAudio("an RF64 file", demuxer: "wav"), and: (8, "WAVE")),
        Pattern("BW64", .supportedAudio("a BW64 file", demuxer: "wav"), and: (8, "WAVE")),
        Pattern("riff", .supportedAudio("a Wave64 file", demuxer: "w64")),
        Pattern("FORM", .supportedAudio("an AIFF file", demuxer: "aiff"), and: (8, "AIF")),
        Pattern(".snd", .supportedAudio("an AU file", demuxer: "au")),
        Pattern("caff", .supportedAudio("a CAF file", demuxer: "caf")),
        Pattern("fLaC", .supportedAudio("a FLAC file", demuxer: "flac")),
        Pattern("OggS", .supportedAudio("an Ogg file", demuxer: "ogg")),
        Pattern("ftyp", at: 4, .unsupportedAudio("an MPEG-4 file (m4a, mp4, mov)", demuxer: "mov")),
        Pattern("moov", at: 4, .unsupportedAudio("a QuickTime file (mov)", demuxer: "mov")),
        Pattern("mdat", at: 4, .unsupportedAudio("a QuickTime file (mov)", demuxer: "mov")),
        Pattern("ADIF", .unsupportedAudio("AAC", demuxer: "aac")),
        Pattern([0x1a, 0x45, 0xdf, 0xa3], .unsupportedAudio("a Matroska file (webm, mka, mkv)", demuxer: "matroska")),
        Pattern(
            [0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11], .unsupportedAudio("a Windows Media file (wma, wmv, asf)", demuxer: "asf")),
        Pattern("RIFF", .unsupportedAudio("an AVI video", demuxer: "avi"), and: (8, "AVI ")),
        Pattern("FLV", .unsupportedAudio("a Flash video", demuxer: "flv")),
        Pattern("MAC ", .unsupportedAudio("Monkey's Audio (ape)", demuxer: "ape")),
        Pattern("wvpk", .unsupportedAudio("WavPack", demuxer: "wv")),
        Pattern("MPCK", .unsupportedAudio("Musepack", demuxer: "mpc8")),
        Pattern("MP+", .unsupportedAudio("Musepack", demuxer: "mpc")),
        Pattern("TTA1", .unsupportedAudio("True Audio", demuxer: "tta")),
        Pattern("DSD ", .unsupportedAudio("DSD audio (dsf)", demuxer: "dsf")),
        Pattern("FRM8", .unsupportedAudio("DSD audio (dff)", demuxer: "iff")),
        Pattern("#!AMR", .unsupportedAudio("AMR speech", demuxer: "amr")),
        Pattern(".RMF", .unsupportedAudio("a RealMedia file", demuxer: "rm")),
        Pattern([0x0b, 0x77], .unsupportedAudio("Dolby Digital (ac3)", demuxer: "ac3")),
        Pattern([0x7f, 0xfe, 0x80, 0x01], .unsupportedAudio("DTS", demuxer: "dts")),
        Pattern([0x00, 0x00, 0x01, 0xba], .unsupportedAudio("an MPEG video", demuxer: "mpeg")),
        Pattern("MThd", .notAudio("a MIDI file, which holds notes and no audio")),
        Pattern([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a], .notAudio("a PNG image")),
        Pattern([0xff, 0xd8, 0xff], .notAudio("a JPEG image")),
        Pattern("GIF8", .notAudio("a GIF image")),
        Pattern("RIFF", .notAudio("a WebP image"), and: (8, "WEBP")),
        Pattern("BM", .notAudio("a BMP image"), and: (6, "\0\0\0\0")),
        Pattern("%PDF", .notAudio("a PDF document")),
        Pattern([0x50, 0x4b, 0x03, 0x04], .notAudio("a ZIP archive")),
        Pattern([0x1f, 0x8b], .notAudio("a gzip archive")),
        Pattern([0x28, 0xb5, 0x2f, 0xfd], .notAudio("a Zstandard archive")),
        Pattern([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], .notAudio("an xz archive")),
        Pattern([0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], .notAudio("a 7z archive")),
        Pattern("Rar!", .notAudio("a RAR archive")),
        Pattern([0x7f, 0x45, 0x4c, 0x46], .notAudio("a program")),
        Pattern("SQLite format 3", .notAudio("an SQLite database")),
        // A byte order mark looks like the sync word of MPEG audio.
        Pattern([0xff, 0xfe], .notAudio("text in UTF-16")),
        Pattern([0xfe, 0xff], .notAudio("text in UTF-16")),
    ]

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
