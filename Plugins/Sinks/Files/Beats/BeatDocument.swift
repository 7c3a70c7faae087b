internal import Hemiola
internal import HemiolaFiles

/// Writes each beat when it arrives (`text`, `audacity`), or all beats of a stream at its end.
final class BeatDocument: Document {
    private let file: OutputFile
    private let format: BeatFormat
    /// The frame rate of an EDL.
    private let frameRate: FrameRate?
    /// Whether several inputs can follow one another as lines, so that their names are needed.
    private let namesInputs: Bool
    private let warn: @Sendable (String) -> Void
    private var track: BeatTrack?
    /// The tracks of a Rekordbox file, which states their number before the first.
    private var collection = RekordboxCollection()

    init(
        _ file: OutputFile, _ format: BeatFormat, _ frameRate: FrameRate?, isPerInput: Bool, warn: @escaping @Sendable (String) -> Void
    ) {
        self.file = file
        self.warn = warn
        self.format = format
        self.frameRate = frameRate
        namesInputs = format.isLinewise && !isPerInput
    }

    func begin(_ stream: StreamHeader, at frame: Int64) throws(Problem) {
        if format.describesFiles, stream.isLive || stream.outputPath == "-" {
            throw Problem(
                "cannot write \(file.target.name): \(format.rawValue) describes sound files, and \(stream.source.name) is not one; "
                    + "analyse a file, or choose another format")
        }
        track = BeatTrack(stream)
        // Readers of `.beats` files skip lines that begin with `#`.
        if namesInputs, format != .tempo, let input = stream.file {
            file.buffer.append(bytes: Array("# \(input.onOneLine)\n".utf8))
        }
    }

    func write(_ event: Event) {
        if format.hasSections {
            if event.type == BeatTrack.section { track?.addSection(event) }
            if event.type == BeatTrack.phrase, let bar = event["bar"].integer, bar % 4 == 1 { track?.phrases.append(event.time) }
        }
        guard let beat = Beat(event) else { return }
        // With the digits of a record, so that a replay writes the same file.
        track?.beats.append(((event.time * 1e6).rounded() / 1e6, beat))
        if format == .text || format == .audacity { file.buffer.appendLine(event.time, beat, format) }
    }

    func end(_ summary: StreamSummary) {
        for event in summary.lateEvents { write(event) }
        guard let track = track.take() else { return }
        let header = track.header
        // A document cannot state that it is incomplete.
        if summary.reason == .interrupted, !header.isLive { return }
        // Silence has no onsets.
        let onsets = summary.sections.flatMap(\.values).first { $0.name == "onsets" }
        if track.beats.isEmpty, !header.isLive, let onsets, case .count(1...) = onsets.value {
            warn(
                "\(header.source.name): no beats were found: the onsets are irregular, or outside the tempo range; another range: "
                    + "--analyzer beat:min_bpm=20,max_bpm=300")
        }
        let duration = header.format.seconds(at: summary.frames)
        switch format {
        case .auto, .text, .audacity: break
        case .tempo: file.buffer.appendTempo(track, file: namesInputs ? header.file : nil)
        case .json: file.buffer.appendJSON(track, duration: duration)
        case .jams: file.buffer.appendJAMS(track, duration: duration)
        case .midi: file.buffer.append(bytes: MIDIFile(beats: track.positions).bytes)
        case .xtiming: file.buffer.append(bytes: Array(XLightsTracks(track.marks(until: duration)).document.utf8))
        case .edl:
            let list = frameRate.map { MarkerList(track.marks(until: duration), title: TrackPath(header.inputPath).stem, $0) }
            file.buffer.append(bytes: Array((list?.document ?? "").utf8))
        case .rekordbox:
            collection.add(header, duration: (header.source.start ?? 0) + duration, beats: track.positionsInRekordbox)
        }
    }

    func finish() {
        if format == .rekordbox { file.buffer.append(bytes: collection.document) }
    }
}
