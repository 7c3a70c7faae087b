public import Hemiola
internal import HemiolaFiles
internal import HemiolaNetwork
internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaSystem

extension SinkPlugin {
    private static let defaultPort = 9996

    /// Sends beats to programs that control lights, by the protocol OS2L.
    public static let os2l = SinkPlugin(
        "os2l", "Sends beats to programs that control lights, such as QLC+, by the protocol OS2L.",
        settings: OS2LSettings.self, primary: "address", usesNetwork: true,
        needs: { settings in
            Needs(
                analyzers: [PluginSpec("beat")], realTime: true, schedulesEvents: true,
                events: [.beat, .device, .gap] + (settings.pressesButtons ? [.preset] : []))
        },
        make: { settings throws(Problem) in
            OS2LSender(
                settings, to: try NetworkEndpoint(parsing: settings.address, defaultPort: defaultPort, at: "address"))
        })
}

struct OS2LSettings: PluginSettings {
    var address = Setting.text(
        "address", default: "127.0.0.1", "Receiver: HOST, HOST:PORT or [IPv6]:PORT; without a port 9996, that of QLC+.")
    /// In seconds.
    var delay = Setting.milliseconds(
        "delay_ms", default: 0, in: -10_000...60_000,
        "Time by which messages are sent later (negative: earlier), added to that of lead_ms.")
    var confidence = Setting.number("confidence", default: 0, in: 0...1, "Beats with less confidence are not sent.")
    var pressesButtons = Setting.boolean(
        "buttons", default: false, "Press a button with the name of each new preset, for 0.1 s.")
}

/// The sink `os2l`: converts beats to messages with their times.
final class OS2LSender: Sink {
    /// Seconds that a button is pressed.
    private static let press = 0.1

    private struct State {
        var connection: OS2LConnection?
        var context = SinkContext(name: "os2l")
        var format = StreamFormat(sampleRate: 1, channelCount: 1)
        var clock = StreamClock()
        var count = BeatCount()
    }

    private let endpoint: NetworkEndpoint
    private let settings: OS2LSettings
    private var state = State()

    init(_ settings: OS2LSettings, to endpoint: NetworkEndpoint) {
        self.settings = settings
        self.endpoint = endpoint
    }

    func open(_ context: SinkContext) throws(Problem) {
        let connection = try OS2LConnection(to: endpoint, context)
        state = State(connection: connection, context: context)
    }

    func begin(_ stream: StreamHeader) throws(Problem) {
        state.format = stream.format
        (state.clock, state.count) = (StreamClock(), BeatCount())
    }

    func write(_ batches: BatchBlock) throws(Problem) {
        for index in 0..<batches.count {
            let batch = batches[index]
            for place in batch.events.indices { resetTimer(after: batch.events[place]) }
        }
        note(batches)
        for index in 0..<batches.count {
            let batch = batches[index]
            for place in batch.events.indices { add(batch.events[place]) }
        }
    }

    func write(_ events: [Event]) throws(Problem) {
        for event in events {
            resetTimer(after: event)
            add(event)
        }
    }

    func end(_ summary: StreamSummary) throws(Problem) {
        for event in summary.lateEvents { add(event) }
    }

    func close() throws(Problem) {
        defer { state.connection = nil }
        try state.connection?.close()
    }

    private func note(_ batches: BatchBlock) {
        state.clock.add(end: state.format.seconds(at: batches[batches.count - 1].endFrame), at: MonotonicTime.now)
    }

    /// The stream time may stand still while the device is lost.
    private func resetTimer(after event: Event) {
        if event.type == .gap || event.type == .device { state.clock = StreamClock() }
    }

    private func add(_ event: Event) {
        guard let clock = state.clock.time(of: event.time) else { return }
        let due = clock - state.context.lead + settings.delay
        if let beat = Beat(event), beat.confidence >= settings.confidence {
            let place = state.count.add(position: beat.position, at: event.time)
            state.connection?.add(.init(due: due, bytes: OS2LMessages.beat(beat, place)))
        } else if settings.pressesButtons, let change = PresetChange(event) {
            state.connection?.add(.init(due: due, bytes: OS2LMessages.button(change.name, isPressed: true)))
            state.connection?.add(.init(due: due + Self.press, bytes: OS2LMessages.button(change.name, isPressed: false)))
        }
    }
}
