public import Hemiola
internal import HemiolaNetwork
internal import HemiolaOutput
internal import HemiolaSignal
internal import HemiolaSystem
internal import HemiolaVisualizer
internal import Synchronization

extension SinkPlugin {
    private static let defaultPort = 9996

    private static let address = Setting(
        "address", default: "127.0.0.1", "Receiver: HOST, HOST:PORT or [IPv6]:PORT; without a port 9996, that of QLC+.")
    private static let delay = Setting(
        "delay_ms", default: 0.0, in: -10_000...60_000, unit: .milliseconds,
        "Time by which messages are sent later (negative: earlier), added to that of lead_ms.")
    private static let confidence = Setting("confidence", default: 0.0, in: 0...1, "Beats with less confidence are not sent.")
    private static let buttons = Setting(
        "buttons", default: false, "Press a button with the name of each new preset, for 0.1 s.")

    /// Sends beats to programs that control lights, by the protocol OS2L.
    public static let os2l = SinkPlugin(
        "os2l", "Sends beats to programs that control lights, such as QLC+, by the protocol OS2L.",
        settings: [address.declared, delay.declared, confidence.declared, buttons.declared], primary: "address", usesNetwork: true,
        needs: { settings in
            Needs(
                analyzers: [PluginSpec("beat")], realTime: true, schedulesEvents: true,
                events: [.beat, .device, .gap] + (settings[buttons] ? [.preset] : []))
        },
        make: { settings throws(ConfigurationError) in
            OS2LSender(
                to: try NetworkEndpoint(parsing: settings[address], defaultPort: defaultPort, at: address.key),
                delay: settings[delay] / 1000, confidence: settings[confidence], pressesButtons: settings[buttons])
        })
}

/// The sink `os2l`: converts beats to messages with their times.
///
/// `writeIfReady` runs on the analysis thread: it takes the time of each batch, and leaves batches with events to the sink's thread.
final class OS2LSender: NonBlockingSink {
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
    private let delay: Double
    private let confidence: Double
    private let pressesButtons: Bool
    private let state = Mutex(State())

    init(to endpoint: NetworkEndpoint, delay: Double, confidence: Double, pressesButtons: Bool) {
        self.endpoint = endpoint
        self.delay = delay
        self.confidence = confidence
        self.pressesButtons = pressesButtons
    }

    func open(_ context: SinkContext) async throws(SinkError) {
        let connection = try OS2LConnection(to: endpoint, context)
        state.withLock { $0 = State(connection: connection, context: context) }
    }

    func begin(_ stream: StreamHeader) async throws(SinkError) {
        state.withLock { state in
            state.format = stream.format
            (state.clock, state.count) = (StreamClock(), BeatCount())
        }
    }

    func writeIfReady(_ batches: BatchBlock) -> Bool {
        state.withLock { state in
            for index in 0..<batches.count where !batches[index].events.isEmpty { return false }
            note(batches, &state)
            return true
        }
    }

    func write(_ batches: BatchBlock) async throws(SinkError) {
        state.withLock { state in
            for index in 0..<batches.count {
                let batch = batches[index]
                for place in batch.events.indices { resetTimer(after: batch.events[place], &state) }
            }
            note(batches, &state)
            for index in 0..<batches.count {
                let batch = batches[index]
                for place in batch.events.indices { add(batch.events[place], &state) }
            }
        }
    }

    func write(_ events: [Event]) async throws(SinkError) {
        state.withLock { state in
            for event in events {
                resetTimer(after: event, &state)
                add(event, &state)
            }
        }
    }

    func end(_ summary: StreamSummary) async throws(SinkError) {
        state.withLock { state in
            for event in summary.lateEvents { add(event, &state) }
        }
    }

    func close() async throws(SinkError) {
        let connection = state.withLock { $0.connection.take() }
        try connection?.close()
    }

    // MARK: - Called with the mutex locked

    private func note(_ batches: BatchBlock, _ state: inout State) {
        state.clock.add(end: state.format.seconds(at: batches[batches.count - 1].endFrame), at: MonotonicTime.now)
    }

    /// The stream time may stand still while the device is lost.
    private func resetTimer(after event: Event, _ state: inout State) {
        if event.type == .gap || event.type == .device { state.clock = StreamClock() }
    }

    private func add(_ event: Event, _ state: inout State) {
        guard let clock = state.clock.time(of: event.time) else { return }
        let due = clock - state.context.lead + delay
        if let beat = Beat(event), beat.confidence >= confidence {
            let place = state.count.add(position: beat.position, at: event.time)
            state.connection?.add(.init(due: due, bytes: OS2LMessages.beat(beat, place)))
        } else if pressesButtons, let change = PresetChange(event) {
            state.connection?.add(.init(due: due, bytes: OS2LMessages.button(change.name, isPressed: true)))
            state.connection?.add(.init(due: due + Self.press, bytes: OS2LMessages.button(change.name, isPressed: false)))
        }
    }
}
