internal import Hemiola

/// The error for a stream without a supported header: its format by the first bytes, and what to do.
enum UnsupportedFormat {
    /// - Parameter reason: The reason, where the container is supported.
    static func error(for stream: ByteStream, because reason: String? = nil) -> Problem {
        let remedy = stream.size == nil ? stream.advice.decoding : PCMAdvice.file
        let raw = "for raw samples, give their format: \(stream.advice.rawExample)"
        if let reason {
            return Problem("\(stream.name): \(reason), but pcm supports only integer and floating-point samples; \(remedy)")
        }
        let head = Array(UnsafeRawBufferPointer(start: stream.bytes, count: min(64, stream.count)))
        let signature = FileSignature(head)
        switch signature {
        // Their sync words, of eleven and twelve bits, also occur in samples.
        case .mpeg, .other("AAC"):
            let name = signature == .mpeg ? "MP3" : "AAC"
            return Problem("\(stream.name) is not a WAV, AIFF, AU, CAF or Wave64 stream; if it is \(name), \(remedy); \(raw)")
        case .flac, .ogg, .other, .samples:
            let name = signature.name ?? "sound"
            return Problem(
                "\(stream.name) looks like \(name), but pcm supports only WAV, AIFF, AU, CAF, Wave64 and raw samples; \(remedy)")
        // Samples may begin with the bytes of a text or of silence.
        case .notAudio, .unknown: break
        }
        return Problem("\(stream.name) is not a WAV, AIFF, AU, CAF or Wave64 stream (first bytes: \(firstBytes(head))); \(raw)")
    }

    static func empty(_ name: String) -> Problem {
        Problem("\(name) is empty (0 bytes); check whether the program before the pipe failed")
    }

    private static func firstBytes(_ head: [UInt8]) -> String {
        head.prefix(4).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined(separator: " ")
    }
}
