import Glibc
import Hemiola
import HemiolaSignal
import HemiolaWire
import Synchronization

extension SinkPlugin {
    /// Sends the records as text to another program.
    public static let udp = SinkPlugin(
        "udp", "Sends JSON Lines over UDP, a datagram per batch.", settings: [UDP.port.declared, UDP.host.declared], primary: "port"
    ) { settings throws(ConfigurationError) in UDP(receiver: try UDPSocket.address(settings[UDP.host], settings[UDP.port])) }
}

final class UDP: Sink {
    static let port = Setting("port", default: 9000, in: 1...65_535, "The receiver's port.")
    static let host = Setting("host", default: "127.0.0.1", "The receiver's IPv4 address.")

    private struct State: ~Copyable {
        var socket: UDPSocket?
        var context = SinkContext(name: "udp")
        var encoder: RecordEncoder?
        var lines = JSONBuffer(capacity: 4096)
    }

    private let receiver: sockaddr_in
    private let state = Mutex(State())
    init(receiver: sockaddr_in) { self.receiver = receiver }

    func open(_ context: SinkContext) async throws(SinkError) {
        let socket = try UDPSocket(to: receiver)
        state.withLock { ($0.socket, $0.context) = (socket, context) }
    }

    func begin(_ stream: StreamHeader) async throws(SinkError) {
        state.withLock { $0.encoder = RecordEncoder(stream, selection: $0.context.selection, version: HemiolaVersion.current) }
        send { encoder, lines in encoder.encodeHeader(into: &lines) }
    }

    func write(_ batches: BatchBlock) async throws(SinkError) {
        for index in 0..<batches.count { send { encoder, lines in encoder.encode(batches[index], into: &lines) } }
    }

    func end(_ summary: StreamSummary) async throws(SinkError) { send { encoder, lines in encoder.encodeEnd(summary, into: &lines) } }

    func close() async throws(SinkError) {
        let (socket, context) = state.withLock { ($0.socket.take(), $0.context) }
        if let lost = socket?.lostCount, lost > 0 { context.warn("udp: \(lost) datagrams were not sent") }
    }

    /// Encodes lines and sends them as one datagram. A datagram that cannot be sent at once is dropped and counted.
    private func send(_ encode: (RecordEncoder, inout JSONBuffer) -> Void) {
        state.withLock { state in
            guard let encoder = state.encoder, let socket = state.socket else { return }
            state.lines.removeAll()
            encode(encoder, &state.lines)
            let isSent = state.lines.withUnsafeBytes { $0.isEmpty || socket.send($0) }
            if !isSent, state.context.isLive { state.context.controls.report(DropReport(sink: state.context.name, batches: 1)) }
        }
    }
}
