public import Hemiola
internal import HemiolaFieldMaps
internal import HemiolaNetwork

extension SinkPlugin {
    /// Sends features and events as Open Sound Control messages.
    public static let osc = SinkPlugin(
        PluginDescription(
            "osc", "Sends features and events as Open Sound Control (OSC) messages, through UDP or TCP.", primary: "target", uses: .network),
        settings: OSCSettings.self,
        needs: { _ in Needs(realTime: true, schedulesEvents: true) },
        make: { settings throws(Problem) in OSCSender(settings, to: try settings.check()) })
}

enum TimeTags: String, CaseIterable {
    case immediate, event
}

/// The settings of the sink `osc`.
struct OSCSettings: PluginSettings {
    var target: String
    var map: String?
    var prefix: String
    var usesBundles: Bool
    var timeTags: TimeTags
    /// Batches a second at most; 0: every batch.
    var rate: Double
    /// In seconds.
    var delay: Double
    var interface: String?

    init(_ read: inout SettingReader) {
        target = read.text(
            "target", default: "127.0.0.1:9000", example: "192.168.1.20:9000",
            "Receiver: HOST[:PORT], through UDP, or tcp://HOST[:PORT]; default port 9000.")
        map = read.text(
            "map", example: "touchdesigner", "Field map: a file, or the name of a built-in map. Default: all selected features and events.")
        prefix = read.text("prefix", default: "/hemiola", "First part of the default addresses PREFIX/ANALYZER/FEATURE and PREFIX/RECORD.")
        usesBundles = read.boolean(
            "bundles", default: true, "Join the messages of a batch to bundles; false: each message is a packet of its own.")
        timeTags = read.choice(
            "time_tags", default: TimeTags.immediate,
            "Time of a bundle: immediate, or event: that of the batch or event, for receivers whose clock is synchronized.")
        rate = read.hertz("rate_hz", default: 0, in: 0...1000, "Most batches in a second; 0: every batch. Events are always sent.")
        delay = read.networkDelay()
        interface = read.networkInterface()
    }

    /// Validates the settings.
    ///
    /// - Returns: The receiver.
    func check() throws(Problem) -> NetworkTarget {
        if let fault = OSCAddress.fault(in: prefix) { throw Problem(fault, at: "prefix") }
        if let map, map.isEmpty { throw Problem("the path is empty; is a variable of the shell unset?", at: "map") }
        if timeTags == .event, !usesBundles {
            throw Problem("only bundles have a time; leave out bundles=false", at: "time_tags")
        }
        return try NetworkTarget(parsing: target, defaultPort: 9000, transports: [.udp, .tcp], at: "target")
    }
}
