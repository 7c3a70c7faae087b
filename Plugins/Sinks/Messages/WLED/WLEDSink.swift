public import Hemiola
internal import HemiolaNetwork

extension SinkPlugin {
    /// Sends levels, bands and peaks to WLED devices, whose sound-reactive effects then need no microphone.
    public static let wled = SinkPlugin(
        PluginDescription(
            "wled", "Sends audio sync messages to WLED devices: their sound-reactive effects need no microphone.", primary: "target",
            declares: .init(controls: [.blackout]), uses: .network),
        settings: WLEDSettings.self,
        needs: { settings in
            Needs(
                analyzers: [PluginSpec("levels"), PluginSpec("spectrum"), PluginSpec("visualizer")]
                    + settings.peak.analyzers,
                realTime: true, schedulesEvents: true, events: settings.peak.records)
        },
        make: { settings throws(Problem) in
            FrameSink(
                to: [try NetworkTarget(parsing: settings.target, defaultPort: 11_988, at: "target")], interface: settings.interface,
                rate: settings.rate, delay: settings.delay
            ) { context throws(Problem) -> AudioSyncEncoder in AudioSyncEncoder(peak: settings.peak, lead: context.timing.lead) }
        })
}

struct WLEDSettings: PluginSettings {
    var target: String
    var peak: PeakSource
    var rate: Double
    var delay: Double
    var interface: String?

    init(_ read: inout SettingReader) {
        target = read.text(
            "target", default: "239.0.0.1:11988", example: "192.168.1.30",
            "Receiver: HOST[:PORT] of one device, or a multicast group; default port 11988.")
        peak = read.choice("peak", default: PeakSource.beat, "Events that are sent as peaks: beat, onset, kick, or none.")
        rate = read.frameRate()
        delay = read.networkDelay()
        interface = read.networkInterface()
    }
}

enum PeakSource: String, CaseIterable {
    case beat, onset, kick, none

    // The analyzer `beat` declares them: only their names are used here.
    private static let drum = RecordType("drum", "", fields: [])
    private static let expectedDrum = RecordType("expected_drum", "", fields: [])

    var analyzers: [PluginSpec] {
        switch self {
        case .beat, .onset: [PluginSpec("beat")]
        case .kick: [PluginSpec("beat", settings: ["drums": .boolean(true)])]
        case .none: []
        }
    }

    /// The records with the peaks.
    var records: [RecordType] {
        switch self {
        case .beat: [.beat]
        case .onset: [.onset]
        case .kick: [Self.drum, Self.expectedDrum]
        case .none: []
        }
    }

    /// Whether an event is a peak. A kick that was announced is one when it is expected, and not again when it is heard.
    func isPeak(_ event: Event) -> Bool {
        switch self {
        case .beat: event.type == .beat
        case .onset: event.type == .onset
        case .kick:
            event.type == Self.expectedDrum && event["voice"].string == "kick"
                || event.type == Self.drum && event["voice"].string == "kick" && event["expected"].flag == false
        case .none: false
        }
    }
}
