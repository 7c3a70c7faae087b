internal import Hemiola
internal import HemiolaSignal

/// What can be set about a stream of samples.
struct PCMSettings: Sendable {
    private static let path = Setting(
        "path", default: "-", "The pipe, FIFO or file that is read; - is standard input.")
    private static let raw = Setting(
        "raw", default: String?.none, "The stream is raw samples: encoding, rate and channels, as f32le:44100:2; unset: WAV.")
    private static let encoding = Setting(
        "encoding", default: PCMEncoding?.none, "Raw samples are written so; needs rate and channels too.")
    private static let rate = Setting<Int?>(
        "rate", in: StreamFormat.sampleRates, unit: .hertz, "Frames a second of raw samples.")
    private static let channels = Setting<Int?>(
        "channels", in: StreamFormat.channelCounts, "Samples a frame of raw samples.")
    private static let spool = Setting(
        "spool", default: false, "Keeps the bytes in an unlinked file in $TMPDIR, so that the stream can be heard twice.")

    static let declared = [
        path.declared, raw.declared, encoding.declared, rate.declared, channels.declared, spool.declared,
    ]

    var path: String
    /// The format of raw samples, or nil for a WAV stream that states its own.
    var format: PCMFormat?
    var spools: Bool

    init(_ settings: SettingValues) throws(ConfigurationError) {
        path = settings[Self.path]
        spools = settings[Self.spool]
        guard !path.isEmpty else { throw ConfigurationError("there is no path; - is standard input", at: Self.path.key) }
        format = try Self.format(settings)
    }

    private static func format(_ settings: SettingValues) throws(ConfigurationError) -> PCMFormat? {
        let parts = (encoding: settings[Self.encoding], rate: settings[Self.rate], channels: settings[Self.channels])
        if let text = settings[Self.raw] {
            guard parts == (nil, nil, nil) else {
                throw ConfigurationError("encoding, rate and channels stand in raw already; leave them out", at: Self.raw.key)
            }
            do {
                return try PCMFormat(parsing: text)
            } catch {
                throw ConfigurationError(error.problems.map { ConfigurationProblem(Self.raw.key, $0.message) })
            }
        }
        switch parts {
        case (nil, nil, nil):
            return nil
        case (let encoding?, let rate?, let channels?):
            return PCMFormat(encoding, StreamFormat(sampleRate: rate, channelCount: channels))
        default:
            var missing: [String] = []
            if parts.encoding == nil { missing.append(Self.encoding.key) }
            if parts.rate == nil { missing.append(Self.rate.key) }
            if parts.channels == nil { missing.append(Self.channels.key) }
            throw ConfigurationError(
                "there is no \(missing.joined(separator: " and no ")); raw samples need all three, as in encoding=f32le,rate=44100,channels=2",
                at: missing[0])
        }
    }
}
