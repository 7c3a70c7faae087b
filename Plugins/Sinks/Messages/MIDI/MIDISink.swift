public import Hemiola
internal import HemiolaMIDI

extension SinkPlugin {
    /// Sends MIDI clock and notes from the beats and onsets of the music.
    public static let midi = SinkPlugin(
        PluginDescription(
            "midi", "Sends MIDI clock, notes and controllers to a MIDI device, a pipe or the ALSA sequencer.", primary: "port",
            uses: .init(libraries: [.asound])),
        settings: MIDISettings.self,
        needs: { _ in
            Needs(analyzers: [PluginSpec("beat")], realTime: true, schedulesEvents: true, events: [.beat, .onset])
        },
        make: { settings throws(Problem) in
            try settings.check()
            return MIDIWriter(settings)
        })
}

/// After a pause of the beats: the song continues at its position, or starts at its beginning.
enum MIDIResume: String, CaseIterable {
    case `continue`, start
}

/// The settings of this sink.
struct MIDISettings: PluginSettings {
    private static let noteNumbers = 0...127
    private static let alsa = "alsa"

    var port: String?
    var sendsClock: Bool
    /// In seconds.
    var hold: Double
    var resume: MIDIResume
    var beatNote: Int?
    var downbeatNote: Int?
    var onsetNote: Int?
    /// The path of a field map.
    var map: String?
    var channel: Int
    /// In seconds.
    var noteLength: Double
    /// In seconds.
    var delay: Double

    init(_ read: inout SettingReader) {
        port = read.text(
            "port", example: "/dev/snd/midiC1D0",
            "Device file or named pipe; alsa: a port of the ALSA sequencer; alsa:CLIENT:PORT: connected to that port.")
        sendsClock = read.boolean("clock", default: true, "Send clock, 24 pulses per beat, with start, continue and stop.")
        hold = read.seconds(
            "hold_s", default: 4, in: 0...3600,
            "Time for which the clock continues at the last tempo when no beats are found; then it stops. At least 1.5 beats.")
        resume = read.choice(
            "resume", default: MIDIResume.continue, "After such a stop: continue at the song position, or start from the beginning.")
        beatNote = read.integer("beat_note", in: Self.noteNumbers, "Note on each beat; unset: none.")
        downbeatNote = read.integer("downbeat_note", in: Self.noteNumbers, "Note on the first beat of each bar; unset: beat_note.")
        onsetNote = read.integer("onset_note", in: Self.noteNumbers, "Note on each onset; unset: none.")
        map = read.text("map", example: "faders.yaml", "Field map of controllers and notes, a file; unset: none.")
        channel = read.integer("channel", default: 10, in: MIDIMessage.channels, "Channel of the notes and controllers.")
        noteLength = read.milliseconds("note_ms", default: 50, in: 1...10_000, "Length of the notes.")
        delay = read.milliseconds("delay_ms", default: 0, in: -1_000...10_000, "Time by which everything is sent later; negative: earlier.")
    }

    /// The port as the user wrote it.
    var name: String { port ?? "" }

    func check() throws(Problem) {
        guard !name.isEmpty else {
            throw Problem("name a device or a named pipe, as in midi:/dev/snd/midiC1D0, or midi:alsa", at: "port")
        }
        if let map, map.isEmpty { throw Problem("the path is empty; is a variable of the shell unset?", at: "map") }
        guard sendsClock || beatNote != nil || downbeatNote != nil || onsetNote != nil || map != nil else {
            throw Problem("nothing is sent; set clock=true or a note, as in beat_note=76", at: "clock")
        }
    }

    /// Opens the port.
    func openPort() throws(Problem) -> any MIDIPort {
        if name == Self.alsa { return try SequencerPort(nil) }
        guard name.hasPrefix(Self.alsa + ":") else { return try DevicePort(name) }
        return try SequencerPort(String(name.dropFirst(Self.alsa.utf8.count + 1)))
    }
}
