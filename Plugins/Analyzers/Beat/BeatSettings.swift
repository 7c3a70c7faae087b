internal import Hemiola
internal import HemiolaSignal

/// What can be set about the beat.
struct BeatSettings: Sendable {
    private static let slowest = Setting("min_bpm", default: 30.0, in: 20...200, "The slowest tempo, in beats per minute.")
    private static let fastest = Setting("max_bpm", default: 240.0, in: 60...300, "The fastest tempo, in beats per minute.")

    static let declared = [slowest.declared, fastest.declared]

    var tempi: ClosedRange<Double>

    init(_ settings: SettingValues) throws(ConfigurationError) {
        let (slowest, fastest) = (settings[Self.slowest], settings[Self.fastest])
        guard fastest >= 1.5 * slowest else {
            throw ConfigurationError(
                "\(fastest) is less than one and a half times min_bpm, \(slowest): too little to tell tempi apart", at: "max_bpm")
        }
        tempi = slowest...fastest
    }
}
