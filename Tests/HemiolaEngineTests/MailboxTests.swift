import Hemiola
import HemiolaRecords
import HemiolaSignal
import HemiolaSystem
import HemiolaTesting
import Synchronization
import TestSupport
import Testing

@testable import HemiolaEngine

/// The mailbox between the analysis and one sink.
@Suite(.mayNotHang) struct MailboxTests {
    private func block(_ number: Int64, events: Int = 1) -> BatchBlock {
        let storage = BatchStorage(capacity: 1, width: 1, samplesPerBatch: 0, channelCount: 1)
        var list = EventList()
        for index in 0..<events { list.append(SpeedChange(Double(number)), at: Double(number) + Double(index) / 10) }
        storage.complete(BatchStorage.Info(number: number, frame: number, frameCount: 1, isPartial: false), events: &list)
        return BatchBlock(storage)
    }

    private let header = StreamHeader(
        source: StreamSource(format: TestSignal.mono, kind: "test", name: "test"), isLive: true, batching: .standard, seed: 0,
        analyzers: [])
    private let summary = StreamSummary(frames: 0, batches: 0, reason: .endOfInput)

    /// The items read from the mailbox, as text: `begin`, a batch number with the number of its events, `end`.
    private func drain(_ mailbox: Mailbox) -> [String] {
        mailbox.finish()
        var words: [String] = []
        while let item = mailbox.next() {
            switch item {
            case .begin: words.append("begin")
            case .block(let block, let replies):
                words.append("\(block[0].number):\(block[0].events.count)")
                for reply in replies { reply() }
            case .events(let events): words.append("+\(events.count)")
            case .end: words.append("end")
            case .inputEnd: words.append("input end")
            }
        }
        return words
    }

    @Test func `full mailbox: drops the oldest blocks, and keeps their events with the next block`() {
        let mailbox = Mailbox(capacity: 3, isLossless: false)
        mailbox.put(.begin(header))
        for number in 0..<10 { mailbox.put(.block(block(Int64(number)), replies: [])) }
        mailbox.put(.end(summary))
        #expect(mailbox.droppedBatches.load(ordering: .relaxed) == 7)
        #expect(drain(mailbox) == ["begin", "7:8", "8:1", "9:1", "end"])
    }

    @Test func `full mailbox: keeps the replies of dropped blocks, in order`() {
        let mailbox = Mailbox(capacity: 1, isLossless: false)
        let log = Log<Int>()
        for number in 0..<4 { mailbox.put(.block(block(Int64(number)), replies: [{ log.append(number) }])) }
        #expect(drain(mailbox) == ["3:4"])
        #expect(log.items == [0, 1, 2, 3])
    }

    @Test func `full mailbox with several streams: events stay in their stream, and the mailbox stays small`() {
        let mailbox = Mailbox(capacity: 3, isLossless: false)
        for stream in 0..<3 {
            mailbox.put(.begin(header))
            for number in 0..<50 { mailbox.put(.block(block(Int64(stream * 100 + number)), replies: [])) }
            mailbox.put(.end(summary))
        }
        let words = drain(mailbox)
        // At least the last batch of every stream is delivered, with the events of all batches before it.
        #expect(words == ["begin", "49:50", "end", "begin", "149:50", "end", "begin", "249:50", "end"])
        #expect(mailbox.droppedBatches.load(ordering: .relaxed) == 147)
    }

    private func event(_ number: Int) -> Event { Event(at: Double(number), SpeedChange(Double(number))) }

    @Test(arguments: [false, true]) func `events outside a batch: keep their place among the blocks`(isLossless: Bool) {
        let mailbox = Mailbox(capacity: 8, isLossless: isLossless)
        mailbox.put(.begin(header))
        mailbox.put(.events([event(0)]))
        mailbox.put(.block(block(1), replies: []))
        mailbox.put(.events([event(2), event(3)]))
        mailbox.put(.block(block(4), replies: []))
        mailbox.put(.end(summary))
        #expect(drain(mailbox) == ["begin", "+1", "1:1", "+2", "4:1", "end"])
    }

    @Test func `events outside a batch between dropped blocks: kept in order`() {
        let mailbox = Mailbox(capacity: 1, isLossless: false)
        mailbox.put(.begin(header))
        for number in 0..<10 {
            mailbox.put(.block(block(Int64(3 * number)), replies: []))
            mailbox.put(.events([event(3 * number + 1), event(3 * number + 2)]))
        }
        mailbox.finish()
        var times: [Double] = []
        while let item = mailbox.next() {
            switch item {
            case .block(let block, _): times += block.events.map(\.time)
            case .events(let events): times += events.map(\.time)
            case .begin, .end, .inputEnd: break
            }
        }
        #expect(times == (0..<30).map(Double.init))
    }

    @Test func `events above the limit: the oldest are dropped and counted`() {
        let limit = Mailbox.eventLimit
        let mailbox = Mailbox(capacity: 2, isLossless: false)
        mailbox.put(.begin(header))
        // The last two blocks keep their events.
        let count = limit / 9 + 12
        for number in 0..<count { mailbox.put(.block(block(Int64(number), events: 9), replies: [])) }
        let dropped = mailbox.droppedEvents.load(ordering: .relaxed)
        #expect(dropped == Int64((count - 2) * 9 - limit))
        mailbox.put(.events(Array(repeating: event(count), count: 100)))
        #expect(mailbox.droppedEvents.load(ordering: .relaxed) == dropped + 100)
        #expect(drain(mailbox) == ["begin", "\(count - 2):\(limit - 100 + 9)", "\(count - 1):9", "+100"])
    }

    @Test func `list of names: each name counts as one event`() {
        let mailbox = Mailbox(capacity: 1, isLossless: false)
        let names = Array(repeating: "a name", count: 10_000)
        for number in 0..<50 {
            mailbox.put(.events([Event(at: Double(number), StampedControl(Control(.presetNames, .texts(names)), at: 0, from: "test"))]))
        }
        #expect(mailbox.droppedEvents.load(ordering: .relaxed) == 47)
        #expect(drain(mailbox) == ["+3"])
    }

    @Test func `reader that has stopped: a batch takes the same time after an hour as after a minute`() {
        let mailbox = Mailbox(capacity: 43, isLossless: false)
        // One block is reused, as in the pool: only the mailbox is measured.
        let same = block(0, events: 2)
        func seconds(batches: Int) -> Double {
            let clock = ContinuousClock()
            // The shortest of several times: other load on the machine only adds to a time.
            return (0..<5).map { _ in
                let time = clock.measure { for _ in 0..<batches { mailbox.put(.block(same, replies: [])) } }
                return Double(time.components.attoseconds) * 1e-18 + Double(time.components.seconds)
            }.min()!
        }
        _ = seconds(batches: 200)
        let atStart = seconds(batches: 500)
        while mailbox.droppedEvents.load(ordering: .relaxed) == 0 { mailbox.put(.block(same, replies: [])) }
        let atLimit = seconds(batches: 500)
        #expect(atLimit < 10 * atStart + 0.001, "\(atStart) s, then \(atLimit) s")
    }

    @Test func `abandoned mailbox: discards its items and does not block the writer`() {
        let mailbox = Mailbox(capacity: 1, isLossless: true)
        mailbox.put(.block(block(0), replies: []))
        mailbox.abandon()
        // Without a reader, this call would block in a lossless mailbox that was not abandoned.
        mailbox.put(.block(block(1), replies: []))
        mailbox.put(.block(block(2), replies: []))
        #expect(mailbox.hasNoReader)
        #expect(drain(mailbox) == [])
    }
}
