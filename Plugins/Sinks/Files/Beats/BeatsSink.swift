public import Hemiola
internal import HemiolaFiles

extension SinkPlugin {
    /// Writes beat times and bar positions in formats of other programs.
    public static let beats = SinkPlugin(
        PluginDescription(
            "beats",
            "Beat times and bar positions as text, Audacity labels, JAMS, JSON or MIDI, for Rekordbox, xLights or editors; or the tempo.",
            primary: "path"),
        settings: BeatsSettings.self,
        needs: { settings in
            let format = settings.fileFormat ?? .text
            return Needs(
                analyzers: format.hasSections
                    ? [PluginSpec("beat", settings: ["phrases": .boolean(true)]), PluginSpec("structure")] : [PluginSpec("beat")],
                standardOutput: OutputTarget(settings.path).isStandardOutput,
                events: [.beat] + (format.hasSections ? [BeatTrack.section, BeatTrack.phrase] : []),
                outputs: [Output(settings.path, takesSeveralInputs: format.allowsSeveralInputs, replacesFile: true)])
        },
        make: { settings throws(Problem) in
            let template = try PathTemplate(settings.path, at: "path")
            guard let format = settings.fileFormat else {
                throw Problem(settings.fault, at: "path")
            }
            let frameRate = try settings.frameRate(of: format)
            // The formats are read by other programs, which do not decompress.
            let options = FileOptions(
                format.isLinewise ? .lines : .whole, capacity: format.allowsSeveralInputs ? .inputs : format.isLinewise ? .input : .stream,
                flush: .line,
                compression: .none)
            return DocumentFile(template, options) { files, context in
                BeatDocument(files[0], format, frameRate, isPerInput: template.isPerInput, warn: context.messages.warn)
            }
        })
}

struct BeatsSettings: PluginSettings {
    var path: String
    var format: BeatFormat
    var framesPerSecond: Double?

    init(_ read: inout SettingReader) {
        path = read.text("path", default: "-", "Output file, or - for standard output. Placeholders: {stem}, {name}, {dir}, {time}.")
        format = read.choice("format", default: BeatFormat.auto, "Output format; auto: by the extension of the path, else text.")
        framesPerSecond = read.number(
            "fps", in: 1...240, unit: "1/s", "Frame rate of the timeline for which edl is: 24, 25, 30, 60 … or 23.976, 29.97, 59.94.")
    }

    /// The frame rate of a timeline; nil: the format has none.
    func frameRate(of format: BeatFormat) throws(Problem) -> FrameRate? {
        guard format == .edl else {
            if framesPerSecond != nil { throw Problem("only the format edl has a frame rate; leave out fps", at: "fps") }
            return nil
        }
        guard let framesPerSecond else {
            throw Problem("an EDL counts frames: add the frame rate of your timeline, as in --fps 25 (in a sink: fps=25)", at: "fps")
        }
        guard let rate = FrameRate(framesPerSecond) else {
            throw Problem("\(framesPerSecond) is no frame rate; use a whole number, 23.976, 29.97 or 59.94", at: "fps")
        }
        return rate
    }

    /// The format of the file; nil: its extension is that of another kind of file.
    var fileFormat: BeatFormat? { format.resolved(for: path) }

    /// Why there is no such file.
    var fault: String {
        let ending = PathTemplate.ending(of: path)
        return format == .tempo
            ? "tempi are lines of text, which \(ending) is not; use .txt, or for a table: "
                + "hemiola analyze FILE --summary --select rhythm.bpm -o tempo.csv"
            : "unsupported extension \(ending); use .txt or .beats (text), .json, .jams, .mid, .xml (Rekordbox), .xtiming (xLights) or .edl, "
                + "or name the format: --format text"
    }
}

/// The format of the output.
public enum BeatFormat: String, CaseIterable, Sendable {
    /// By the extension of the path: `.jams`, `.json`, `.jsonl`, `.mid`, `.midi`, `.xml`, `.xtiming`, `.edl`; text for none, `.beats`, `.lab`, `.tsv` and `.txt`.
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
    /// Timing tracks of xLights: beats, bars and sections.
    case xtiming
    /// Markers of an editor's timeline on beats, bars and sections: an edit decision list as DaVinci Resolve exports it.
    case edl
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
        case ".xtiming": .xtiming
        case ".edl": .edl
        case "", ".beats", ".lab", ".tsv", ".txt": .text
        default: nil
        }
    }

    /// Whether the file consists of lines, which are written as soon as they are known.
    var isLinewise: Bool { self == .text || self == .audacity || self == .tempo }

    /// Whether a file can hold several inputs.
    var allowsSeveralInputs: Bool { ![.audacity, .jams, .midi, .xtiming, .edl].contains(self) }

    /// Whether it has the sections of the music too.
    var hasSections: Bool { self == .xtiming || self == .edl }

    /// Whether the beats belong to files in the library of another program.
    var describesFiles: Bool { self == .rekordbox }
}
