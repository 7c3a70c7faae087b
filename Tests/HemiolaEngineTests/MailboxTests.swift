import Hemiola
import HemiolaSignal
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
        for index in 0..<events { list.append(.speed(Double(number)), at: Double(number) + Double(index) / 10) }
        storage.seal(BatchStorage.Info(number: number, frame: number, frameCount: 1, isPartial: false), events: &list)
        return BatchBlock(storage)
    }

    private let header = StreamHeader(
        source: StreamSource(format: TestSignal.mono, kind: "test", name: "test"), isLive: true, batching: .standard, seed: 0,
        analyzers: [])
    private let summary = StreamSummary(frames: 0, batches: 0, reason: .endOfInput)

    /// What comes out, as short words: `begin`, `7` with the number of its events, `end`.
    private func drain(_ mailbox: Mailbox) -> [String] {
        mailbox.finish()
        var words: [String] = []
        while let item = mailbox.next() {
            switch item {
            case .begin: words.append("begin")
            case .block(let block, let replies):
                words.append("\(block[0].number):\(block[0].events.count)")
                for reply in replies { reply() }
            case .end: words.append("end")
            }
        }
        return words
    }

    @Test func `the newest win, and the events of the lost move on`() {
        let mailbox = Mailbox(capacity: 3, isLossless: false)
        mailbox.put(.begin(header))
        for number in 0..<10 { mailbox.put(.block(block(Int64(number)), replies: [])) }
        mailbox.put(.end(summary))
        #expect(mailbox.droppedBatches.load(ordering: .relaxed) == 7)
        #expect(drain(mailbox) == ["begin", "7:8", "8:1", "9:1", "end"])
    }

    @Test func `the answers of the lost move on, in order`() {
        let mailbox = Mailbox(capacity: 1, isLossless: false)
        let log = Log<Int>()
        for number in 0..<4 { mailbox.put(.block(block(Int64(number)), replies: [{ log.append(number) }])) }
        #expect(drain(mailbox) == ["3:4"])
        #expect(log.items == [0, 1, 2, 3])
    }

    @Test func `events do not move into another stream, and the box stays small`() {
        let mailbox = Mailbox(capacity: 3, isLossless: false)
        for stream in 0..<3 {
            mailbox.put(.begin(header))
            for number in 0..<50 { mailbox.put(.block(block(Int64(stream * 100 + number)), replies: [])) }
            mailbox.put(.end(summary))
        }
        let words = drain(mailbox)
        // At least the last batch of every stream comes, with the events of all before it.
        #expect(words == ["begin", "49:50", "end", "begin", "149:50", "end", "begin", "249:50", "end"])
        #expect(mailbox.droppedBatches.load(ordering: .relaxed) == 147)
    }

    @Test func `what nobody wants any more is let go`() {
        let mailbox = Mailbox(capacity: 1, isLossless: true)
        mailbox.put(.block(block(0), replies: []))
        mailbox.abandon()
        // Would wait for ever otherwise.
        mailbox.put(.block(block(1), replies: []))
        mailbox.put(.block(block(2), replies: []))
        #expect(mailbox.hasNoReader)
        #expect(drain(mailbox) == [])
    }

    @Test func `somebody stands in for the reader only while it waits for more`() {
        let mailbox = Mailbox(capacity: 3, isLossless: false)
        let read = Log<Int64>()
        #expect(!mailbox.standIn { true })
        let (isReading, mayRead) = (Gate(), Gate())
        startThread {
            while let item = mailbox.next() {
                guard case .block(let block, _) = item else { continue }
                read.append(block[0].number)
                isReading.open()
                while !mayRead.isOpen { pause(milliseconds: 1) }
            }
            read.append(-1)
        }
        // It has nothing to do: soon it waits.
        while !mailbox.standIn({ true }) { pause(milliseconds: 1) }
        #expect(!mailbox.standIn { false })
        mailbox.put(.block(block(1), replies: []))
        while !isReading.isOpen { pause(milliseconds: 1) }
        // It is busy, and with something behind that.
        #expect(!mailbox.standIn { true })
        mailbox.put(.block(block(2), replies: []))
        #expect(!mailbox.standIn { true })
        mayRead.open()
        while !mailbox.standIn({ true }) { pause(milliseconds: 1) }
        #expect(read.items == [1, 2])
        mailbox.finish()
        #expect(!mailbox.standIn { true })
        while read.items.last != -1 { pause(milliseconds: 1) }
    }

    @Test func `nobody stands in for a reader that wants no more`() {
        let mailbox = Mailbox(capacity: 3, isLossless: false)
        let isOver = Gate()
        startThread {
            _ = mailbox.next()
            isOver.open()
        }
        while !mailbox.standIn({ true }) { pause(milliseconds: 1) }
        mailbox.abandon()
        #expect(!mailbox.standIn { true })
        mailbox.finish()
        while !isOver.isOpen { pause(milliseconds: 1) }
    }
}
