public import Hemiola
internal import HemiolaOutput

extension SinkPlugin {
    private static let path = Setting(
        "path", default: "-", "The file to write, or - for standard output; {stem}, {name}, {dir} and {time} are placeholders.")
    private static let format = Setting(
        "format", default: BeatFormat.auto, "How beats are written; auto: as the path's ending says, else text.")

    /// The beats alone, in a format that other programs read.
    public static let beats = SinkPlugin(
        "beats", "The beats alone: times and places in the bar as text, Audacity labels, JAMS, JSON or MIDI.",
        settings: [path.declared, format.declared], primary: path.key,
        needs: { settings in
            let format = settings[format].resolved(for: settings[path])
            return Needs(
                analyzers: [PluginSpec("beat")], standardOutput: OutputTarget(settings[path]).isStandardOutput,
                outputs: [Output(settings[path], takesSeveralInputs: format.takesSeveral, replacesFile: true)])
        },
        make: { settings throws(ConfigurationError) in
            BeatWriter(try PathTemplate(settings[path], at: path.key), settings[format].resolved(for: settings[path]))
        })
}

/// How beats are written.
public enum BeatFormat: String, SettingChoice {
    /// As the path's ending says.
    case auto
    /// A line per beat: seconds, a tab, the place in the bar.
    case text
    /// A label track for Audacity.
    case audacity
    /// JAMS 0.3 (Humphrey et al., ISMIR 2014).
    case jams
    /// An object per input, on a line.
    case json
    /// A Standard MIDI File with a tempo map and a click for each beat.
    case midi

    func resolved(for path: String) -> BeatFormat {
        guard self == .auto else { return self }
        let ending = path.split(separator: "/").last?.split(separator: ".").last.map { $0.lowercased() } ?? ""
        return switch ending {
        case "jams": .jams
        case "json", "jsonl": .json
        case "mid", "midi": .midi
        default: .text
        }
    }

    /// Whether a beat is a line of its own that can be written at once, and inputs can follow one another.
    var isLinewise: Bool { self == .text || self == .audacity }

    /// Whether several inputs can be in one file.
    var takesSeveral: Bool { isLinewise || self == .json }
}
