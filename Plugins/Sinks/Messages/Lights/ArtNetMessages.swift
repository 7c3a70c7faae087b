internal import Hemiola
internal import HemiolaNetwork

/// The packet ArtDmx of Art-Net 4 (Artistic Licence, "Specification for the Art-Net 4 Ethernet Communication Protocol"): 18 bytes and 512
/// channels.
struct ArtNetMessages: LightMessages {
    static let port = 6454
    private static let opcode: [UInt8] = [0x00, 0x50]
    private static let version: [UInt8] = [0, 14]

    let receivers: [NetworkTarget]
    private let universes: [UInt16]
    /// 1…255; 0 is for senders that do not count.
    private var sequence: UInt8 = 0

    init(_ settings: LightSettings) throws(Problem) {
        guard let target = settings.target else {
            throw Problem("no node; name it, or the broadcast address: artnet:192.168.1.255", at: "target")
        }
        universes = try settings.universes(in: 0...32_767)
        receivers = [try NetworkTarget(parsing: target, defaultPort: Self.port, at: "target")]
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
