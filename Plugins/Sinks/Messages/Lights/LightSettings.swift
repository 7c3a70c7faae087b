internal import Hemiola
internal import HemiolaNetwork
internal import HemiolaRecords

/// The settings that the three sinks have in common.
struct LightSettings: Sendable {
    static let pixels = Setting("pixels", default: 60, in: 1...10_000, "Number of RGB lights.")
    static let effect = Setting(
        "effect", default: LightEffect.spectrum, "What the lights show: spectrum, level, or pulse: a flash with each beat.")
    static let brightness = Setting("brightness", default: 1.0, in: 0...1, "Brightness of the lights, 0...1.")
    static let strobe = Setting("strobe", default: false, "Permit more than three flashes a second. Dangerous for photosensitive people.")
    static let map = Setting<String?>(
        "map", default: nil, example: "lights.yaml", "Field map of channels, a file. Default: RGB lights with an effect.")

    static let needs = SinkPlugin.Needs(
        analyzers: [PluginSpec("levels"), PluginSpec("visualizer"), PluginSpec("beat")], realTime: true, schedulesEvents: true,
        events: [.beat])

    var pixelCount: Int
    var effect: LightEffect
    var brightness: Float
    var allowsStrobe: Bool
    /// Frames a second at most; 0: a frame with each batch.
    var rate: Double
    /// Seconds.
    var delay: Double
    var interface: String?
    var map: String?

    init(_ settings: SettingValues, hasMap: Bool) {
        pixelCount = settings[Self.pixels]
        effect = settings[Self.effect]
        brightness = Float(settings[Self.brightness])
        allowsStrobe = settings[Self.strobe]
        rate = settings[ScheduledSender.frameRate]
        delay = settings[ScheduledSender.delay] / 1000
        interface = hasMap ? settings[ScheduledSender.interface] : nil
        map = hasMap ? settings[Self.map] : nil
    }
}

/// A protocol of lights: makes the messages of a frame.
protocol LightProtocol: Sendable {
    /// The receivers; one sender each.
    var receivers: [NetworkTarget] { get }
    /// The messages of a frame, with the number of the receiver.
    ///
    /// - Parameter frame: A byte for each channel: red, green and blue of each pixel, or the channels of universes.
    mutating func messages(for frame: [UInt8]) -> [(receiver: Int, bytes: [UInt8])]
    /// The messages after the last frame.
    mutating func lastMessages() -> [(receiver: Int, bytes: [UInt8])]
}
