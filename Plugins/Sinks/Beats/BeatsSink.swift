public import Hemiola
internal import HemiolaOutput

extension SinkPlugin {
    private static let path = Setting(
        "path", default: "-", "Output file, or - for standard output. Placeholders: {stem}, {name}, {dir}, {time}.")
    private static let format = Setting(
        "format", default: BeatFormat.auto, "Output format; auto: by the extension of the path, else text.")

    /// Writes beat times and bar positions in formats of other programs.
    public static let beats = SinkPlugin(
        "beats", "Beat times and bar positions only, as text, Audacity labels, JAMS, JSON or MIDI.",
        settings: [path.declared, format.declared], primary: "path",
        needs: { settings in
            let format = settings[format].resolved(for: settings[path])
            return Needs(
                analyzers: [PluginSpec("beat")], standardOutput: OutputTarget(settings[path]).isStandardOutput,
                outputs: [Output(settings[path], takesSeveralInputs: format.allowsSeveralInputs, replacesFile: true)])
        },
        make: { settings throws(ConfigurationError) in
            BeatWriter(try PathTemplate(settings[path], at: path.key), settings[format].resolved(for: settings[path]))
        })
}

/// The format of the output.
public enum BeatFormat: String, SettingChoice {
    /// By the extension of the path: `.jams`, `.json`, `.jsonl`, `.mid`, `.midi`; text for any other.
    case auto
    /// One line per beat: time in seconds, tab, position in the bar (1 is the downbeat).
    case text
    /// An Audacity label track: one line per beat, a label of length 0.
    case audacity
    /// JAMS 0.3 (Humphrey et al., ISMIR 2014).
    case jams
    /// One JSON object per input, on one line.
    case json
    /// A Standard MIDI File with a tempo map and a metronome note on each beat.
    case midi

    func resolved(for path: String) -> BeatFormat {
        guard self == .auto else { return self }
        let extensionOfPath = path.split(separator: "/").last?.split(separator: ".").last.map { $0.lowercased() } ?? ""
        return switch extensionOfPath {
        case "jams": .jams
        case "json", "jsonl": .json
        case "mid", "midi": .midi
        default: .text
        }
    }

    /// Whether each beat is one line, written as soon as it is known, and a file can hold several inputs.
    var isLinewise: Bool { self == .text || self == .audacity }

    /// Whether a file can hold several inputs.
    var allowsSeveralInputs: Bool { isLinewise || self == .json }
}
