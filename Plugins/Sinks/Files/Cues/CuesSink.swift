public import Hemiola
internal import HemiolaFiles

extension SinkPlugin {
    /// Writes where a radio program starts, ends and fades a song, and how loud it plays it.
    public static let cues = SinkPlugin(
        PluginDescription("cues", "Cue points, crossfade and gain of a song, as JSON for Liquidsoap.", primary: "path"),
        settings: CueSettings.self,
        needs: { settings in
            Needs(
                analyzers: [PluginSpec("loudness"), PluginSpec("silence")], standardOutput: OutputTarget(settings.path).isStandardOutput,
                outputs: [Output(settings.path, replacesFile: true)])
        },
        make: { settings throws(Problem) in
            DocumentFile(try PathTemplate(settings.path, at: "path"), FileOptions(flush: .line, compression: .none)) { files, _ in
                CueDocument(files[0], settings)
            }
        })
}

struct CueSettings: PluginSettings {
    var path: String
    var target: Double
    var longestFade: Double

    init(_ read: inout SettingReader) {
        path = read.text("path", default: "-", "Output file, or - for standard output. Placeholders: {stem}, {name}, {dir}, {time}.")
        target = read.number("target_lufs", default: -18, in: -40...0, unit: .loudness, "The loudness to which liq_amplify brings a song.")
        longestFade = read.seconds("max_fade_s", default: 6, in: 0.1...60, "The longest crossfade; a longer ending is cut.")
    }
}

/// Finds the cues of one song after the other, and writes a line for each.
///
/// The next song begins where the loudness of this one falls for good by more than 7 LU below that of the whole song, as Liquidsoap's own
/// autocue decides it.
final class CueDocument: Document {
    private static let fall = 7.0
    /// Shorter crossfades than this are an abrupt end. Liquidsoap needs some overlap.
    private static let shortestFade = 0.1

    private let file: OutputFile
    private let settings: CueSettings
    private var header: StreamHeader?
    /// Where the rows have the loudness of the last 400 ms, whether all samples are silent, and the seconds of silence up to their end.
    private var (loudness, silent, silence): (FeatureHandle?, FeatureHandle?, FeatureHandle?)
    /// The first and the last sound, in seconds; nil: all was silent so far.
    private var sound: ClosedRange<Double>?
    /// For each loudness, in steps of 0.1 LU, the last time at which it was reached: later ones are lower. Its length is therefore bounded.
    private var ending: [(time: Double, loudness: Double)] = []

    init(_ file: OutputFile, _ settings: CueSettings) {
        self.file = file
        self.settings = settings
    }

    func begin(_ stream: StreamHeader, at frame: Int64) {
        header = stream
        loudness = stream.layout.handle("loudness", "momentary_lufs")
        silent = stream.layout.handle("silence", "silent")
        silence = stream.layout.handle("silence", "silence_s")
        (sound, ending) = (nil, [])
    }

    func write(_ batch: borrowing Batch) {
        guard let header, let loudness, let silent, let silence, batch.hasValues else { return }
        let end = header.format.seconds(at: batch.endFrame)
        if batch.row[silent.offset] == 0 {
            let start = header.format.seconds(at: batch.frame)
            let last = max(start, end - Double(batch.row[silence.offset]))
            sound = (sound?.lowerBound ?? start)...last
        }
        let level = (Double(batch.row[loudness.offset]) * 10).rounded() / 10
        guard level.isFinite else { return }
        while let last = ending.last, last.loudness <= level { ending.removeLast() }
        ending.append((end, level))
    }

    func end(_ summary: StreamSummary) {
        guard let header else { return }
        let duration = header.format.seconds(at: summary.frames)
        let (start, end) = (sound?.lowerBound ?? 0, sound?.upperBound ?? duration)
        var (gain, next) = (0.0, end)
        if let integrated = summary.number("loudness", "integrated_lufs") {
            gain = settings.target - integrated
            next = min(end, ending.last { $0.loudness >= integrated - Self.fall }?.time ?? end)
        }
        let fade = min(max(end - next, Self.shortestFade), settings.longestFade)
        let amplification = "\(gain.rounded(toPlaces: 2)) dB"
        file.buffer.append(
            .object([
                .init("file", .text(header.file ?? header.source.name)), .init("duration", .number(duration, in: .seconds)),
                .init("liq_cue_in", .number(start, in: .seconds)), .init("liq_cue_out", .number(min(end, next + fade), in: .seconds)),
                .init("liq_cross_duration", .number(fade, in: .seconds)), .init("liq_fade_out", .number(fade, in: .seconds)),
                .init("liq_amplify", .text(amplification)),
            ]))
        file.buffer.append("\n")
    }
}
