public import Hemiola
internal import HemiolaTonal

extension AnalyzerPlugin {
    /// The fundamental frequency of a single voice or instrument, its voicing, and notes.
    public static let pitch = AnalyzerPlugin(
        PluginDescription(
            "pitch", "Fundamental frequency of a single voice or instrument, voicing, and notes.", version: 1,
            declares: .init(records: [.note])),
        settings: PitchSettings.self
    ) { settings throws(Problem) in
        try PitchAnalyzer(settings)
    }
}

/// The settings of the pitch analyzer.
struct PitchSettings: PluginSettings {
    var lowest: Double
    var highest: Double
    var minimumNote: Double

    init(_ read: inout SettingReader) {
        lowest = read.hertz("min_hz", default: 65, in: 40...1000, "Lowest fundamental frequency; 65 is below C2.")
        highest = read.hertz(
            "max_hz", default: 2100, in: 80...2500, "Highest fundamental frequency, at least twice min_hz; 2100 is above C7.")
        minimumNote = read.seconds("min_note_s", default: 0.08, in: 0.02...2, "Shortest note that is reported.")
    }

    /// The range of the fundamental frequency, in hertz.
    func frequencies() throws(Problem) -> ClosedRange<Double> {
        guard highest >= 2 * lowest else {
            throw Problem("\(highest) is less than twice min_hz (\(lowest)); widen the range", at: "max_hz")
        }
        return lowest...highest
    }
}
