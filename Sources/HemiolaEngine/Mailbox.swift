internal import Hemiola
internal import HemiolaSignal
internal import Synchronization

/// Between the analysis thread and one sink's thread: bounded, in order.
///
/// Lossless (a file): a full mailbox makes the analysis wait. Newest wins (live): the oldest block goes, its batches are
/// counted, and its events and replies move on to the block after it: events are never lost.
///
/// `@unchecked Sendable`: everything below the lock is touched only under it.
final class Mailbox: @unchecked Sendable {
    enum Item {
        case begin(StreamHeader)
        case block(BatchBlock, replies: [Reply])
        case end(StreamSummary)
    }

    /// Tells whoever wished something what became of it.
    typealias Reply = @Sendable () -> Void

    /// Batches lost so far, readable without the lock.
    let droppedBatches = Atomic<Int64>(0)

    private let condition = Condition()
    private let capacity: Int
    let isLossless: Bool
    private var items: [Item] = []
    private var blockCount = 0
    /// Nothing more will be put in.
    private var isFinished = false
    /// Nobody will take anything out any more.
    private var isAbandoned = false
    /// The reader has dealt with everything and waits for more.
    private var isReaderIdle = false

    /// - Parameter capacity: The most blocks that wait.
    init(capacity: Int, isLossless: Bool) {
        self.capacity = capacity
        self.isLossless = isLossless
        items.reserveCapacity(capacity + 4)
    }

    /// Whether the sink has given up or its reader has gone.
    var hasNoReader: Bool { condition.locked { isAbandoned } }

    /// Whether nothing more will be put in.
    var isClosing: Bool { condition.locked { isFinished } }

    /// Hands over an item. Waits for room when nothing may be lost; returns at once when nobody reads.
    func put(_ item: Item) {
        condition.lock()
        if case .block = item {
            while isLossless && blockCount >= capacity && !isAbandoned { condition.wait() }
        }
        guard !isAbandoned else {
            condition.unlock()
            if case .block(_, let replies) = item {
                for reply in replies { reply() }
            }
            return
        }
        items.append(item)
        if case .block = item {
            blockCount += 1
            if !isLossless && blockCount > capacity { dropOldest() }
        }
        condition.unlock()
        condition.broadcast()
    }

    /// Does something in the place of the reader, who is kept waiting meanwhile, as everybody is: it must not take long.
    ///
    /// - Returns: false when it was not done: the reader has something to do, or wants no more.
    func standIn(_ body: () -> Bool) -> Bool {
        condition.locked { isReaderIdle && items.isEmpty && !isFinished && !isAbandoned && body() }
    }

    /// The next item, or nil when all was read and nothing more comes. Waits on the sink's own thread: a continuation would
    /// make the analysis thread allocate when it resumes it.
    func next() -> Item? {
        condition.lock()
        isReaderIdle = true
        while items.isEmpty && !isFinished { condition.wait() }
        isReaderIdle = false
        let item = items.isEmpty ? nil : items.removeFirst()
        if case .block = item { blockCount -= 1 }
        condition.unlock()
        condition.broadcast()
        return item
    }

    /// Nothing more will be put in: the reader gets the rest and then nil.
    func finish() {
        condition.lock()
        isFinished = true
        condition.unlock()
        condition.broadcast()
    }

    /// The reader wants no more: whatever waits or comes is let go, and nobody waits for room.
    func abandon() {
        condition.lock()
        isAbandoned = true
        let left = items
        items.removeAll()
        blockCount = 0
        condition.unlock()
        condition.broadcast()
        // Every wish is answered, also one whose batch will never be seen.
        for case .block(_, let replies) in left {
            for reply in replies { reply() }
        }
    }

    /// Called under the lock.
    private func dropOldest() {
        // Only where a block of the same stream follows: beyond a begin or an end the events would tell another stream's time.
        guard let oldest = items.indices.dropLast().first(where: { items[$0].isBlock && items[$0 + 1].isBlock }),
            case .block(let block, let replies) = items[oldest], case .block(var next, let nextReplies) = items[oldest + 1]
        else { return }
        droppedBatches.add(Int64(block.count), ordering: .relaxed)
        next.prependEvents(of: block)
        items[oldest + 1] = .block(next, replies: replies + nextReplies)
        items.remove(at: oldest)
        blockCount -= 1
    }
}

extension Mailbox.Item {
    fileprivate var isBlock: Bool {
        if case .block = self { true } else { false }
    }
}

extension BatchBlock {
    /// Puts another block's events before those of this block's first batch.
    fileprivate mutating func prependEvents(of other: BatchBlock) {
        guard !other.events.isEmpty else { return }
        let inherited = other.events
        replaceEvents { index, old, new in
            if index == 0 { new.append(contentsOf: inherited) }
            new.append(contentsOf: old)
        }
    }
}
