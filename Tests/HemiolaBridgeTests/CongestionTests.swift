import Hemiola
import HemiolaSignal
import NIOCore
import NIOPosix
import Testing

@testable import HemiolaBridge

/// A client that is congested is read again as soon as it is not, whatever ended the congestion.
@Suite struct CongestionTests {
    /// Runs on an event loop, with a hub that has no stream yet.
    private func onLoop(_ body: @escaping @Sendable (BridgeHub) throws -> Void) async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        try await loop.submit {
            try body(BridgeHub(SinkContext(name: "web"), BridgeSettings(), Demand(), on: loop))
        }.get()
    }

    private static func encoders() -> StreamEncoders {
        var writer = BatchWriter(sink: "web", selection: .all)
        return writer.begin(
            StreamHeader(
                source: StreamSource(format: StreamFormat(sampleRate: 44_100, channelCount: 1), kind: "test", name: "test"),
                isLive: true, batching: .standard, seed: 0, analyzers: []))
    }

    @Test func `client congested before the stream begins: its greeting resumes it once`() async throws {
        try await onLoop { hub in
            let wire = CountingWire()
            let client = try #require(hub.admit(wire, refusal: nil))
            for _ in 0..<65 { client.receive(ClientMessage.Fault(text: "wrong")) }
            #expect(client.isCongested && wire.resumeCount == 0)
            hub.begin(Self.encoders())
            #expect(!client.isCongested && wire.resumeCount == 1)
            #expect(wire.lines.count { $0.contains("wrong") } == 65)
        }
    }

    @Test func `lines that a resumed client causes come after those that waited`() async throws {
        try await onLoop { hub in
            let wire = CountingWire()
            let client = try #require(hub.admit(wire, refusal: nil))
            wire.onResume = { client.receive(ClientMessage.Fault(text: "later")) }
            for _ in 0..<65 { client.receive(ClientMessage.Fault(text: "first")) }
            hub.begin(Self.encoders())
            #expect(wire.lines.last?.contains("later") == true && wire.resumeCount == 1)
        }
    }

    @Test func `client whose waiting lines are dropped for a batch: is resumed while it still does not read`() async throws {
        try await onLoop { hub in
            let wire = CountingWire()
            let client = try #require(hub.admit(wire, refusal: nil))
            hub.begin(Self.encoders())
            client.receive(ClientMessage(id: nil, body: .subscribe(streams: ["batch"], payload: nil)))
            wire.isWritable = false
            for _ in 0..<100 { client.receive(ClientMessage.Fault(text: "wrong")) }
            #expect(client.isCongested && wire.resumeCount == 0)
            let batch = ByteBuffer(repeating: 0x20, count: Outbox.byteCapacity - 100)
            hub.deliver(Parcel(time: 0, batch: batch, events: [], samples: [], cues: [], state: VisualizerChange()))
            #expect(!client.isCongested && wire.resumeCount == 1)
        }
    }
}

/// Collects the lines and counts how often the client is resumed.
private final class CountingWire: ClientWire {
    var isWritable = true
    var lines: [String] = []
    var resumeCount = 0
    var onResume: () -> Void = {}

    func write(_ line: ByteBuffer) { lines.append(String(buffer: line)) }
    func flush() {}
    func finish() {}
    func abort() {}

    func resume() {
        resumeCount += 1
        onResume()
    }
}
