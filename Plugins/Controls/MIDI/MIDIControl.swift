public import Hemiola
internal import HemiolaFieldMaps
internal import HemiolaMIDI

extension ControlPlugin {
    /// Reads MIDI messages and submits them as controls: tap, nudge, next preset, speed.
    public static let midi = ControlPlugin(
        PluginDescription("midi", "Reads notes and controllers of a MIDI device as controls: tap, nudge, presets, speed.", primary: "port"),
        settings: MIDIControlSettings.self,
        make: { settings throws(Problem) in try MIDIControl(settings) })
}

/// The settings of the control source `midi`.
struct MIDIControlSettings: PluginSettings {
    var port: String?
    var channel: Int?
    var map: String

    init(_ read: inout SettingReader) {
        port = read.text("port", example: "/dev/snd/midiC1D0", "Device file or named pipe to read from.")
        channel = read.integer("channel", in: MIDIMessage.channels, "Channel whose messages are controls; unset: all.")
        map = read.text("map", default: "midi", example: "pads.yaml", "Field map of controls: a file, or the name of a built-in map.")
    }
}

/// Reads a MIDI device, and opens it again when it is gone.
final class MIDIControl: ControlSource {
    /// Bytes that are read at once. Of the values of a controller among them, the last counts.
    private static let blockSize = 1024

    private let path: String
    private let map: String
    private let channel: Int?
    private var routes: ControlRoutes?
    /// nil: the device is gone.
    private var device: FileDescriptor?

    init(_ settings: MIDIControlSettings) throws(Problem) {
        guard let path = settings.port, !path.isEmpty else {
            throw Problem("name a device or a named pipe, as in midi:/dev/snd/midiC1D0", at: "port")
        }
        if settings.map.isEmpty { throw Problem("the path is empty; is a variable of the shell unset?", at: "map") }
        self.path = path
        map = settings.map
        channel = settings.channel
    }

    func open(_ input: ControlInput) throws(Problem) {
        // A program may lack controls of the built-in map; a name in a file is an error.
        routes = try ControlRoutes(
            FieldMap.load(map, .input), controls: input.context.records.catalog.controls, skipsUnknown: !FieldMap.isPath(map),
            checkingMessages: MIDISource.fault)
        device = try MIDIDevice.open(path, for: .input)
    }

    func run(_ input: ControlInput) {
        var parser = MIDIParser()
        var pedals = MIDIPedals()
        var delay = RetryDelay(longest: 2)
        while true {
            guard let device else {
                guard input.wait(seconds: delay.nextAttempt - input.context.timing.clock.now) else { return }
                self.device = try? MIDIDevice.open(path, for: .input)
                if self.device == nil {
                    delay.noteFailure(at: input.context.timing.clock.now)
                } else {
                    input.context.messages.inform("\(path): connected again", [])
                    delay.reset()
                    parser = MIDIParser()
                }
                continue
            }
            guard input.wait(for: device.number) else { return }
            var fault = SystemCallError(.inputOutput)
            do {
                let bytes = try device.read(atMost: Self.blockSize)
                if !bytes.isEmpty {
                    submit(parser.messages(in: bytes), &pedals, to: input)
                    continue
                }
            } catch {
                if error.code == .wouldBlock { continue }
                fault = error
            }
            let cause = MIDIDevice.cause(fault.number)
            input.context.messages.warn("\(path): the device is gone: \(cause); trying to connect again")
            close()
            delay.noteFailure(at: input.context.timing.clock.now)
        }
    }

    /// Submits the controls of messages that arrived together.
    private func submit(_ messages: [MIDIMessage], _ pedals: inout MIDIPedals, to input: ControlInput) {
        let own = messages.filter { channel == nil || $0.channel == nil || $0.channel == channel }
        for case (_, .success(let control)) in routes?.controls(for: own.flatMap { $0.received(&pedals) }) ?? [] { input.submit(control) }
    }

    func close() {
        device?.close()
        device = nil
    }
}
