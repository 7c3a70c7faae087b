import Hemiola
import HemiolaTesting
import HemiolaVisualizer
import Synchronization
import TestSupport
import Testing

@testable import HemiolaEngine

/// The queue between the analysis and one sink, which waits or drops the oldest.
@Suite(.mayNotHang) struct BoundedQueueTests {
    private typealias Queue = BoundedQueue

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

    private var inputEnd: StreamItem {
        .inputEnd(InputCompletion(InputEnd(file: "x"), isSkippable: false, sinks: 1) { _ in })
    }

    /// The items that are left in the queue, as text: `begin`, a batch number with the number of its events, `end`.
    private func drain(_ queue: Queue) -> [String] {
        queue.finish()
        var words: [String] = []
        while let (item, _) = queue.next() {
            switch item {
            case .begin: words.append("begin")
            case .batches(let block): words.append("\(block[0].number):\(block[0].events.count)")
            case .events(let events): words.append("+\(events.count)")
            case .end: words.append("end")
            case .inputEnd: words.append("input end")
            }
        }
        return words
    }

    // MARK: - The writer waits

    @Test func `queue that waits: a full one holds the writer back until an item is read, and loses nothing`() throws {
        let queue = Queue(capacity: 2, .wait)
        let (reads, written, numbers) = (Log<Int>(), Log<Int>(), Log<Int64>())
        try startThread(for: "a test") { [self] in
            for number in 0..<2 { queue.put(.batches(block(Int64(number)))) }
            // Begins to read after the writer has found the queue full: a thread takes longer to start than a call that does not wait.
            try! startThread(for: "a test") {
                reads.append(0)
                while case .batches(let block)? = queue.next()?.item {
                    numbers.append(block[0].number)
                    reads.append(0)
                }
            }
            for number in 2..<5 {
                queue.put(.batches(block(Int64(number))))
                // Each item takes the place of one that is being read.
                written.append(reads.count >= number - 1 ? number : -1)
            }
            queue.finish()
        }
        #expect(numbers.wait(for: 5))
        #expect(written.wait(for: 3) && written.items == [2, 3, 4])
        #expect(numbers.items == [0, 1, 2, 3, 4])
        #expect(queue.loss == QueueLoss())
    }

    @Test func `begin and end: pass a full queue that waits`() {
        let queue = Queue(capacity: 1, .wait)
        queue.put(.batches(block(0)))
        // These calls would block.
        queue.put(.end(summary))
        queue.put(.begin(header))
        #expect(drain(queue) == ["0:1", "end", "begin"])
    }

    @Test(arguments: [0, 1]) func `events and the end of an input: count in a queue that waits`(index: Int) throws {
        let queue = Queue(capacity: 1, .wait)
        queue.put([.events([event(0)]), inputEnd][index])
        let (isRead, wasReadBefore) = (Shared(false), Shared<Bool?>(nil))
        try startThread(for: "a test") { [self] in
            // Reads after the writer has found the queue full: a thread takes longer to start than a call that does not wait.
            try! startThread(for: "a test") {
                isRead.value = true
                _ = queue.next()
            }
            queue.put(.batches(block(0)))
            wasReadBefore.value = isRead.value
        }
        #expect(wasReadBefore.wait { $0 != nil })
        #expect(wasReadBefore.value == true)
    }

    @Test func `finished queue: the rest is read, then nil`() {
        let queue = Queue(capacity: 2, .wait)
        queue.put(.batches(block(0)))
        #expect(!queue.isClosing)
        queue.finish()
        #expect(queue.isClosing && drain(queue) == ["0:1"] && queue.next() == nil)
    }

    // MARK: - The oldest is dropped

    @Test func `full queue that drops: drops the oldest blocks, and keeps their events with the next block`() {
        let queue = Queue(capacity: 3, .dropOldest)
        queue.put(.begin(header))
        for number in 0..<10 { queue.put(.batches(block(Int64(number)))) }
        queue.put(.end(summary))
        #expect(queue.loss.batches == 7)
        #expect(drain(queue) == ["begin", "7:8", "8:1", "9:1", "end"])
    }

    @Test func `full queue that drops with several streams: events stay in their stream, and the queue stays small`() {
        let queue = Queue(capacity: 3, .dropOldest)
        for stream in 0..<3 {
            queue.put(.begin(header))
            for number in 0..<50 { queue.put(.batches(block(Int64(stream * 100 + number)))) }
            queue.put(.end(summary))
        }
        let words = drain(queue)
        // At least the last batch of every stream is delivered, with the events of all batches before it.
        #expect(words == ["begin", "49:50", "end", "begin", "149:50", "end", "begin", "249:50", "end"])
        #expect(queue.loss.batches == 147)
    }

    private func event(_ number: Int) -> Event { Event(at: Double(number), SpeedChange(Double(number))) }

    @Test(arguments: [BoundedQueue.Policy.wait, .dropOldest])
    func `events outside a batch: keep their place among the blocks`(policy: BoundedQueue.Policy) {
        let queue = Queue(capacity: 8, policy)
        queue.put(.begin(header))
        queue.put(.events([event(0)]))
        queue.put(.batches(block(1)))
        queue.put(.events([event(2), event(3)]))
        queue.put(.batches(block(4)))
        queue.put(.end(summary))
        #expect(drain(queue) == ["begin", "+1", "1:1", "+2", "4:1", "end"])
    }

