internal import Glibc
public import Hemiola
internal import HemiolaRecords
internal import HemiolaSystem
internal import HemiolaTonal

extension AnalyzerPlugin {
    /// The fundamental frequency of a single voice or instrument, its voicing, and notes.
    public static let pitch = AnalyzerPlugin(
        "pitch", "Fundamental frequency of a single voice or instrument, voicing, and notes.", settings: PitchSettings.declared,
        version: 1, records: [.note]
    ) { settings throws(Problem) in
        PitchAnalyzer(try PitchSettings(settings))
    }
}

/// The settings of the pitch analyzer.
struct PitchSettings: Sendable {
    private static let lowest = Setting(
        "min_hz", default: 65.0, in: 40...1000, unit: .hertz, "Lowest fundamental frequency; 65 is below C2.")
    private static let highest = Setting(
        "max_hz", default: 2100.0, in: 80...2500, unit: .hertz, "Highest fundamental frequency, at least twice min_hz; 2100 is above C7.")
    private static let minimumNote = Setting(
        "min_note_s", default: 0.08, in: 0.02...2, unit: .seconds, "Shortest note that is reported.")

    static let declared = [lowest.declared, highest.declared, minimumNote.declared]

    /// In hertz.
    var frequencies: ClosedRange<Double>
    /// In seconds.
    var minimumNote: Double

    init(_ settings: SettingValues) throws(Problem) {
        let (lowest, highest) = (settings[Self.lowest], settings[Self.highest])
        guard highest >= 2 * lowest else {
            throw Problem("\(highest) is less than twice min_hz (\(lowest)); widen the range", at: "max_hz")
        }
        frequencies = lowest...highest
        minimumNote = settings[Self.minimumNote]
    }
}
