public import Hemiola

/// The format of raw samples: encoding, sample rate and channels.
public struct PCMFormat: Sendable, Hashable, CustomStringConvertible {
    /// The example in messages.
    static let example = "f32le,44100,2"

    /// The encoding of a sample.
    public var encoding: PCMEncoding
    /// Sample rate and channels.
    public var stream: StreamFormat

    /// A format with an encoding, a sample rate and channels.
    public init(_ encoding: PCMEncoding, _ stream: StreamFormat) {
        self.encoding = encoding
        self.stream = stream
    }

    /// Parses `f32le,44100,2`: encoding, sample rate in hertz, channels. Colons may replace the commas, which separate settings in a SPEC.
    ///
    /// - Throws: One problem, on one line, with an example.
    public init(parsing text: String) throws(Problem) {
        let parts = text.split(omittingEmptySubsequences: false) { $0 == "," || $0 == ":" }.map { $0.trimmed }
        guard parts.count == 3 else {
            throw Self.fault("\"\(text)\" is not a raw sample format (encoding, sample rate, channels)")
        }
        let encodings = PCMEncoding.allCases.map(\.rawValue)
        guard let encoding = PCMEncoding(rawValue: parts[0].lowercased()) else {
            // Suggests s16le for s16, although s8 is nearer.
            let nearest = encodings.first { parts[0].count > 1 && $0.hasPrefix(parts[0]) } ?? parts[0].nearest(in: encodings)
            let hint = nearest.map { "did you mean \($0)?" } ?? "the encodings are \(encodings.joined(separator: ", "))"
            throw Problem("\"\(parts[0])\" in \"\(text)\" is not an encoding; \(hint)")
        }
        guard let sampleRate = Int(parts[1]), StreamFormat.sampleRates.contains(sampleRate) else {
            let range = StreamFormat.sampleRates
            throw Self.fault("\"\(parts[1])\" in \"\(text)\" is not a sample rate within \(range.lowerBound)...\(range.upperBound) Hz")
        }
        guard let channelCount = Int(parts[2]), StreamFormat.channelCounts.contains(channelCount) else {
            let range = StreamFormat.channelCounts
            throw Self.fault(
                "\"\(parts[2])\" in \"\(text)\" is not a number of channels within \(range.lowerBound)...\(range.upperBound)")
        }
        self.init(encoding, StreamFormat(sampleRate: sampleRate, channelCount: channelCount))
    }

    private static func fault(_ message: String) -> Problem {
        Problem("\(message), for example \(example)")
    }

    /// The text that `init(parsing:)` accepts.
    public var description: String { "\(encoding.rawValue),\(stream.sampleRate),\(stream.channelCount)" }

    /// Bytes per frame.
    var frameByteCount: Int { encoding.byteCount * stream.channelCount }
}

extension Substring {
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
