public import Hemiola
internal import HemiolaFiles

extension SinkPlugin {
    /// Writes beat times and bar positions in formats of other programs.
    public static let beats = SinkPlugin(
        PluginDescription(
            "beats", "Beat times and bar positions as text, Audacity labels, JAMS, JSON or MIDI, or for Rekordbox; or the tempo.",
            primary: "path"),
        settings: BeatsSettings.self,
        needs: { settings in
            let format = settings.fileFormat ?? .text
            return Needs(
                analyzers: [PluginSpec("beat")], standardOutput: OutputTarget(settings.path).isStandardOutput,
                events: [.beat], outputs: [Output(settings.path, takesSeveralInputs: format.allowsSeveralInputs, replacesFile: true)])
        },
        make: { settings throws(Problem) in
            let template = try PathTemplate(settings.path, at: "path")
            guard let format = settings.fileFormat else {
                throw Problem(settings.fault, at: "path")
            }
            // The formats are read by other programs, which do not decompress.
            let options = FileOptions(
                format.isLinewise ? .lines : .whole, capacity: format.allowsSeveralInputs ? .inputs : format.isLinewise ? .input : .stream,
                flush: .line,
                compression: .none)
            return DocumentFile(template, options) { files, context in
                BeatDocument(files[0], format, isPerInput: template.isPerInput, warn: context.messages.warn)
            }
        })
}

struct BeatsSettings: PluginSettings {
    var path: String
    var format: BeatFormat

    init(_ read: inout SettingReader) {
        path = read.text("path", default: "-", "Output file, or - for standard output. Placeholders: {stem}, {name}, {dir}, {time}.")
        format = read.choice("format", default: BeatFormat.auto, "Output format; auto: by the extension of the path, else text.")
    }

    /// The format of the file; nil: its extension is that of another kind of file.
    var fileFormat: BeatFormat? { format.resolved(for: path) }

    /// Why there is no such file.
    var fault: String {
        let ending = PathTemplate.ending(of: path)
        return format == .tempo
            ? "tempi are lines of text, which \(ending) is not; use .txt, or for a table: "
                + "hemiola analyze FILE --summary --select rhythm.bpm -o tempo.csv"
            : "unsupported extension \(ending); use .txt or .beats (text), .json, .jams, .mid or .xml (Rekordbox), "
                + "or name the format: --format text"
    }
}

/// The format of the output.
public enum BeatFormat: String, CaseIterable, Sendable {
    /// By the extension of the path: `.jams`, `.json`, `.jsonl`, `.mid`, `.midi`, `.xml`; text for none, `.beats`, `.lab`, `.tsv` and `.txt`.
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
    /// A Rekordbox XML collection with the beat grid of each track.
    case rekordbox
    /// One line per input: the tempo in BPM, several with a space between them, or `-`; with several inputs, the file and a tab precede it.
    case tempo

    /// The format for a path; nil if its extension is that of another kind of file, such as a sound file named by mistake.
    func resolved(for path: String) -> BeatFormat? {
        if self == .tempo { return Self.auto.resolved(for: path) == .text ? self : nil }
        guard self == .auto else { return self }
        if OutputTarget(path).isSpecial { return .text }
        return switch PathTemplate.ending(of: path).lowercased() {
        case ".jams": .jams
        case ".json", ".jsonl": .json
        case ".mid", ".midi": .midi
        case ".xml": .rekordbox
        case "", ".beats", ".lab", ".tsv", ".txt": .text
        default: nil
        }
    }

    /// Whether the file consists of lines, which are written as soon as they are known.
    var isLinewise: Bool { self == .text || self == .audacity || self == .tempo }

    /// Whether a file can hold several inputs.
    var allowsSeveralInputs: Bool { self != .audacity && self != .jams && self != .midi }

    /// Whether the beats belong to files in the library of another program.
    var describesFiles: Bool { self == .rekordbox }
}
