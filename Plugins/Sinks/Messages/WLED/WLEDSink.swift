public import Hemiola
internal import HemiolaNetwork
internal import HemiolaRecords
internal import HemiolaSystem

extension SinkPlugin {
    private static let target = Setting(
        "target", default: "239.0.0.1:11988", example: "192.168.1.30",
        "Receiver: HOST[:PORT] of one device, or a multicast group; default port 11988.")
    private static let peak = Setting("peak", default: PeakSource.beat, "Events that are sent as peaks: beat, onset, or none.")
    /// Sends levels, bands and peaks to WLED devices, whose sound-reactive effects then need no microphone.
    public static let wled = SinkPlugin(
        "wled", "Sends audio sync messages to WLED devices: their sound-reactive effects need no microphone.",
        settings: [
            target.declared, peak.declared, ScheduledSender.frameRate.declared, ScheduledSender.delay.declared,
            ScheduledSender.interface.declared,
        ],
        primary: "target", controls: [.blackout], usesNetwork: true,
        needs: { settings in
            Needs(
                analyzers: [PluginSpec("levels"), PluginSpec("spectrum"), PluginSpec("visualizer")]
                    + (settings[peak] == .none ? [] : [PluginSpec("beat")]),
                realTime: true, schedulesEvents: true, events: [settings[peak].record].compactMap { $0 })
        },
        make: { settings throws(Problem) in
            let record = settings[peak].record
            return FrameSink(
                to: [try NetworkTarget(parsing: settings[target], defaultPort: 11_988, at: target.key)],
                interface: settings[ScheduledSender.interface], rate: settings[ScheduledSender.frameRate],
                delay: settings[ScheduledSender.delay] / 1000
            ) { context throws(Problem) -> AudioSyncEncoder in AudioSyncEncoder(peak: record, lead: context.lead) }
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
