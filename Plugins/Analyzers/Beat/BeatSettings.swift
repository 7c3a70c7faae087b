internal import Hemiola
internal import HemiolaSignal

/// The settings of the beat analyzer.
struct BeatSettings: Sendable {
    private static let slowest = Setting("min_bpm", default: 30.0, in: 20...200, "Slowest tempo, in BPM.")
    private static let fastest = Setting(
        "max_bpm", default: 240.0, in: 60...300, "Fastest tempo, in BPM; at least 1.5 times min_bpm.")

    static let declared = [slowest.declared, fastest.declared]

    /// The tempo range, in BPM.
    var tempi: ClosedRange<Double>

    init(_ settings: SettingValues) throws(ConfigurationError) {
        let (slowest, fastest) = (settings[Self.slowest], settings[Self.fastest])
        guard fastest >= 1.5 * slowest else {
            throw ConfigurationError("\(fastest) is less than 1.5 times min_bpm (\(slowest)); widen the tempo range", at: "max_bpm")
        }
        tempi = slowest...fastest
    }
}
