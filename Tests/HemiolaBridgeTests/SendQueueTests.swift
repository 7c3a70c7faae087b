import Hemiola
import HemiolaRecords
import NIOCore
import Testing

@testable import HemiolaBridge

@Suite struct SendQueueTests {
    private static let samples = Subscription()
    private static let beat = "beat"

    /// A batch with a batch line and optionally a beat.
    private func batch(_ number: Int, beat: Bool = false, batchLine: Bool = true) -> EncodedBatch {
        let bytes = ByteBuffer(string: "\(number)")
        return EncodedBatch(
            time: Double(number), batchLine: batchLine ? bytes : nil,
            eventLines: beat ? [.init(stream: Self.beat, bytes: ByteBuffer(string: "beat \(number)"))] : [])
    }

    private static let subscription = Subscription(streams: [StreamName.batch, beat], isExplicit: true)

    /// Removes all entries and returns their lines.
    private func read(_ queue: inout SendQueue) -> [String] {
        var texts: [String] = []
        func collect(_ line: ByteBuffer, _ kind: MessageKind) { texts.append(String(buffer: line)) }
        while let entry = queue.next() {
            switch entry {
            case .line(let bytes): texts.append(String(buffer: bytes))
            case .dropped(let count): texts.append("dropped \(count.batches)" + (count.events > 0 ? "+\(count.events)" : ""))
            case .batch(let lines): lines.forEach(collect)
            }
        }
        return texts
    }

    @Test func `more than eight batches: the newest eight wait, after the count of the dropped ones`() {
        var queue = SendQueue()
        for number in 0..<20 { queue.append(batch(number).lines(for: Self.subscription, client: "1")) }
        #expect(queue.takeReport(at: 0)?.drops == SendQueue.DropCount(batches: 12))
        #expect(read(&queue) == ["dropped 12"] + (12..<20).map { "\($0)" })
        #expect(queue.isEmpty)
        queue.append(batch(20).lines(for: Self.subscription, client: "1"))
        #expect(read(&queue) == ["20"])
    }

    @Test func `dropped batches: their events stay, in order`() {
        var queue = SendQueue()
        queue.append(ByteBuffer(string: "reply"))
        for number in 0..<12 { queue.append(batch(number, beat: number.isMultiple(of: 3)).lines(for: Self.subscription, client: "1")) }
        #expect(
            read(&queue)
                == ["reply", "beat 0", "beat 3", "dropped 4", "4", "5", "6", "beat 6", "7", "8", "9", "beat 9", "10", "11"])
    }

    @Test func `dropped batch with events: its batch line and events of other streams are not kept`() {
        let (beat, onset) = (Self.beat, "onset")
        for isWhole in [true, false] {
            var queue = SendQueue()
            for number in 0...SendQueue.batchCapacity {
                let batch = EncodedBatch(
                    time: Double(number), batchLine: ByteBuffer(repeating: 0x20, count: 4096),
                    eventLines: [
                        .init(stream: beat, bytes: ByteBuffer(string: "beat")),
                        .init(stream: onset, bytes: ByteBuffer(string: "onset")),
                    ])
                queue.append(
                    batch.lines(for: Subscription(streams: isWhole ? [StreamName.batch, beat] : [beat], isExplicit: true), client: "1"))
            }
            guard case .batch(let kept)? = queue.next() else {
                Issue.record("the oldest batch was removed")
                continue
            }
            #expect(kept.batch == nil && kept.events.map { String(buffer: $0) } == ["beat"])
        }
    }

    @Test func `batches without lines for the subscription: are not queued`() {
        var queue = SendQueue()
        for number in 0..<100 { queue.append(batch(number).lines(for: Self.samples, client: "1")) }
        #expect(queue.isEmpty && queue.takeReport(at: 0) == nil)
        for number in 0..<20 { queue.append(batch(number, beat: true, batchLine: false).lines(for: Self.subscription, client: "1")) }
        #expect(queue.takeReport(at: 0) == nil)
        #expect(read(&queue) == (0..<20).map { "beat \($0)" })
    }

    @Test func `more than 1024 entries: the oldest are dropped`() {
        var queue = SendQueue()
        for number in 0..<5000 { queue.append(batch(number, beat: true).lines(for: Self.subscription, client: "1")) }
        #expect(queue.count == SendQueue.entryCapacity)
        let texts = read(&queue)
        #expect(texts.last == "beat 4999" && texts.contains("4992") && !texts.contains("4991"))
        #expect(texts.contains { $0.hasPrefix("dropped ") })
        #expect(queue.isEmpty)
    }

    @Test func `bytes above the limit: the oldest events are dropped and counted`() {
        var queue = SendQueue()
        for number in 0..<20 {
            let line = EncodedBatch.EventLine(
                stream: Self.beat, bytes: ByteBuffer(string: "\(number) \(String(repeating: "x", count: 100_000))"))
            queue.append(
                EncodedBatch(
                    time: 0, eventLines: [line]
                ).lines(for: Subscription(streams: [Self.beat], isExplicit: true), client: "1"))
        }
        #expect(queue.takeReport(at: 0)?.drops == SendQueue.DropCount(events: 10))
        #expect(queue.takeReport(at: .infinity) == nil)
        #expect(read(&queue).map { $0.prefix { $0 != " " } } == (10..<20).map { "\($0)" } + ["dropped"])
        #expect(queue.isEmpty)
    }

    @Test func `lines and calls: are never dropped, calls follow all others, a call with the number of another takes its place`() {
        var queue = SendQueue()
        for number in 0..<2000 { queue.append(ByteBuffer(string: "line \(number)")) }
        for number in 0..<3 { queue.append(call: ByteBuffer(string: "call \(number)"), replacing: 7) }
        queue.append(call: ByteBuffer(string: "other"), replacing: nil)
        for number in 0..<20 { queue.append(batch(number).lines(for: Self.subscription, client: "1")) }
        queue.prepend([ByteBuffer(string: "first")])
        #expect(queue.unreadBytes == 10 * 6 + 90 * 7 + 900 * 8 + 1000 * 9 + 6 + 5 + 5)
        let lines = read(&queue)
        #expect(lines.prefix(2) == ["first", "line 0"] && lines.suffix(3) == ["19", "call 2", "other"])
        #expect(lines.count { $0.hasPrefix("line") } == 2000)
        #expect(queue.isEmpty && queue.unreadBytes == 0)
    }

    @Test func `dropped record of a client: is sent to the other clients only`() {
        let line = EncodedBatch.EventLine(stream: Self.beat, bytes: ByteBuffer(string: "dropped"), excludedClient: "1")
        let batch = EncodedBatch(
            time: 0, eventLines: [line])
        let subscription = Subscription(streams: [Self.beat], isExplicit: true)
        #expect(batch.lines(for: subscription, client: "1").isEmpty)
        #expect(batch.lines(for: subscription, client: "2").events.map { String(buffer: $0) } == ["dropped"])
    }
}

@Suite struct SubscriptionTests {
    @Test func `names of the streams: the record types but failure, and the samples`() throws {
        let names = StreamName.all(in: .test)
        #expect(names == RecordCatalog.test.recordTypes.filter { $0 != "failure" } + ["pushSamples"])
        var subscription = Subscription()
        try subscription.change(names, nil, .test, acceptsBinaryMessages: false)
        #expect(subscription.streams == Set(names))
        #expect(throws: Problem.self) { try subscription.change(["samples"], nil, .test, acceptsBinaryMessages: false) }
        #expect(subscription.streams == Set(names), "an unknown name changes nothing")
    }
}
