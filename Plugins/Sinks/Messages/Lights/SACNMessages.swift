internal import Hemiola
internal import HemiolaNetwork

/// Data packets of streaming ACN (ANSI E1.31-2018), 638 bytes each: root layer, framing layer, DMP layer with 512 channels.
struct SACNMessages: LightMessages {
    static let port = 5568
    static let byteCount = 638
    /// The option bit of the packets that end a stream, and their number.
    private static let terminated: UInt8 = 0x40
    private static let lastCount = 3

    let receivers: [NetworkTarget]
    private let universes: [UInt16]
    private let source: [UInt8]
    private let priority: UInt8
    /// 16 bytes that identify the source.
    private let identifier = Self.randomIdentifier()
    private var sequence: UInt8 = 0

    init(_ settings: LightSettings) throws(Problem) {
        universes = try settings.universes(in: 1...63_999)
        source = Array((settings.source ?? "Hemiola").utf8)
        guard (1...63).contains(source.count) else { throw Problem("a name has 1...63 bytes", at: "source") }
        if let target = settings.target {
            receivers = [try NetworkTarget(parsing: target, defaultPort: Self.port, at: "target")]
        } else {
            // The multicast group of each universe.
            receivers = universes.map { NetworkTarget(host: "239.255.\($0 >> 8).\($0 & 0xFF)", port: Self.port) }
        }
        priority = UInt8(settings.priority ?? 100)
    }

    /// A random identifier (RFC 4122, version 4): it distinguishes the sources of a universe.
    private static func randomIdentifier() -> [UInt8] {
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
