internal import Hemiola
internal import HemiolaNetwork

/// The settings of a sink of lights.
protocol LightSettings: PluginSettings {
    /// The number of lights.
    var pixels: Int { get }
    /// The path of a field map of channels, instead of lights with an effect.
    var map: String? { get }
    var look: LightLook { get }
    /// Frames a second at most; 0: a frame with each batch.
    var rate: Double { get }
    /// In seconds.
    var delay: Double { get }
    var interface: String? { get }
}

extension LightSettings {
    static var needs: SinkPlugin.Needs {
        SinkPlugin.Needs(
            analyzers: [PluginSpec("levels"), PluginSpec("spectrum"), PluginSpec("visualizer"), PluginSpec("beat")], realTime: true,
            schedulesEvents: true, events: [.beat])
    }

    var map: String? { nil }
    var interface: String? { nil }
}

/// What the lights show.
struct LightLook: PluginSettings {
    var effect: LightEffect
    var brightness: Double
    var allowsStrobe: Bool

    init(_ read: inout SettingReader) {
        effect = read.choice(
            "effect", default: LightEffect.spectrum, "What the lights show: spectrum, level, or pulse: a flash with each beat.")
        brightness = read.number("brightness", default: 1, in: 0...1, "Brightness of the lights, 0...1.")
        allowsStrobe = read.boolean(
            "strobe", default: false, "Permit more than three flashes a second. Dangerous for photosensitive people.")
    }
}

extension SettingReader {
    /// The setting `pixels`.
    mutating func pixels() -> Int { integer("pixels", default: 60, in: 1...10_000, "Number of RGB lights.") }

    /// The setting `map`.
    mutating func channelMap() -> String? {
        text("map", example: "lights.yaml", "Field map of channels, a file. Default: RGB lights with an effect.")
    }

    /// The setting `start`.
    mutating func firstChannel() -> Int {
        integer("start", default: 1, in: 1...512, "DMX channel of the first light in the first universe.")
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
