public import Hemiola
public import HemiolaSignal

/// What raw samples cannot say about themselves: how a sample is written, how many frames a second, how many channels.
public struct PCMFormat: Sendable, Hashable, CustomStringConvertible {
    /// The example that messages show.
    static let example = "f32le,44100,2"

    /// How a sample is written.
    public var encoding: PCMEncoding
    /// Frames per second and samples per frame.
    public var stream: StreamFormat

    /// An encoding, and how many frames a second of how many channels.
    public init(_ encoding: PCMEncoding, _ stream: StreamFormat) {
        self.encoding = encoding
        self.stream = stream
    }

    /// Reads `f32le,44100,2`: encoding, frames per second, channels. A colon does for a comma, since a SPEC takes commas away.
    ///
    /// - Throws: One problem, on one line, with an example.
    public init(parsing text: String) throws(ConfigurationError) {
        let parts = text.split(omittingEmptySubsequences: false) { $0 == "," || $0 == ":" }.map { $0.trimmed }
        guard parts.count == 3 else {
            throw Self.fault("\"\(text)\" is no format of raw samples; write encoding, frames a second and channels")
        }
        let encodings = PCMEncoding.allCases.map(\.rawValue)
        guard let encoding = PCMEncoding(rawValue: parts[0].lowercased()) else {
            // s16 is short for s16le, however near s8 may be.
            let nearest = encodings.first { parts[0].count > 1 && $0.hasPrefix(parts[0]) } ?? parts[0].nearest(in: encodings)
            let hint = nearest.map { "did you mean \($0)?" } ?? "there are: \(encodings.joined(separator: ", "))"
            throw ConfigurationError("\"\(parts[0])\" in \"\(text)\" is no encoding; \(hint)")
        }
        guard let sampleRate = Int(parts[1]), StreamFormat.sampleRates.contains(sampleRate) else {
            let range = StreamFormat.sampleRates
            throw Self.fault("\"\(parts[1])\" in \"\(text)\" is no rate within \(range.lowerBound)...\(range.upperBound) Hz; write it")
        }
        guard let channelCount = Int(parts[2]), StreamFormat.channelCounts.contains(channelCount) else {
            let range = StreamFormat.channelCounts
            throw Self.fault(
                "\"\(parts[2])\" in \"\(text)\" is no number of channels within \(range.lowerBound)...\(range.upperBound); write it")
        }
        self.init(encoding, StreamFormat(sampleRate: sampleRate, channelCount: channelCount))
    }

    private static func fault(_ message: String) -> ConfigurationError {
        ConfigurationError("\(message), as in \(example)")
    }

    /// As it is parsed.
    public var description: String { "\(encoding.rawValue),\(stream.sampleRate),\(stream.channelCount)" }

    /// Bytes per frame.
    var frameByteCount: Int { encoding.byteCount * stream.channelCount }
}

extension Substring {
    fileprivate var trimmed: String {
        String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
