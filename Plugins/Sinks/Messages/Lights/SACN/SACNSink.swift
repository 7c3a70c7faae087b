public import Hemiola
internal import HemiolaNetwork

extension SinkPlugin {
    /// Sends universes of DMX by streaming ACN (ANSI E1.31).
    public static let sacn = SinkPlugin(
        PluginDescription(
            "sacn", "Sends DMX universes to lights by streaming ACN (E1.31).", primary: "target", declares: .init(controls: [.blackout]),
            uses: .network),
        settings: SACNSettings.self, needs: { _ in SACNSettings.needs },
        make: { settings throws(Problem) in
            let count = settings.map == nil ? Universe.count(pixels: settings.pixels, start: settings.start) : 1
            let first = settings.universe
            guard first + count - 1 <= 63_999 else {
                throw Problem("the lights need \(count) universes from \(first) on; the last is 63999", at: "universe")
            }
            guard (1...63).contains(settings.source.utf8.count) else {
                throw Problem("a name has 1...63 bytes", at: "source")
            }
            let universes = (first..<first + count).map { UInt16($0) }
            var receiver: NetworkTarget?
            if let text = settings.target { receiver = try NetworkTarget(parsing: text, defaultPort: SACNMessages.port, at: "target") }
            let messages = SACNMessages(
                receiver, universes, source: settings.source, priority: UInt8(settings.priority),
                identifier: SACNMessages.randomIdentifier())
            return LightFrames.sink(messages, settings, universes: (count, settings.start))
        })
}

struct SACNSettings: LightSettings {
    var target: String?
    var universe: Int
    var start: Int
    var pixels: Int
    var map: String?
    var look: LightLook
    var priority: Int
    var source: String
    var rate: Double
    var delay: Double
    var interface: String?

    init(_ read: inout SettingReader) {
        target = read.text(
            "target", example: "192.168.1.40", "Receiver: HOST[:PORT]; default port 5568. Default: the multicast group of each universe.")
        universe = read.integer("universe", default: 1, in: 1...63_999, "First universe.")
        start = read.firstChannel()
        pixels = read.pixels()
        map = read.channelMap()
        look = LightLook(&read)
        priority = read.integer(
            "priority", default: 100, in: 0...200, "Priority over other sources of the same universe; 200 is the highest.")
        source = read.text("source", default: "Hemiola", "Name of this source, up to 63 bytes.")
        rate = read.frameRate()
        delay = read.networkDelay()
        interface = read.networkInterface()
    }
}

/// Data packets of streaming ACN (ANSI E1.31-2018), 638 bytes each: root layer, framing layer, DMP layer with 512 channels.
struct SACNMessages: LightProtocol {
    static let port = 5568
    static let byteCount = 638
    /// The option bit of the packets that end a stream, and their number.
    private static let terminated: UInt8 = 0x40
    private static let lastCount = 3

    let receivers: [NetworkTarget]
    private let universes: [UInt16]
    private let source: [UInt8]
    private let priority: UInt8
    private let identifier: [UInt8]
    private var sequence: UInt8 = 0

    /// - Parameters:
    ///   - target: nil: the multicast group of each universe, 239.255.HIGH.LOW.
    ///   - identifier: The 16 bytes that identify the source.
    init(_ target: NetworkTarget?, _ universes: [UInt16], source: String, priority: UInt8, identifier: [UInt8]) {
        receivers =
            target.map { [$0] } ?? universes.map { NetworkTarget(host: "239.255.\($0 >> 8).\($0 & 0xFF)", port: Self.port) }
        self.universes = universes
        self.source = Array(source.utf8)
        self.priority = priority
        self.identifier = identifier
    }

    /// A random identifier (RFC 4122, version 4): it distinguishes the sources of a universe.
    static func randomIdentifier() -> [UInt8] {
        var bytes = (0..<16).map { _ in UInt8.random(in: 0...255) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        return bytes
    }

    mutating func messages(for frame: [UInt8]) -> [(receiver: Int, bytes: [UInt8])] {
        sequence &+= 1
        return universes.indices.map { index in
            let channels = frame[index * Universe.channelCount..<(index + 1) * Universe.channelCount]
            return (receivers.count == 1 ? 0 : index, packet(universes[index], channels, options: 0))
        }
    }

    mutating func lastMessages() -> [(receiver: Int, bytes: [UInt8])] {
        let dark = [UInt8](repeating: 0, count: Universe.channelCount)[...]
        return (0..<Self.lastCount).flatMap { _ in
            sequence &+= 1
            return universes.indices.map { index in
                (receivers.count == 1 ? 0 : index, packet(universes[index], dark, options: Self.terminated))
            }
        }
    }

    private func packet(_ universe: UInt16, _ channels: ArraySlice<UInt8>, options: UInt8) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        func word(_ value: UInt16) { bytes += [UInt8(value >> 8), UInt8(value & 0xFF)] }
        /// The length of a layer from here to the end, below the flags 7.
        func length() { word(0x7000 | UInt16(Self.byteCount - bytes.count)) }
        // Root layer.
        word(0x0010)
        word(0)
        bytes += "ASC-E1.17\0\0\0".utf8
        length()
        bytes += [0, 0, 0, 4]
        bytes += identifier
        // Framing layer.
        length()
        bytes += [0, 0, 0, 2]
        bytes += source + [UInt8](repeating: 0, count: 64 - source.count)
        bytes.append(priority)
        word(0)
        bytes += [sequence, options]
        word(universe)
        // DMP layer.
        length()
        bytes += [0x02, 0xA1]
        word(0)
        word(1)
        word(UInt16(channels.count + 1))
        bytes.append(0)
        return bytes + channels
    }
}
