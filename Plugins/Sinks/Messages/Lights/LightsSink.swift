public import Hemiola
internal import HemiolaNetwork

extension SinkPlugin {
    /// Sends colours or universes of DMX to lights.
    public static let lights = SinkPlugin(
        PluginDescription(
            "lights", "Sends DMX universes (sACN, Art-Net) or colours of pixels (DDP) to lights.", primary: "target",
            declares: .init(
                controls: [.blackout],
                aliases: ["sacn": ["protocol": .text("sacn")], "artnet": ["protocol": .text("artnet")], "ddp": ["protocol": .text("ddp")]]),
            uses: .network),
        settings: LightSettings.self,
        needs: { _ in
            SinkPlugin.Needs(
                analyzers: [PluginSpec("levels"), PluginSpec("spectrum"), PluginSpec("visualizer"), PluginSpec("beat")], realTime: true,
                schedulesEvents: true, events: [.beat])
        },
        make: { settings throws(Problem) in
            try settings.check()
            switch settings.protocol {
            case .sacn: return LightFrames.sink(try SACNMessages(settings), settings)
            case .artnet: return LightFrames.sink(try ArtNetMessages(settings), settings)
            case .ddp: return LightFrames.sink(try DDPMessages(settings), settings)
            }
        })
}

/// How lights are reached.
enum LightProtocol: String, CaseIterable, Sendable {
    case sacn, artnet, ddp
}

struct LightSettings: PluginSettings {
    var `protocol`: LightProtocol
    var target: String?
    var pixels: Int
    var effect: LightEffect
    var brightness: Double
    var allowsStrobe: Bool
    /// The first universe; nil: the first one that the protocol has.
    var universe: Int?
    /// The DMX channel of the first light; nil: 1.
    var start: Int?
    /// The path of a field map of channels, instead of lights with an effect.
    var map: String?
    var priority: Int?
    var source: String?
    /// Frames a second at most; 0: a frame with each batch.
    var rate: Double
    /// In seconds.
    var delay: Double
    var interface: String?

    init(_ read: inout SettingReader) {
        `protocol` = read.choice(
            "protocol", default: LightProtocol.sacn, "Streaming ACN (E1.31), Art-Net 4, or the Distributed Display Protocol.")
        target = read.text(
            "target", example: "192.168.1.40",
            "Receiver: HOST[:PORT], for artnet also the broadcast address; default port 5568 (sacn), 6454 (artnet), 4048 (ddp). Default of "
                + "sacn: the multicast group of each universe; for others it has to be given.")
        pixels = read.integer("pixels", default: 60, in: 1...10_000, "Number of RGB lights.")
        effect = read.choice(
            "effect", default: LightEffect.spectrum, "What the lights show: spectrum, level, or pulse: a flash with each beat.")
        brightness = read.number("brightness", default: 1, in: 0...1, "Brightness of the lights, 0...1.")
        allowsStrobe = read.boolean(
            "strobe", default: false, "Permit more than three flashes a second. Dangerous for photosensitive people.")
        universe = read.integer(
            "universe", in: 0...63_999,
            "First universe; of sacn 1...63999, default 1; of artnet 0...32767, default 0: Net, Sub-Net and Universe in one number "
                + "(Port-Address).")
        start = read.integer("start", in: 1...512, "DMX channel of the first light in the first universe; sacn and artnet. Default: 1.")
        map = read.text(
            "map", example: "lights.yaml", "Field map of channels, a file; sacn and artnet. Default: RGB lights with an effect.")
        priority = read.integer(
            "priority", in: 0...200, "Priority over other sources of the same universe; sacn. 200 is the highest. Default: 100.")
        source = read.text("source", "Name of this source, up to 63 bytes; sacn. Default: Hemiola.")
        rate = read.frameRate()
        delay = read.networkDelay()
        interface = read.networkInterface()
    }

    /// Refuses settings that the protocol does not have.
    func check() throws(Problem) {
        // Those of universes, and at the end those of sACN alone.
        let settings = [
            ("universe", universe != nil), ("start", start != nil), ("map", map != nil), ("interface", interface != nil),
            ("priority", priority != nil), ("source", source != nil),
        ]
        let missing = `protocol` == .sacn ? 0 : `protocol` == .artnet ? 2 : settings.count
        for (name, isGiven) in settings.suffix(missing) where isGiven {
            throw Problem("\(`protocol`.rawValue) has no such setting", at: name)
        }
    }

    /// The number of universes of the lights, or of a map.
    var universeCount: Int { map == nil ? Universe.count(pixels: pixels, start: start ?? 1) : 1 }

    /// The universes of the lights.
    ///
    /// - Parameter range: Those that the protocol has.
    func universes(in range: ClosedRange<Int>) throws(Problem) -> [UInt16] {
        let first = universe ?? range.lowerBound
        let end = first + universeCount
        guard range.contains(first) else { throw Problem("\(first) is outside \(range.lowerBound)...\(range.upperBound)", at: "universe") }
        guard end - 1 <= range.upperBound else {
            throw Problem("the lights need \(universeCount) universes from \(first) on; the last is \(range.upperBound)", at: "universe")
        }
        return (first..<end).map { UInt16($0) }
    }
}

/// The messages of a protocol.
protocol LightMessages: Sendable {
    /// The receivers; one sender each.
    var receivers: [NetworkTarget] { get }
    /// The messages of a frame, with the number of the receiver.
    ///
    /// - Parameter frame: A byte for each channel: red, green and blue of each pixel, or the channels of universes.
    mutating func messages(for frame: [UInt8]) -> [(receiver: Int, bytes: [UInt8])]
    /// The messages after the last frame.
    mutating func lastMessages() -> [(receiver: Int, bytes: [UInt8])]
}
