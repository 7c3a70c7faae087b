import Glibc
import Hemiola

extension SinkPlugin {
    /// Sends the records as text to another program.
    public static let udp = SinkPlugin(
        PluginDescription("udp", "Sends JSON Lines over UDP, a datagram per batch.", primary: "port"), settings: UDPSettings.self
    ) { settings throws(Problem) in UDP(receiver: try UDPSocket.address(settings.host, settings.port)) }
}

struct UDPSettings: PluginSettings {
    var port: Int
    var host: String

    init(_ read: inout SettingReader) {
        port = read.integer("port", default: 9000, in: 1...65_535, "The receiver's port.")
        host = read.text("host", default: "127.0.0.1", "The receiver's IPv4 address.")
    }
}

final class UDP: Sink {
    private let receiver: sockaddr_in
    private var socket: UDPSocket?
    private var context = SinkContext(name: "udp")
    private var encoder: RecordEncoder?
    private var lines = JSONBuffer(capacity: 4096)
    init(receiver: sockaddr_in) { self.receiver = receiver }

    func open(_ context: SinkContext) throws(Problem) {
        socket = try UDPSocket(to: receiver)
        self.context = context
    }

    func begin(_ stream: StreamHeader) {
        encoder = RecordEncoder(stream, selection: context.records.selection)
        send { encoder, lines in encoder.encodeHeader(into: &lines) }
    }

    func write(_ batches: BatchBlock) {
        for index in 0..<batches.count { send { encoder, lines in encoder.encode(batches[index], into: &lines) } }
    }

    func end(_ summary: StreamSummary) { send { encoder, lines in encoder.encodeEnd(summary, into: &lines) } }

    func close() {
        if let lost = socket?.lostCount, lost > 0 { context.messages.warn("udp: \(lost) datagrams were not sent") }
        socket = nil
    }

    /// Encodes lines and sends them as one datagram. A datagram that cannot be sent at once is dropped and counted.
    private func send(_ encode: (RecordEncoder, inout JSONBuffer) -> Void) {
        guard let encoder, let socket else { return }
        lines.removeAll()
        encode(encoder, &lines)
        let isSent = lines.withUnsafeBytes { $0.isEmpty || socket.send($0) }
        if !isSent, context.timing.isLive { context.controls.report(DropReport(sink: context.name, batches: 1)) }
    }
}
