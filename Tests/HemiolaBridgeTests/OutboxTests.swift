import NIOCore
import Testing

@testable import HemiolaBridge

@Suite struct OutboxTests {
    private static let samples = Subscription()

    /// A batch with samples, and with a beat where it is asked for.
    private func parcel(_ number: Int, beat: Bool = false, paced: Bool = true) -> Parcel {
        let bytes = ByteBuffer(string: "\(number)")
        return Parcel(
            time: Double(number), batch: paced ? bytes : nil,
            events: beat ? [Parcel.Line(stream: StreamSet(named: "beat")!, bytes: ByteBuffer(string: "beat \(number)"))] : [],
            samples: [], cues: [], state: VisualizerChange())
    }

    private static let subscription = Subscription(streams: [.batch, StreamSet(named: "beat")!], isChosen: true)

    /// What a client would read.
    private func read(_ outbox: inout Outbox) -> [String] {
        var texts: [String] = []
        while let slot = outbox.next() {
            switch slot {
            case .own(let bytes): texts.append(String(buffer: bytes))
            case .hole(let lost): texts.append("lost \(lost.batches)" + (lost.events > 0 ? "+\(lost.events)" : ""))
            case .parcel(let parcel, let subscription, let isStripped):
                parcel.write(subscription, client: "1", isStripped: isStripped) { texts.append(String(buffer: $0)) }
            }
        }
        return texts
    }

    @Test func `the newest eight batches wait, and what was lost is told where it is missing`() {
        var outbox = Outbox()
        for number in 0..<20 { outbox.add(parcel(number), for: Self.subscription) }
        #expect(outbox.lost == Outbox.Lost(batches: 12))
        #expect(read(&outbox) == ["lost 12"] + (12..<20).map { "\($0)" })
        #expect(outbox.isEmpty)
        outbox.add(parcel(20), for: Self.subscription)
        #expect(read(&outbox) == ["20"])
    }

    @Test func `events of lost batches stay, in order`() {
        var outbox = Outbox()
        outbox.add(ByteBuffer(string: "reply"))
        for number in 0..<12 { outbox.add(parcel(number, beat: number.isMultiple(of: 3)), for: Self.subscription) }
        #expect(
            read(&outbox)
                == ["reply", "beat 0", "beat 3", "lost 4", "4", "5", "6", "beat 6", "7", "8", "9", "beat 9", "10", "11"])
    }

    @Test func `events of a lost batch: neither its batch line nor others' events stay in memory`() throws {
        let (beat, onset) = (try #require(StreamSet(named: "beat")), try #require(StreamSet(named: "onset")))
        for isPaced in [true, false] {
            var outbox = Outbox()
            weak var first: Parcel?
            for number in 0...Outbox.batchCapacity {
                let parcel = Parcel(
                    time: Double(number), batch: ByteBuffer(repeating: 0x20, count: 4096),
                    events: [
                        Parcel.Line(stream: beat, bytes: ByteBuffer(string: "beat")),
                        Parcel.Line(stream: onset, bytes: ByteBuffer(string: "onset")),
                    ], samples: [], cues: [], state: VisualizerChange())
                if number == 0 { first = parcel }
                outbox.add(parcel, for: Subscription(streams: isPaced ? [.batch, beat] : beat, isChosen: true))
            }
            #expect(first == nil)
            guard case .parcel(let kept, _, isStripped: true)? = outbox.next() else {
                Issue.record("nothing is kept of the oldest batch")
                continue
            }
            #expect(kept.batch == nil && kept.events.map { String(buffer: $0.bytes) } == ["beat"])
        }
    }

    @Test func `batches that say nothing to a client take no room`() {
        var outbox = Outbox()
        for number in 0..<100 { outbox.add(parcel(number), for: Self.samples) }
        #expect(outbox.isEmpty && outbox.lost.isEmpty)
        for number in 0..<20 { outbox.add(parcel(number, beat: true, paced: false), for: Self.subscription) }
        #expect(outbox.lost.isEmpty)
        #expect(read(&outbox) == (0..<20).map { "beat \($0)" })
    }

    @Test func `it never holds more than its room`() {
        var outbox = Outbox()
        for number in 0..<5000 { outbox.add(parcel(number, beat: true), for: Self.subscription) }
        #expect(outbox.count == Outbox.slotCapacity)
        let texts = read(&outbox)
        #expect(texts.last == "beat 4999" && texts.contains("4992") && !texts.contains("4991"))
        #expect(texts.contains { $0.hasPrefix("lost ") })
        #expect(outbox.isEmpty)
    }

    @Test func `beyond the limit in bytes the oldest lines are lost and counted`() {
        var outbox = Outbox()
        outbox.byteLimit = 1000
        for number in 0..<20 { outbox.add(ByteBuffer(string: String(repeating: "\(number % 10)", count: 100))) }
        #expect(outbox.byteCount == 1000 && outbox.lost == Outbox.Lost(events: 10))
        #expect(read(&outbox).map { $0.prefix(6) }.last == "lost 0" || outbox.isEmpty)
        #expect(outbox.byteCount == 0)
        // A line that is longer than all room is lost alone.
        outbox.add(ByteBuffer(string: "short"))
        outbox.add(ByteBuffer(repeating: 0x78, count: 2000))
        #expect(read(&outbox) == ["lost 0+2"])
        for number in 0..<400 { outbox.add(parcel(number, beat: true), for: Self.subscription) }
        #expect(outbox.byteCount <= 1000)
        #expect(outbox.lost.events > 200 && outbox.lost.batches == 392)
        let texts = read(&outbox)
        #expect(texts.suffix(16) == ArraySlice((392..<400).flatMap { ["\($0)", "beat \($0)"] }))
        #expect(outbox.byteCount == 0 && outbox.isEmpty)
    }

    @Test func `a client is not told of its own losses twice`() {
        let line = Parcel.Line(stream: .dropped, bytes: ByteBuffer(string: "dropped"), except: "1")
        let parcel = Parcel(time: 0, batch: nil, events: [line], samples: [], cues: [], state: VisualizerChange())
        let subscription = Subscription(streams: .dropped, isChosen: true)
        var texts: [String] = []
        parcel.write(subscription, client: "1", isStripped: false) { texts.append(String(buffer: $0)) }
        #expect(texts == [])
        parcel.write(subscription, client: "2", isStripped: false) { texts.append(String(buffer: $0)) }
        #expect(texts == ["dropped"])
    }
}

@Suite struct StreamSetTests {
    @Test func `every stream has a bit of its own`() {
        #expect(Set(StreamSet.names.compactMap(StreamSet.init(named:))).count == StreamSet.names.count)
        #expect(StreamSet(named: "samples") == nil)
    }
}
