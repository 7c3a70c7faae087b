public import Hemiola

/// The settings that declare the format of raw samples: `raw`, or `encoding`, `rate` and `channels`. A capture reads them in its own settings:
/// `raw = RawFormatSettings(&read)`.
public struct RawFormatSettings: PluginSettings {
    private var raw: String?
    private var encoding: PCMEncoding?
    private var rate: Int?
    private var channels: Int?

    public init(_ read: inout SettingReader) {
        raw = read.text(
            "raw",
            "Format of raw samples: encoding, sample rate and channels, as f32le:44100:2; unset: a stream with a header, such as WAV.")
        encoding = read.choice("encoding", "Encoding of raw samples; needs rate and channels too.")
        rate = read.integer("rate", in: StreamFormat.sampleRates, unit: .hertz, "Sample rate of raw samples.")
        channels = read.integer("channels", in: StreamFormat.channelCounts, "Number of channels of raw samples.")
    }

    /// The format that these settings declare.
    ///
    /// - Returns: nil for a stream whose header declares it.
    /// - Throws: The setting that is wrong, missing, or given twice.
    public func format() throws(Problem) -> PCMFormat? {
        if let raw {
            guard encoding == nil, rate == nil, channels == nil else {
                throw Problem("raw already contains encoding, rate and channels; leave them out", at: "raw")
            }
            do {
                return try PCMFormat(parsing: raw)
            } catch {
                throw Problem(error.message, at: "raw")
            }
        }
        if let encoding, let rate, let channels {
            return PCMFormat(encoding, StreamFormat(sampleRate: rate, channelCount: channels))
        }
        let missing = [encoding == nil ? "encoding" : nil, rate == nil ? "rate" : nil, channels == nil ? "channels" : nil].compactMap(
            \.self)
        if missing.count == 3 { return nil }
        throw Problem(
            "missing \(missing.joined(separator: " and ")); raw samples need all three, as in encoding=f32le,rate=44100,channels=2",
            at: missing[0])
    }
}
