public import Hemiola
internal import HemiolaFiles
internal import HemiolaRecords
internal import HemiolaSystem

extension SinkPlugin {
    /// Sends MIDI clock and notes from the beats and onsets of the music.
    public static let midi = SinkPlugin(
        "midi", "Sends MIDI clock, notes and controllers to a MIDI device, a pipe or the ALSA sequencer.",
        settings: MIDISettings.declared, primary: MIDISettings.port.key, libraries: [.asound],
        needs: { _ in
            Needs(analyzers: [PluginSpec("beat")], realTime: true, schedulesEvents: true, events: [.beat, .onset])
        },
        make: { settings throws(Problem) in MIDIWriter(try MIDISettings(settings)) })
}

/// After a pause of the beats: the song continues at its position, or starts at its beginning.
enum MIDIResume: String, Sendable, CaseIterable, SettingChoice {
    case `continue`, start
}

/// The settings of this sink.
struct MIDISettings: Sendable {
    /// Where messages are sent.
    enum Destination: Sendable, Hashable {
        /// The path of a device or a named pipe.
        case device(String)
        /// A port of the ALSA sequencer, connected to another port or to none.
        case sequencer(String?)
    }

    private static let noteNumbers = 0...127
    private static let alsa = "alsa"

    static let port = Setting<String?>(
        "port", default: nil, example: "/dev/snd/midiC1D0",
        "Device file or named pipe; alsa: a port of the ALSA sequencer; alsa:CLIENT:PORT: connected to that port.")
    private static let clock = Setting("clock", default: true, "Send clock, 24 pulses per beat, with start, continue and stop.")
    private static let hold = Setting(
        "hold_s", default: 4.0, in: 0...3600, unit: .seconds,
        "Time for which the clock continues at the last tempo when no beats are found; then it stops. At least 1.5 beats.")
    private static let resume = Setting(
        "resume", default: MIDIResume.continue, "After such a stop: continue at the song position, or start from the beginning.")
    private static let map = Setting<String?>(
        "map", default: nil, example: "faders.yaml", "Field map of controllers and notes, a file; unset: none.")
    private static let beatNote = Setting<Int?>("beat_note", in: noteNumbers, "Note on each beat; unset: none.")
    private static let downbeatNote = Setting<Int?>(
        "downbeat_note", in: noteNumbers, "Note on the first beat of each bar; unset: beat_note.")
    private static let onsetNote = Setting<Int?>("onset_note", in: noteNumbers, "Note on each onset; unset: none.")
    private static let channel = Setting("channel", default: 10, in: MIDIMessage.channels, "Channel of the notes and controllers.")
    private static let noteLength = Setting("note_ms", default: 50.0, in: 1...10_000, unit: "ms", "Length of the notes.")
    private static let delay = Setting(
        "delay_ms", default: 0.0, in: -1_000...10_000, unit: "ms", "Time by which everything is sent later; negative: earlier.")

    static let declared = [
        port.declared, clock.declared, hold.declared, resume.declared, beatNote.declared, downbeatNote.declared, onsetNote.declared,
        map.declared, channel.declared, noteLength.declared, delay.declared,
    ]

    var destination: Destination
    /// The destination as the user wrote it.
    var name: String
    var sendsClock: Bool
    /// In seconds.
    var hold: Double
    var continues: Bool
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

    init(_ settings: SettingValues) throws(Problem) {
        guard let name = settings[Self.port], !name.isEmpty else {
            throw Problem("name a device or a named pipe, as in midi:/dev/snd/midiC1D0, or midi:alsa", at: Self.port.key)
        }
        self.name = name
        if name == Self.alsa {
            destination = .sequencer(nil)
        } else if name.hasPrefix(Self.alsa + ":") {
            destination = .sequencer(String(name.dropFirst(Self.alsa.utf8.count + 1)))
        } else {
            destination = .device(name)
        }
        sendsClock = settings[Self.clock]
        hold = settings[Self.hold]
        continues = settings[Self.resume] == .continue
        beatNote = settings[Self.beatNote]
        downbeatNote = settings[Self.downbeatNote]
        onsetNote = settings[Self.onsetNote]
        map = settings[Self.map]
        channel = settings[Self.channel]
        noteLength = settings[Self.noteLength] / 1000
        delay = settings[Self.delay] / 1000
        if let map, map.isEmpty { throw Problem("the path is empty; is a variable of the shell unset?", at: Self.map.key) }
        guard sendsClock || beatNote != nil || downbeatNote != nil || onsetNote != nil || map != nil else {
            throw Problem("nothing is sent; set clock=true or a note, as in beat_note=76", at: Self.clock.key)
        }
    }

    /// Opens the port.
    func openPort() throws(Problem) -> any MIDIPort {
        switch destination {
        case .device(let path): try DevicePort(path)
        case .sequencer(let destination): try SequencerPort(destination)
        }
    }
}
