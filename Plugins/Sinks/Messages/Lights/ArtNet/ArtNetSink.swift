public import Hemiola
internal import HemiolaNetwork

extension SinkPlugin {
    /// Sends universes of DMX by Art-Net 4.
    public static let artnet = SinkPlugin(
        PluginDescription(
            "artnet", "Sends DMX universes to lights by Art-Net.", primary: "target", declares: .init(controls: [.blackout]),
            uses: .network),
        settings: ArtNetSettings.self, needs: { _ in ArtNetSettings.needs },
        make: { settings throws(Problem) in
            guard let text = settings.target else {
                throw Problem("no node; name it, or the broadcast address: artnet:192.168.1.255", at: "target")
            }
            let count = settings.map == nil ? Universe.count(pixels: settings.pixels, start: settings.start) : 1
            let first = settings.universe
            guard first + count - 1 <= 32_767 else {
                throw Problem("the lights need \(count) universes from \(first) on; the last is 32767", at: "universe")
            }
            let node = try NetworkTarget(parsing: text, defaultPort: ArtNetMessages.port, at: "target")
            let universes = (first..<first + count).map { UInt16($0) }
            return LightFrames.sink(ArtNetMessages(node, universes), settings, universes: (count, settings.start))
        })
}

struct ArtNetSettings: LightSettings {
    var target: String?
    var universe: Int
    var start: Int
    var pixels: Int
    var map: String?
    var look: LightLook
    var rate: Double
    var delay: Double
    var interface: String?

    init(_ read: inout SettingReader) {
        target = read.text(
            "target", example: "192.168.1.40",
            "Node: HOST[:PORT], or the broadcast address of the network; default port 6454. It has to be given.")
        universe = read.integer(
            "universe", default: 0, in: 0...32_767, "First universe: Net, Sub-Net and Universe in one number (Port-Address).")
        start = read.firstChannel()
        pixels = read.pixels()
        map = read.channelMap()
        look = LightLook(&read)
        rate = read.frameRate()
        delay = read.networkDelay()
        interface = read.networkInterface()
    }
}

/// The packet ArtDmx of Art-Net 4 (Artistic Licence, "Specification for the Art-Net 4 Ethernet Communication Protocol"): 18 bytes and 512
/// channels.
struct ArtNetMessages: LightProtocol {
    static let port = 6454
    private static let opcode: [UInt8] = [0x00, 0x50]
    private static let version: [UInt8] = [0, 14]

    let receivers: [NetworkTarget]
    private let universes: [UInt16]
    /// 1…255; 0 is for senders that do not count.
    private var sequence: UInt8 = 0

    init(_ target: NetworkTarget, _ universes: [UInt16]) {
        receivers = [target]
        self.universes = universes
    }

    mutating func messages(for frame: [UInt8]) -> [(receiver: Int, bytes: [UInt8])] {
        sequence = sequence % 255 + 1
        return universes.indices.map { index in
            let channels = frame[index * Universe.channelCount..<(index + 1) * Universe.channelCount]
            var bytes = Array("Art-Net\0".utf8)
            bytes += Self.opcode
            bytes += Self.version
            bytes += [sequence, 0]
            bytes += [UInt8(universes[index] & 0xFF), UInt8(universes[index] >> 8)]
            bytes += [UInt8(channels.count >> 8), UInt8(channels.count & 0xFF)]
            bytes += channels
            return (0, bytes)
        }
    }

    func lastMessages() -> [(receiver: Int, bytes: [UInt8])] { [] }
}
