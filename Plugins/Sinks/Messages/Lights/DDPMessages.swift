internal import Hemiola
internal import HemiolaNetwork

/// Messages of the Distributed Display Protocol, version 1 (http://www.3waylabs.com/ddp/): a header of 10 bytes and up to 480 RGB pixels.
struct DDPMessages: LightMessages {
    static let port = 4048
    /// Bytes of pixels in a message: 480 pixels, which fit into one packet of an Ethernet.
    static let dataLength = 1440
    private static let version: UInt8 = 0x40
    /// The frame is complete and is shown.
    private static let push: UInt8 = 0x01
    /// RGB, 8 bits each.
    private static let dataType: UInt8 = 0x0B
    /// The default output of the controller.
    private static let output: UInt8 = 1

    let receivers: [NetworkTarget]
    /// 1…15; 0 is for senders that do not count.
    private var sequence: UInt8 = 0

    init(_ settings: LightSettings) throws(Problem) {
        guard let target = settings.target else { throw Problem("no controller; name it: ddp:HOST", at: "target") }
        receivers = [try NetworkTarget(parsing: target, defaultPort: Self.port, at: "target")]
    }

    mutating func messages(for frame: [UInt8]) -> [(receiver: Int, bytes: [UInt8])] {
        stride(from: 0, to: frame.count, by: Self.dataLength).map { offset in
            let data = frame[offset..<min(offset + Self.dataLength, frame.count)]
            sequence = sequence % 15 + 1
            var bytes = [Self.version | (data.endIndex == frame.count ? Self.push : 0), sequence, Self.dataType, Self.output]
            withUnsafeBytes(of: UInt32(offset).bigEndian) { bytes += $0 }
            withUnsafeBytes(of: UInt16(data.count).bigEndian) { bytes += $0 }
            return (0, bytes + data)
        }
    }

    func lastMessages() -> [(receiver: Int, bytes: [UInt8])] { [] }
}
