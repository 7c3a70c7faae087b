public import Hemiola
internal import HemiolaNetwork

extension SinkPlugin {
    /// Sends the colours of pixels to an LED controller by the Distributed Display Protocol.
    public static let ddp = SinkPlugin(
        PluginDescription(
            "ddp", "Sends colours to the pixels of an LED controller (Distributed Display Protocol).", primary: "target",
            declares: .init(controls: [.blackout]), uses: .network),
        settings: DDPSettings.self, needs: { _ in DDPSettings.needs },
        make: { settings throws(Problem) in
            guard let text = settings.target else {
                throw Problem("no controller; name it: ddp:HOST", at: "target")
            }
            let controller = try NetworkTarget(parsing: text, defaultPort: DDPMessages.port, at: "target")
            return LightFrames.sink(DDPMessages(controller), settings)
        })
}

struct DDPSettings: LightSettings {
    var target: String?
    var pixels: Int
    var look: LightLook
    var rate: Double
    var delay: Double

    init(_ read: inout SettingReader) {
        target = read.text("target", example: "192.168.1.30", "Controller: HOST[:PORT]; default port 4048. It has to be given.")
        pixels = read.pixels()
        look = LightLook(&read)
        rate = read.frameRate()
        delay = read.networkDelay()
    }
}

/// Messages of the Distributed Display Protocol, version 1 (http://www.3waylabs.com/ddp/): a header of 10 bytes and up to 480 RGB pixels.
struct DDPMessages: LightProtocol {
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

    init(_ target: NetworkTarget) {
        receivers = [target]
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