    @Test func `events outside a batch between dropped blocks: kept in order`() {
        let queue = Queue(capacity: 1, .dropOldest)
        queue.put(.begin(header))
        for number in 0..<10 {
            queue.put(.batches(block(Int64(3 * number))))
            queue.put(.events([event(3 * number + 1), event(3 * number + 2)]))
        }
        queue.finish()
        var times: [Double] = []
        while let (item, _) = queue.next() {
            switch item {
            case .batches(let block): times += block.events.map(\.time)
            case .events(let events): times += events.map(\.time)
            case .begin, .end, .inputEnd: break
            }
        }
        #expect(times == (0..<30).map(Double.init))
    }

    @Test func `events above the limit: the oldest are dropped and counted`() {
        let limit = Queue.eventLimit
        let queue = Queue(capacity: 2, .dropOldest)
        queue.put(.begin(header))
        // The last two blocks keep their events.
        let count = limit / 9 + 12
        for number in 0..<count { queue.put(.batches(block(Int64(number), events: 9))) }
        let dropped = queue.loss.events
        #expect(dropped == Int64((count - 2) * 9 - limit))
        queue.put(.events(Array(repeating: event(count), count: 100)))
        #expect(queue.loss.events == dropped + 100)
        #expect(drain(queue) == ["begin", "\(count - 2):\(limit - 100 + 9)", "\(count - 1):9", "+100"])
    }

    @Test(arguments: [BoundedQueue.Policy.wait, .dropOldest])
    func `replies: each after the items before it, also when they were dropped`(policy: BoundedQueue.Policy) {
        let (queue, log) = (Queue(capacity: 3, policy), Log<Int>())
        queue.put([{ log.append(0) }])
        queue.put(.begin(header))
        for number in 1...2 {
            queue.put(.batches(block(Int64(number))))
            queue.put([{ log.append(number) }])
        }
        if policy == .dropOldest { for number in 3...9 { queue.put(.batches(block(Int64(number)))) } }
        queue.finish()
        var repliesByItem: [Int] = []
        while let (_, replies) = queue.next() {
            for reply in replies { reply() }
            repliesByItem.append(replies.count)
        }
        #expect(log.items == [0, 1, 2])
        #expect(repliesByItem == (policy == .wait ? [1, 0, 1, 1] : [1, 0, 2, 0, 0]))
    }

    @Test func `list of names: each name counts as one event`() {
        let queue = Queue(capacity: 1, .dropOldest)
        let names = Array(repeating: "a name", count: 10_000)
        for number in 0..<50 {
            let control = StampedControl(Control(.presetNames, .texts(names)), at: 0, from: "test")
            queue.put(.events([Event(at: Double(number), control)]))
        }
        #expect(queue.loss.events == 47)
        #expect(drain(queue) == ["+3"])
    }

    @Test func `reader that has stopped: a batch takes the same time after an hour as after a minute`() {
        let queue = Queue(capacity: 43, .dropOldest)
        // One block is reused, as in the pool: only the queue is measured.
        let same = block(0, events: 2)
        func seconds(batches: Int) -> Double {
            let clock = ContinuousClock()
            // The shortest of several times: other load on the machine only adds to a time.
            return (0..<5).map { _ in
                let time = clock.measure { for _ in 0..<batches { queue.put(.batches(same)) } }
                return Double(time.components.attoseconds) * 1e-18 + Double(time.components.seconds)
            }.min()!
        }
        _ = seconds(batches: 200)
        let atStart = seconds(batches: 500)
        while queue.loss.events == 0 { queue.put(.batches(same)) }
        let atLimit = seconds(batches: 500)
        #expect(atLimit < 10 * atStart + 0.001, "\(atStart) s, then \(atLimit) s")
    }

    // MARK: - The reader stops

    @Test func `abandoned queue: discards its items, and does not block the writer`() {
        let queue = Queue(capacity: 1, .wait)
        queue.put(.batches(block(0)))
        #expect(queue.hasReader && queue.abandon().count == 1)
        // With a reader, the second call would block.
        #expect(!queue.put(.batches(block(1))))
        #expect(!queue.put(.batches(block(2))))
        #expect(!queue.hasReader && !queue.isSkipped && queue.loss == QueueLoss())
        #expect(drain(queue) == [])
    }

    @Test(arguments: [BoundedQueue.Policy.wait, .dropOldest])
    func `abandoned queue that counts the rest: the item that failed, those that wait and those that follow`(
        policy: BoundedQueue.Policy
    ) throws {
        let queue = Queue(capacity: 4, policy)
        for number in 0..<3 { queue.put(.batches(block(Int64(number)))) }
        let failed = try #require(queue.next()?.item)
        #expect(queue.abandon(countsRest: true, at: failed).count == 3)
        queue.put(.batches(block(3)))
        queue.put(inputEnd)
        #expect(queue.isSkipped && queue.loss == QueueLoss(batches: 4))
    }

    @Test func `writer that waits: goes on when the reader stops`() throws {
        let queue = Queue(capacity: 1, .wait)
        queue.put(.batches(block(0)))
        let isAccepted = Shared<Bool?>(nil)
        try startThread(for: "a test") { [self] in
            // The writer waits before this thread has started.
            try! startThread(for: "a test") { queue.abandon() }
            isAccepted.value = queue.put(.batches(block(1)))
        }
        #expect(isAccepted.wait { $0 != nil })
        #expect(isAccepted.value == false)
    }
}
