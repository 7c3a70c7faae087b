public import Hemiola
internal import HemiolaNetwork
internal import HemiolaSignal
internal import Synchronization

extension SinkPlugin {
    private static let target = Setting(
        "target", default: "239.0.0.1:11988", example: "192.168.1.30",
        "Receiver: HOST[:PORT] of one device, or a multicast group; default port 11988.")
    private static let peak = Setting("peak", default: PeakSource.beat, "Events that are sent as peaks: beat, onset, or none.")
    private static let delay = Setting(
        "delay_ms", default: 0.0, in: 0...10_000, unit: .milliseconds, "Time by which everything is sent later.")
    private static let interface = Setting<String?>(
        "interface", default: nil, example: "eth0", "Network interface of a multicast group. Default: that of the routes.")

    /// Sends levels, bands and peaks to WLED devices, whose sound-reactive effects then need no microphone.
    public static let wled = SinkPlugin(
        "wled", "Sends audio sync messages to WLED devices: their sound-reactive effects need no microphone.",
        settings: [target.declared, peak.declared, delay.declared, interface.declared], primary: "target",
        needs: { settings in
            Needs(
                analyzers: [PluginSpec("levels"), PluginSpec("spectrum"), PluginSpec("visualizer")]
                    + (settings[peak] == .none ? [] : [PluginSpec("beat")]),
                realTime: true, schedulesEvents: true, events: [settings[peak].record].compactMap { $0 })
        },
        make: { settings throws(ConfigurationError) in
            WLEDSender(
                try NetworkTarget(parsing: settings[target], defaultPort: 11_988, at: target.key), peak: settings[peak].record ?? .gap,
                delay: settings[delay] / 1000, interface: settings[interface])
        })
}

enum PeakSource: String, SettingChoice {
    case beat, onset, none

    var record: RecordType? {
        switch self {
        case .beat: .beat
        case .onset: .onset
        case .none: nil
        }
    }
}

/// The sink `wled`.
///
/// Its methods run one at a time; `writeIfReady` runs on the analysis thread, because sending never waits. The mutex makes the state `Sendable`.
final class WLEDSender: NonBlockingSink {
    private struct State {
        var sender: (any PacketSender)?
        var schedule: SendSchedule?
        var encoder: AudioSyncEncoder?
        var lead = 0.0
    }

    private let target: NetworkTarget
    private let peak: RecordType
    private let delay: Double
    private let interface: String?
    private let state = Mutex(State())

    init(_ target: NetworkTarget, peak: RecordType, delay: Double, interface: String?) {
        self.target = target
        self.peak = peak
        self.delay = delay
        self.interface = interface
    }

    func open(_ context: SinkContext) async throws(SinkError) {
        let losses = LossReport(context, receiver: target.description)
        let sender: any PacketSender
        do throws(NetworkError) {
            sender = try target.makeSender(options: DatagramSender.Options(interface: interface), losses: losses)
            try sender.start()
        } catch {
            throw SinkError("\(target): \(error.message)")
        }
        let schedule = SendSchedule(
            send: { sender.send($0) }, overflow: { losses.lose(1, because: "too many messages wait for their time") })
        state.withLock { $0 = State(sender: sender, schedule: schedule, lead: context.lead) }
    }

    func begin(_ stream: StreamHeader) async throws(SinkError) {
        state.withLock { $0.encoder = AudioSyncEncoder(stream, peak: peak, lead: $0.lead) }
    }

    func writeIfReady(_ batches: BatchBlock) -> Bool {
        send(batches)
        return true
    }

    func write(_ batches: BatchBlock) async throws(SinkError) { send(batches) }

    private func send(_ batches: BatchBlock) {
        state.withLock { state in
            guard state.encoder != nil, let schedule = state.schedule else { return }
            for index in 0..<batches.count {
                let batch = batches[index]
                for place in batch.events.indices { state.encoder!.note(batch.events[place]) }
                guard batch.hasValues else { continue }
                schedule.add(state.encoder!.packet(for: batch), at: MonotonicTime.now + delay)
            }
        }
    }

    func write(_ events: [Event]) async throws(SinkError) {
        state.withLock { state in
            for event in events { state.encoder?.note(event) }
        }
    }

    func end(_ summary: StreamSummary) async throws(SinkError) {}

    func close() async throws(SinkError) {
        let state = state.withLock { state in
            defer { state = State() }
            return state
        }
        state.schedule?.close(within: delay + 0.1)
        state.sender?.close()
    }
}
