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
    private let isLossless: Bool
    private var items: [Item] = []
    private var blockCount = 0
    private var reader: UnsafeContinuation<Item?, Never>?
    /// Nothing more will be put in.
    private var isFinished = false
    /// Nobody will take anything out any more.
    private var isAbandoned = false

    /// - Parameter capacity: The most blocks that wait.
    init(capacity: Int, isLossless: Bool) {
        self.capacity = capacity
        self.isLossless = isLossless
        items.reserveCapacity(capacity + 4)
    }

    /// Whether the sink has given up or its reader has gone.
    var hasNoReader: Bool { condition.locked { isAbandoned } }

    /// Hands over an item. Waits for room when nothing may be lost; returns at once when nobody reads.
    func put(_ item: Item) {
        condition.lock()
        if case .block = item {
            while isLossless && blockCount >= capacity && !isAbandoned { condition.wait() }
        }
        guard !isAbandoned else {
            condition.unlock()
            return
        }
        if let reader {
            self.reader = nil
            condition.unlock()
            reader.resume(returning: item)
            return
        }
        items.append(item)
        if case .block = item {
            blockCount += 1
            if !isLossless && blockCount > capacity { dropOldest() }
        }
        condition.unlock()
    }

    /// The next item, or nil when all was read and nothing more comes.
    func next() async -> Item? {
        await withUnsafeContinuation { continuation in
            condition.lock()
            if items.isEmpty && !isFinished {
                reader = continuation
                condition.unlock()
                return
            }
            let item = items.isEmpty ? nil : items.removeFirst()
            if case .block = item {
                blockCount -= 1
                condition.broadcast()
            }
            condition.unlock()
            continuation.resume(returning: item)
        }
    }

    /// Nothing more will be put in: the reader gets the rest and then nil.
    func finish() {
        condition.lock()
        isFinished = true
        let reader = self.reader
        self.reader = nil
        condition.unlock()
        reader?.resume(returning: nil)
    }

    /// The reader wants no more: whatever waits or comes is let go, and nobody waits for room.
    func abandon() {
        condition.lock()
        isAbandoned = true
        items.removeAll()
        blockCount = 0
        condition.broadcast()
        condition.unlock()
    }

    /// Called under the lock.
    private func dropOldest() {
        guard let oldest = items.firstIndex(where: \.isBlock), case .block(let block, let replies) = items[oldest] else { return }
        let heir = items.index(after: oldest)
        // Only within its stream: beyond a begin or an end the events would tell another stream's time.
        guard heir < items.endIndex, case .block(var next, let nextReplies) = items[heir] else { return }
        droppedBatches.add(Int64(block.count), ordering: .relaxed)
        next.prependEvents(of: block)
        items[heir] = .block(next, replies: replies + nextReplies)
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
