import Hemiola
import HemiolaRecords
import HemiolaSignal
import NIOCore
import NIOPosix
import Testing

@testable import HemiolaBridge

/// Reading from a congested client is resumed as soon as the congestion ends, for each cause of its end.
@Suite struct CongestionTests {
    /// Runs a closure on an event loop with a hub that has no stream.
    private func onLoop(_ body: @escaping @Sendable (BridgeHub) throws -> Void) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        try await loop.submit {
            try body(BridgeHub(SinkContext(name: "web", catalog: .test), BridgeSettings(), SubscriptionUnion(), on: loop))
        }.get()
    }

    private static func encoders() -> StreamEncoders {
        var encoder = BatchEncoder(sink: "web", selection: .all, catalog: StreamCatalog(.test))
        return encoder.begin(
            StreamHeader(
                source: StreamSource(format: StreamFormat(sampleRate: 44_100, channelCount: 1), kind: "test", name: "test"),
                isLive: true, batching: .standard, seed: 0, analyzers: []))
    }

    @Test func `client congested before the stream begins: hello resumes it once`() async throws {
        try await onLoop { hub in
            let connection = CountingConnection()
            let client = try #require(hub.addClient(connection, refusal: nil))
            for _ in 0..<65 { client.receive(ClientMessage(id: nil, body: .invalid("wrong"))) }
            #expect(client.isCongested && connection.resumeCount == 0)
            hub.begin(Self.encoders())
            #expect(!client.isCongested && connection.resumeCount == 1)
            #expect(connection.lines.count { $0.contains("wrong") } == 65)
        }
    }

    @Test func `client resumed by hello: later lines follow the waiting lines`() async throws {
        try await onLoop { hub in
            let connection = CountingConnection()
            let client = try #require(hub.addClient(connection, refusal: nil))
            connection.onResume = { client.receive(ClientMessage(id: nil, body: .invalid("later"))) }
            for _ in 0..<65 { client.receive(ClientMessage(id: nil, body: .invalid("first"))) }
            hub.begin(Self.encoders())
            #expect(connection.lines.last?.contains("later") == true && connection.resumeCount == 1)
        }
    }

    @Test func `client whose waiting lines are dropped: is resumed although it does not read`() async throws {
        try await onLoop { hub in
            let connection = CountingConnection()
            let client = try #require(hub.addClient(connection, refusal: nil))
            hub.begin(Self.encoders())
            client.receive(ClientMessage(id: nil, body: .subscribe(streams: ["batch"], payload: nil)))
            connection.isWritable = false
            for _ in 0..<100 { client.receive(ClientMessage(id: nil, body: .invalid("wrong"))) }
            #expect(client.isCongested && connection.resumeCount == 0)
            let batch = ByteBuffer(repeating: 0x20, count: SendQueue.byteCapacity - 100)
            hub.send(
                EncodedBatch(
                    time: 0, batchLine: batch, eventLines: [], sampleMessages: [], pageCommands: [], stateChange: VisualizerChange()))
            #expect(!client.isCongested && connection.resumeCount == 1)
        }
    }
}

/// Collects the lines and counts how often the client is resumed.
private final class CountingConnection: ClientConnection {
    var isWritable = true
    var lines: [String] = []
    var resumeCount = 0
    var onResume: () -> Void = {}

    var acceptsBinaryMessages: Bool { false }
    var isLocal: Bool { true }
    func write(_ message: ByteBuffer, _ kind: MessageKind) { lines.append(String(buffer: message)) }
    func flush() {}
    func finish() {}
    func abort() {}

    func resume() {
        resumeCount += 1
        onResume()
    }
}
