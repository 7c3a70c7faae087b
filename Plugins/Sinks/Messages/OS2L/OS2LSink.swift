public import Hemiola
internal import HemiolaNetwork
internal import HemiolaVisualizer

extension SinkPlugin {
    private static let defaultPort = 9996

    /// Sends beats to programs that control lights, by the protocol OS2L.
    public static let os2l = SinkPlugin(
        PluginDescription(
            "os2l", "Sends beats to programs that control lights, such as QLC+, by the protocol OS2L.", primary: "address", uses: .network),
        settings: OS2LSettings.self,
        needs: { settings in
            Needs(
                analyzers: [PluginSpec("beat")], realTime: true, schedulesEvents: true,
                events: [.beat, .device, .gap] + (settings.pressesButtons ? [.preset] : []))
        },
        make: { settings throws(Problem) in
            let endpoint = try NetworkEndpoint(parsing: settings.address, defaultPort: defaultPort, at: "address")
            return OS2LSender(settings, to: NetworkTarget(.tcp, host: endpoint.host, port: endpoint.port))
        })
}

struct OS2LSettings: PluginSettings {
    var address: String
    /// In seconds.
    var delay: Double
    var confidence: Double
    var pressesButtons: Bool

    init(_ read: inout SettingReader) {
        address = read.text("address", default: "127.0.0.1", "Receiver: HOST, HOST:PORT or [IPv6]:PORT; without a port 9996, that of QLC+.")
        delay = read.milliseconds(
            "delay_ms", default: 0, in: -10_000...60_000,
            "Time by which messages are sent later (negative: earlier), added to that of lead_ms.")
        confidence = read.number("confidence", default: 0, in: 0...1, "Beats with less confidence are not sent.")
        pressesButtons = read.boolean("buttons", default: false, "Press a button with the name of each new preset, for 0.1 s.")
    }
}

/// The sink `os2l`: converts beats to messages with their times.
final class OS2LSender: Sink {
    /// Seconds that a button is pressed.
    private static let press = 0.1
    /// The shortest time between two messages, in seconds. QLC+ reads all bytes that have arrived as one JSON document, so that two
    /// messages that arrive together are lost.
    private static let spacing = 0.02
    /// Seconds that the last messages may take when the sink is closed.
    private static let closeTime = 1.0

    private let target: NetworkTarget
    private let settings: OS2LSettings
    private var sender: MessageSender?
    private var context = SinkContext(name: "os2l")
    private var format = StreamFormat(sampleRate: 1, channelCount: 1)
    private var clock = StreamClock()
    private var count = BeatCount()

    init(_ settings: OS2LSettings, to target: NetworkTarget) {
        self.settings = settings
        self.target = target
    }

    func open(_ context: SinkContext) throws(Problem) {
        self.context = context
        sender = try MessageSender(to: target, spacing: Self.spacing, sendsEvents: true, context)
    }

    func begin(_ stream: StreamHeader) throws(Problem) {
        format = stream.format
        (clock, count) = (StreamClock(), BeatCount())
    }

    func write(_ batches: BatchBlock) throws(Problem) {
        for index in 0..<batches.count {
            let batch = batches[index]
            for place in batch.events.indices { resetTimer(after: batch.events[place]) }
        }
        clock.add(end: format.seconds(at: batches[batches.count - 1].endFrame), at: context.timing.clock.now)
        for index in 0..<batches.count {
            let batch = batches[index]
            for place in batch.events.indices { send(batch.events[place]) }
        }
    }

    func write(_ events: [Event]) throws(Problem) {
        for event in events {
            resetTimer(after: event)
            send(event)
        }
    }

    func end(_ summary: StreamSummary) throws(Problem) {
        for event in summary.lateEvents { send(event) }
    }

    func close() throws(Problem) {
        defer { sender = nil }
        try sender?.close(within: Self.closeTime)
    }

    /// The stream time may stand still while the device is lost.
    private func resetTimer(after event: Event) {
        if event.type == .gap || event.type == .device { clock = StreamClock() }
    }

    private func send(_ event: Event) {
        guard let time = clock.time(of: event.time) else { return }
        let due = time - context.timing.lead + settings.delay
        if let beat = Beat(event), beat.confidence >= settings.confidence {
            let place = count.add(position: beat.position, at: event.time)
            sender?.send(OS2LMessages.beat(beat, place), at: due)
        } else if settings.pressesButtons, let change = PresetChange(event) {
            sender?.send(OS2LMessages.button(change.name, isPressed: true), at: due)
            sender?.send(OS2LMessages.button(change.name, isPressed: false), at: due + Self.press)
        }
    }
}
