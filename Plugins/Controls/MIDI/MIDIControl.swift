internal import Glibc
public import Hemiola
internal import HemiolaFieldMaps
internal import HemiolaFiles
internal import HemiolaRecords
internal import HemiolaSystem

extension SinkPlugin {
    /// Reads MIDI messages and submits them as controls: tap, nudge, next preset, speed.
    public static let midiControl = SinkPlugin(
        "midi-control", "Reads notes and controllers of a MIDI device as controls: tap, nudge, presets, speed.",
        settings: MIDIControlSettings.self, primary: "port",
        needs: { _ in Needs(realTime: true) },
        make: { settings throws(Problem) in try MIDIControlReader(settings) })
}

/// The settings of the sink `midi-control`.
struct MIDIControlSettings: PluginSettings {
    var port = Setting.text("port", example: "/dev/snd/midiC1D0", "Device file or named pipe to read from.")
    var channel = Setting.integer("channel", in: MIDIMessage.channels, "Channel whose messages are controls; unset: all.")
    var map = Setting.text(
        "map", default: "midi", example: "pads.yaml", "Field map of controls: a file, or the name of a built-in map.")
}

/// The sink `midi-control`: writes nothing. A thread of its own reads the device, and opens it again when it is gone.
final class MIDIControlReader: Sink {
    private struct State {
        var loop: MIDIControlLoop?
        var thread: pthread_t?
    }

    private let path: String
    private let map: String
    private let channel: Int?
    private var state = State()

    init(_ settings: MIDIControlSettings) throws(Problem) {
        guard let path = settings.port, !path.isEmpty else {
            throw Problem("name a device or a named pipe, as in midi-control:/dev/snd/midiC1D0", at: "port")
        }
        if settings.map.isEmpty { throw Problem("the path is empty; is a variable of the shell unset?", at: "map") }
        self.path = path
        map = settings.map
        channel = settings.channel
    }

    func open(_ context: SinkContext) throws(Problem) {
        // A program may lack controls of the built-in map; a name in a file is an error.
        let routes = try ControlRoutes(
            FieldMap.load(map, .input), controls: context.catalog.controls, skipsUnknown: !FieldMap.isPath(map),
            checkingMessages: MIDISource.fault)
        let device = try MIDIDevice.open(path, for: .input)
        let loop: MIDIControlLoop
        do throws(SystemCallError) {
            loop = try MIDIControlLoop(path: path, routes: routes, channel: channel, context: context)
        } catch {
            Glibc.close(device)
            throw Problem("midi-control: cannot create a pipe: \(error); raise the limit on open files: ulimit -n")
        }
        let (thread, code) = startJoinableThread { loop.run(device: device) }
        guard code == 0 else {
            Glibc.close(device)
            throw Problem("midi-control: cannot create a thread: \(MIDIDevice.cause(code)); raise the limit: ulimit -u")
        }
        state = State(loop: loop, thread: thread)
    }

    func begin(_ stream: StreamHeader) {}
    func write(_ batches: BatchBlock) {}
    func end(_ summary: StreamSummary) {}

    func close() {
        guard let thread = state.thread else { return }
        state.loop?.stop()
        pthread_join(thread, nil)
        state = State()
    }
}
