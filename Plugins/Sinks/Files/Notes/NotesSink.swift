public import Hemiola
internal import HemiolaFiles
internal import HemiolaMIDI
internal import HemiolaTonal

extension SinkPlugin {
    /// Writes the notes of the analyzer `pitch` as a Standard MIDI File.
    public static let notes = SinkPlugin(
        PluginDescription("notes", "Notes of the analyzer pitch, as a Standard MIDI File.", primary: "path"), settings: NotesSettings.self,
        needs: { settings in
            Needs(
                analyzers: [PluginSpec("pitch")], standardOutput: OutputTarget(settings.path).isStandardOutput, events: [.note],
                outputs: [Output(settings.path, takesSeveralInputs: false, replacesFile: true)])
        },
        make: { settings throws(Problem) in
            DocumentFile(
                try PathTemplate(settings.path, at: "path", isNumbered: true), FileOptions(.whole, capacity: .input, compression: .none)
            ) { files, _ in NoteDocument(files[0]) }
        })
}

struct NotesSettings: PluginSettings {
    var path: String

    init(_ read: inout SettingReader) {
        path = read.text("path", default: "{stem}.mid", "Output file. Placeholders: {stem}, {name}, {dir}, {time}, {n}.")
    }
}

/// Collects notes, and writes them as a Standard MIDI File of format 0: 500 ticks per quarter note at 120 BPM, so that a tick is a
/// millisecond.
final class NoteDocument: Document {
    private static let division: UInt16 = 500
    /// Microseconds.
    private static let quarter = 500_000

    /// Times that are written, in milliseconds: three years. A recording may have any.
    private static let times = 0.0...1e11

    private let file: OutputFile
    /// Times in milliseconds.
    private var notes: [(start: Int, end: Int, midi: UInt8, velocity: UInt8)] = []
    /// The duration of the file's earlier streams, in seconds: a live run has a stream for each device and format.
    private var start = 0.0
    private var sampleRate = 1.0

    init(_ file: OutputFile) {
        self.file = file
    }

    func begin(_ stream: StreamHeader, at frame: Int64) {
        sampleRate = Double(stream.format.sampleRate)
    }

    func write(_ event: Event) {
        guard let note = Note(event) else { return }
        func milliseconds(_ seconds: Double) -> Int {
            Int(clamping: min(max((seconds * 1000).rounded(), Self.times.lowerBound), Self.times.upperBound))
        }
        let begin = milliseconds(start + event.time)
        let end = milliseconds(start + event.time + note.duration)
        // One voice: a note ends before the next one begins.
        let earliest = notes.last?.end ?? 0
        notes.append((max(begin, earliest), max(end, begin + 1, earliest + 1), UInt8(note.midi), UInt8(note.velocity)))
    }

    func end(_ summary: StreamSummary) {
        for event in summary.lateEvents { write(event) }
        start += Double(summary.frames) / sampleRate
    }

    func finish() {
        var track = MIDIChunk.delay(0) + MIDIChunk.timeSignature(quarters: 4) + MIDIChunk.delay(0) + MIDIChunk.tempo(quarter: Self.quarter)
        var now = 0
        for note in notes {
            track += MIDIChunk.delay(note.start - now) + [0x90, note.midi, note.velocity]
            track += MIDIChunk.delay(note.end - note.start) + [0x80, note.midi, 0]
            now = note.end
        }
        file.buffer.append(bytes: MIDIChunk.header(format: 0, tracks: 1, division: Self.division) + MIDIChunk.track(track))
    }
}
