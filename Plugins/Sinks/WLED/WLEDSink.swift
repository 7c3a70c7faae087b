public import Hemiola
internal import HemiolaNetwork
internal import HemiolaSignal
internal import Synchronization

extension SinkPlugin {
    private static let target = Setting(
        "target", default: "239.0.0.1:11988", example: "192.168.1.30",
        "Receiver: HOST[:PORT] of one device, or a multicast group; default port 11988.")
    private static let peak = Setting("peak", default: PeakSource.beat, "Events that are sent as peaks: beat, onset, or none.")
    /// Sends levels, bands and peaks to WLED devices, whose sound-reactive effects then need no microphone.
    public static let wled = SinkPlugin(
        "wled", "Sends audio sync messages to WLED devices: their sound-reactive effects need no microphone.",
        settings: [target.declared, peak.declared, ScheduledSender.delay.declared, ScheduledSender.interface.declared], primary: "target",
        needs: { settings in
            Needs(
                analyzers: [PluginSpec("levels"), PluginSpec("spectrum"), PluginSpec("visualizer")]
                    + (settings[peak] == .none ? [] : [PluginSpec("beat")]),
                realTime: true, schedulesEvents: true, events: [settings[peak].record].compactMap { $0 })
        },
        make: { settings throws(ConfigurationError) in
            WLEDSender(
                try NetworkTarget(parsing: settings[target], defaultPort: 11_988, at: target.key), peak: settings[peak].record ?? .gap,
                delay: settings[ScheduledSender.delay] / 1000, interface: settings[ScheduledSender.interface])
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
        var sender: ScheduledSender?
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
        let sender = try ScheduledSender(target, interface: interface, context)
        state.withLock { $0 = State(sender: sender, lead: context.lead) }
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
            guard state.encoder != nil, let sender = state.sender else { return }
            for index in 0..<batches.count {
                let batch = batches[index]
                for place in batch.events.indices { state.encoder!.note(batch.events[place]) }
                guard batch.hasValues else { continue }
                sender.add(state.encoder!.packet(for: batch), at: MonotonicTime.now + delay)
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
        try state.sender?.close(within: delay + 0.1)
    }
}
