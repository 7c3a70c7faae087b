public import Hemiola
internal import HemiolaFiles
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem
internal import HemiolaTonal

extension SinkPlugin {
    /// Writes the notes of the analyzer `pitch` as a Standard MIDI File.
    public static let notes = SinkPlugin(
        "notes", "Notes of the analyzer pitch, as a Standard MIDI File.", settings: NotesSettings.self, primary: "path",
        needs: { settings in
            Needs(
                analyzers: [PluginSpec("pitch")], standardOutput: OutputTarget(settings.path).isStandardOutput, events: [.note],
                outputs: [Output(settings.path, takesSeveralInputs: false, replacesFile: true)])
        },
        make: { settings throws(Problem) in
            NoteWriter(try PathTemplate(settings.path, at: "path", isNumbered: true))
        })
}

struct NotesSettings: PluginSettings {
    var path = Setting.text("path", default: "{stem}.mid", "Output file. Placeholders: {stem}, {name}, {dir}, {time}, {n}.")
}

/// The sink `notes`: collects the notes of a stream, and writes the file at the end of its input.
final class NoteWriter: Sink {
    private struct State: ~Copyable {
        var opener: OutputOpener?
        /// The open file, its path and its input; nil before the first stream, and if the file was finished.
        var output: BufferedOutput?
        var path = ""
        var input = ""
        var streams = WrittenStreams()
        var notes = NoteTrack()
        /// The duration of the file's earlier streams, in seconds: a live run has a stream for each device and format.
        var start = 0.0
        var sampleRate = 1.0
    }

    private let template: PathTemplate
    private var state = State()

    init(_ template: PathTemplate) {
        self.template = template
    }

    func open(_ context: SinkContext) throws(Problem) {
        state.opener = OutputOpener(OutputPlan(compression: .none), context)
        if !template.isPerInput { try openFile() }
    }

    func begin(_ stream: StreamHeader) throws(Problem) {
        let input = stream.outputPath
        if state.output == nil || input != state.input && !stream.isLive {
            guard state.output == nil || template.isPerInput || !state.streams.hasBegun else {
                throw Problem(
                    "cannot write \(OutputTarget(state.path).name): a MIDI file holds one input; write {stem} in the path")
            }
            if template.isPerInput {
                try finishFile()
                state.input = input
                try openFile()
            }
            state.input = input
        }
        state.sampleRate = Double(stream.format.sampleRate)
        state.streams.begin(isLive: stream.isLive)
    }

    func write(_ batches: BatchBlock) throws(Problem) {
        for index in 0..<batches.count {
            let batch = batches[index]
            for event in batch.events.indices { state.notes.add(batch.events[event], from: state.start) }
        }
    }

    func write(_ events: [Event]) throws(Problem) {
        for event in events { state.notes.add(event, from: state.start) }
    }

    func end(_ summary: StreamSummary) throws(Problem) {
        for event in summary.lateEvents { state.notes.add(event, from: state.start) }
        state.streams.end(summary.reason)
        state.start += Double(summary.frames) / state.sampleRate
    }

    func close() throws(Problem) {
        defer { state.output = nil }
        try finishFile()
    }

    private func openFile() throws(Problem) {
        guard let opener = state.opener else { return }
        let input = state.input
        let number = template.isNumbered ? opener.freeNumber(from: 1) { [opener.path(template, for: input, number: $0)] } : 1
        state.path = opener.path(template, for: input, number: number)
        state.streams = WrittenStreams()
        (state.notes, state.start) = (NoteTrack(), 0)
        state.output = try opener.open(state.path, isDocument: true)
    }

    /// Writes the file. A file for which no stream began is removed.
    private func finishFile() throws(Problem) {
        guard state.streams.hasBegun, state.output != nil, let opener = state.opener else { return }
        state.output!.buffer.append(bytes: state.notes.bytes)
        try opener.finish(&state.output!, at: state.path, state.streams, isWholeRun: !template.isPerInput, isDocument: true)
        state.output = nil
    }
}

/// Notes, and their encoding as a Standard MIDI File of format 0: 500 ticks per quarter note at 120 BPM, so that a tick is a millisecond.
struct NoteTrack {
    private static let division: UInt16 = 500
    /// Microseconds.
    private static let quarter = 500_000

    /// Times that are written, in milliseconds: three years. A recording may have any.
    private static let times = 0.0...1e11

    /// Times in milliseconds.
    private var notes: [(start: Int, end: Int, midi: UInt8, velocity: UInt8)] = []

    /// Adds a note; other events are ignored.
    ///
    /// - Parameter start: The time of the stream's start in the file, in seconds.
    mutating func add(_ event: Event, from start: Double) {
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

    /// The contents of the file.
    var bytes: [UInt8] {
        var track = MIDIChunk.delay(0) + MIDIChunk.timeSignature(quarters: 4) + MIDIChunk.delay(0) + MIDIChunk.tempo(quarter: Self.quarter)
        var now = 0
        for note in notes {
            track += MIDIChunk.delay(note.start - now) + [0x90, note.midi, note.velocity]
            track += MIDIChunk.delay(note.end - note.start) + [0x80, note.midi, 0]
            now = note.end
        }
        return MIDIChunk.header(format: 0, tracks: 1, division: Self.division) + MIDIChunk.track(track)
    }
}
