internal import Hemiola
internal import HemiolaSystem

/// The error for a stream without a supported header: its format by the first bytes, and what to do.
enum UnsupportedFormat {
    /// - Parameter reason: The reason, where the container is supported.
    static func error(for stream: ByteStream, because reason: String? = nil) -> Problem {
        let remedy = stream.size == nil ? stream.advice.decoding : PCMAdvice.file
        let raw = "for raw samples, give their format: \(stream.advice.rawExample)"
        if let reason {
            return Problem("\(stream.name): \(reason), but pcm supports only integer and floating-point samples; \(remedy)")
        }
        if let name = signature(of: stream) {
            return Problem(
                "\(stream.name) looks like \(name), but pcm supports only WAV, AIFF, AU, CAF, Wave64 and raw samples; \(remedy)")
        }
        if let name = frameHeader(of: stream) {
            return Problem("\(stream.name) is not a WAV, AIFF, AU, CAF or Wave64 stream; if it is \(name), \(remedy); \(raw)")
        }
        return Problem("\(stream.name) is not a WAV, AIFF, AU, CAF or Wave64 stream (first bytes: \(firstBytes(of: stream))); \(raw)")
    }

    static func empty(_ name: String) -> Problem {
        Problem("\(name) is empty (0 bytes); check whether the program before the pipe failed")
    }

    private static let signatures: [(text: StaticString, offset: Int, name: String)] = [
        ("fLaC", 0, "FLAC"),
        ("OggS", 0, "Ogg"),
        ("ID3", 0, "MP3"),
        ("ftyp", 4, "MP4 or M4A"),
        ("FORM", 0, "IFF, but not AIFF"),
        ("wvpk", 0, "WavPack"),
        ("MAC ", 0, "Monkey's Audio"),
        ("TTA1", 0, "True Audio"),
        ("MPCK", 0, "Musepack"),
        ("DSD ", 0, "DSD"),
        ("FRM8", 0, "DSD"),
        ("#!AMR", 0, "AMR"),
        ("MThd", 0, "MIDI"),
        ("FLV", 0, "Flash video"),
        ("RIFF", 0, "RIFF, but not WAVE"),
    ]

    /// Signatures that are not text.
    private static let binarySignatures: [(bytes: [UInt8], name: String)] = [
        ([0x1a, 0x45, 0xdf, 0xa3], "Matroska or WebM"),
        ([0x30, 0x26, 0xb2, 0x75, 0x8e, 0x66, 0xcf, 0x11], "Windows Media (ASF)"),
        ([0x1f, 0x8b, 0x08], "a gzip archive"),
        ([0x50, 0x4b, 0x03, 0x04], "a zip archive"),
    ]

    private static func signature(of stream: ByteStream) -> String? {
        if let match = signatures.first(where: { stream.hasText($0.text, at: $0.offset) }) { return match.name }
        return binarySignatures.first { signature in
            stream.count >= signature.bytes.count && signature.bytes.indices.allSatisfy { stream.byte(at: $0) == signature.bytes[$0] }
        }?.name
    }

    /// MPEG audio or AAC without a tag. Its sync word, eleven or twelve set bits, also occurs in samples.
    private static func frameHeader(of stream: ByteStream) -> String? {
        guard stream.count >= 4, stream.byte(at: 0) == 0xff, stream.byte(at: 1) & 0xe0 == 0xe0 else { return nil }
        let second = stream.byte(at: 1)
        if second & 0xf6 == 0xf0 { return "AAC" }
        let third = stream.byte(at: 2)
        let isPossible = (second >> 3) & 3 != 1 && (second >> 1) & 3 != 0 && third >> 4 != 15 && (third >> 2) & 3 != 3
        return isPossible ? "MP3" : nil
    }

    private static func firstBytes(of stream: ByteStream) -> String {
        (0..<min(4, stream.count)).map { index in
            let digits = String(stream.byte(at: index), radix: 16)
            return digits.count == 1 ? "0\(digits)" : digits
        }.joined(separator: " ")
    }
}

extension ByteStream {
    fileprivate func byte(at offset: Int) -> UInt8 {
        bytes.load(fromByteOffset: offset, as: UInt8.self)
    }
}
