package import Hemiola
internal import HemiolaRecords
internal import HemiolaSignal
package import HemiolaSystem

extension PCMFormat {
    private static let raw = Setting(
        "raw", default: String?.none,
        "Format of raw samples: encoding, sample rate and channels, as f32le:44100:2; unset: a stream with a header, such as WAV.")
    private static let encoding = Setting(
        "encoding", default: PCMEncoding?.none, "Encoding of raw samples; needs rate and channels too.")
    private static let rate = Setting<Int?>(
        "rate", in: StreamFormat.sampleRates, unit: .hertz, "Sample rate of raw samples.")
    private static let channels = Setting<Int?>(
        "channels", in: StreamFormat.channelCounts, "Number of channels of raw samples.")

    /// The settings that declare the format of raw samples.
    package static let settings = [raw.declared, encoding.declared, rate.declared, channels.declared]

    /// The format that these settings declare.
    ///
    /// - Returns: nil for a stream whose header declares it.
    package init?(_ settings: SettingValues) throws(Problem) {
        let parts = (encoding: settings[Self.encoding], rate: settings[Self.rate], channels: settings[Self.channels])
        if let text = settings[Self.raw] {
            guard parts == (nil, nil, nil) else {
                throw Problem("raw already contains encoding, rate and channels; leave them out", at: Self.raw.key)
            }
            do {
                self = try PCMFormat(parsing: text)
                return
            } catch {
                throw Problem(error.all.map { Problem($0.message, at: .key(Self.raw.key)) })
            }
        }
        switch parts {
        case (nil, nil, nil):
            return nil
        case (let encoding?, let rate?, let channels?):
            self.init(encoding, StreamFormat(sampleRate: rate, channelCount: channels))
        default:
            var missing: [String] = []
            if parts.encoding == nil { missing.append(Self.encoding.key) }
            if parts.rate == nil { missing.append(Self.rate.key) }
            if parts.channels == nil { missing.append(Self.channels.key) }
            throw Problem(
                "missing \(missing.joined(separator: " and ")); raw samples need all three, as in encoding=f32le,rate=44100,channels=2",
                at: missing[0])
        }
    }
}
