public import Hemiola
internal import HemiolaFieldMaps
internal import HemiolaNetwork
internal import HemiolaRecords
internal import HemiolaSystem

extension SinkPlugin {
    private static let target = Setting(
        "target", default: "127.0.0.1:9000", example: "192.168.1.20:9000",
        "Receiver: HOST[:PORT], through UDP, or tcp://HOST[:PORT]; default port 9000.")
    private static let map = Setting<String?>(
        "map", default: nil, example: "touchdesigner",
        "Field map: a file, or the name of a built-in map. Default: all selected features and events.")
    private static let prefix = Setting(
        "prefix", default: "/hemiola", "First part of the default addresses PREFIX/ANALYZER/FEATURE and PREFIX/RECORD.")
    private static let bundles = Setting(
        "bundles", default: true, "Join the messages of a batch to bundles; false: each message is a packet of its own.")
    private static let timeTags = Setting(
        "time_tags", default: TimeTags.immediate,
        "Time of a bundle: immediate, or event: that of the batch or event, for receivers whose clock is synchronized.")
    private static let rate = Setting(
        "rate_hz", default: 0.0, in: 0...1000, unit: .hertz, "Most batches in a second; 0: every batch. Events are always sent.")
    /// Sends features and events as Open Sound Control messages.
    public static let osc = SinkPlugin(
        "osc", "Sends features and events as Open Sound Control (OSC) messages, through UDP or TCP.",
        settings: [
            target.declared, map.declared, prefix.declared, bundles.declared, timeTags.declared, rate.declared,
            ScheduledSender.delay.declared, ScheduledSender.interface.declared,
        ],
        primary: "target", usesNetwork: true,
        needs: { _ in Needs(realTime: true, schedulesEvents: true) },
        make: { settings throws(Problem) in
            if let fault = OSCAddress.fault(in: settings[prefix]) { throw Problem(fault, at: prefix.key) }
            if let map = settings[map], map.isEmpty {
                throw Problem("the path is empty; is a variable of the shell unset?", at: Self.map.key)
            }
            if settings[timeTags] == .event, !settings[bundles] {
                throw Problem("only bundles have a time; leave out bundles=false", at: timeTags.key)
            }
            return OSCSender(
                OSCSettings(
                    target: try NetworkTarget(parsing: settings[target], defaultPort: 9000, transports: [.udp, .tcp], at: target.key),
                    map: settings[map], prefix: settings[prefix], usesBundles: settings[bundles], timeTags: settings[timeTags],
                    rate: settings[rate], delay: settings[ScheduledSender.delay] / 1000, interface: settings[ScheduledSender.interface]))
        })
}

enum TimeTags: String, SettingChoice {
    case immediate, event
}

struct OSCSettings: Sendable {
    var target: NetworkTarget
    var map: String?
    var prefix: String
    var usesBundles: Bool
    var timeTags: TimeTags
    /// Batches a second at most; 0: every batch.
    var rate: Double
    /// Seconds.
    var delay: Double
    var interface: String?
}
