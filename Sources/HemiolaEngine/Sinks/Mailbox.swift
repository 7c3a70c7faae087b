internal import Hemiola
internal import HemiolaRecords
internal import HemiolaSystem
internal import Synchronization

/// The queue between the analysis thread and one sink's thread: bounded, in order.
///
/// Lossless (a file): a full mailbox makes the analysis wait. Newest wins (live): the oldest block is dropped and its batches are
/// counted. Its events and replies wait in an `EventBacklog` for the block after it. Beyond `eventLimit` the oldest of these events
/// are dropped and counted too. The cost of a drop depends on the events of the dropped block alone.
///
/// `@unchecked Sendable`: everything below the lock is touched only under it.
final class Mailbox: @unchecked Sendable {
    enum Item {
        case begin(StreamHeader)
        case block(BatchBlock, replies: [Reply])
        /// Events that come without a batch.
        case events([Event])
        case end(StreamSummary)
        case inputEnd(InputEnd, InputCompletion?)
    }

    fileprivate enum Entry {
        case begin(StreamHeader)
        case block(BatchBlock, replies: [Reply])
        case events(EventBacklog)
        case end(StreamSummary)
        case inputEnd(InputEnd, InputCompletion?)
    }

    /// Sends the answer to a control.
    typealias Reply = @Sendable () -> Void

    /// The weight of the events outside blocks that wait at most (`EventBacklog.weight`): an hour of music, at ten events a second.
    static let eventLimit = 36_000

    /// Batches lost so far, readable without the lock.
    let droppedBatches = Atomic<Int64>(0)
    /// Events lost so far, readable without the lock.
    let droppedEvents = Atomic<Int64>(0)

    private let condition = Condition()
    private let capacity: Int
    let isLossless: Bool
    private var entries: [Entry] = []
    /// Entries that make the analysis wait, or a block be dropped, when there are too many.
    private var countedEntries = 0
    /// Of all events outside blocks.
    private var eventWeight = 0
    /// The writer has finished.
    private var isFinished = false
    /// The reader has stopped.
    private var isAbandoned = false
    /// The reader has stopped, and what it does not get is counted.
    private var countsRest = false

    /// - Parameter capacity: The most blocks that wait.
    init(capacity: Int, isLossless: Bool) {
        self.capacity = capacity
        self.isLossless = isLossless
        entries.reserveCapacity(capacity + 4)
    }

    /// Whether the sink has given up or its reader has gone.
    var hasNoReader: Bool { condition.locked { isAbandoned } }

    /// Whether the sink was skipped: it has failed, and the run goes on without it.
    var isSkipped: Bool { condition.locked { countsRest } }

    /// Whether the writer has finished.
    var isClosing: Bool { condition.locked { isFinished } }

    /// Adds an item. Waits while a lossless mailbox is full; returns at once when the reader has stopped.
    func put(_ item: Item) {
        condition.lock()
        if isLossless, item.isCounted {
            while countedEntries >= capacity && !isAbandoned { condition.wait() }
        }
        guard !isAbandoned else {
            let counts = countsRest
            condition.unlock()
            if case .block(let block, let replies) = item {
                if counts { droppedBatches.add(Int64(block.count), ordering: .relaxed) }
                for reply in replies { reply() }
            }
            if counts, case .inputEnd(_, let completion) = item { completion?.sinkHasEnded() }
            return
        }
        switch item {
        case .begin(let header): entries.append(.begin(header))
        case .end(let summary): entries.append(.end(summary))
        case .inputEnd(let end, let completion):
            entries.append(.inputEnd(end, completion))
            if isLossless { countedEntries += 1 }
        case .block(let block, let replies):
            entries.append(.block(block, replies: replies))
            countedEntries += 1
            if !isLossless && countedEntries > capacity { dropOldestBlock() }
        case .events(let events):
            append(events)
        }
        condition.unlock()
        condition.broadcast()
    }

    /// The next item, or nil when all was read and nothing more comes. Waits for it.
    func next() -> Item? {
        condition.lock()
        while entries.isEmpty && !isFinished { condition.wait() }
        let first = entries.isEmpty ? nil : takeFirst()
        var block: Entry?
        if case .events(let backlog)? = first, backlog.isOfDroppedBlocks { block = takeFirst() }
        condition.unlock()
        condition.broadcast()
        switch first {
        case nil: return nil
        case .begin(let header)?: return .begin(header)
        case .end(let summary)?: return .end(summary)
        case .inputEnd(let end, let completion)?: return .inputEnd(end, completion)
        case .block(let block, let replies)?: return .block(block, replies: replies)
        case .events(let backlog)?:
            guard case .block(var next, let replies)? = block else { return .events(backlog.events) }
            next.prependEvents(backlog.events)
            return .block(next, replies: backlog.replies + replies)
        }
    }

    /// Ends the input: the reader gets the rest and then nil.
    func finish() {
        condition.lock()
        isFinished = true
        condition.unlock()
        condition.broadcast()
    }

    /// The reader stops: items that wait or follow are discarded, and the writer no longer waits.
    ///
    /// - Parameters:
    ///   - isSkipped: Whether the batches that are discarded count as dropped.
    ///   - item: The item whose delivery failed, which counts too.
    func abandon(isSkipped: Bool = false, at item: Item? = nil) {
        condition.lock()
        isAbandoned = true
        countsRest = isSkipped
        let left = entries
        entries.removeAll()
        (countedEntries, eventWeight) = (0, 0)
        condition.unlock()
        condition.broadcast()
        if isSkipped, case .block(let block, _)? = item { droppedBatches.add(Int64(block.count), ordering: .relaxed) }
        if isSkipped, case .inputEnd(_, let completion)? = item { completion?.sinkHasEnded() }
        // Every control is answered, also one whose batch is never written.
        for entry in left {
            switch entry {
            case .block(let block, let replies):
                if isSkipped { droppedBatches.add(Int64(block.count), ordering: .relaxed) }
                for reply in replies { reply() }
            case .events(let backlog): for reply in backlog.replies { reply() }
            case .inputEnd(_, let completion): if isSkipped { completion?.sinkHasEnded() }
            case .begin, .end: break
            }
        }
    }

    // MARK: - Under the lock

    private func takeFirst() -> Entry {
        let entry = entries.removeFirst()
        switch entry {
        case .block: countedEntries -= 1
        case .events(let backlog):
            eventWeight -= backlog.weight
            if isLossless { countedEntries -= 1 }
        case .inputEnd:
            if isLossless { countedEntries -= 1 }
        case .begin, .end: break
        }
        return entry
    }

    /// Live, events that follow others join them, so that the number of entries stays small.
    private func append(_ events: [Event]) {
        if isLossless {
            countedEntries += 1
        } else if case .events(let backlog)? = entries.last {
            eventWeight += backlog.append(events)
            return trimEvents()
        }
        let backlog = EventBacklog()
        eventWeight += backlog.append(events)
        entries.append(.events(backlog))
        if !isLossless { trimEvents() }
    }

    /// Only where a block of the same stream follows, which takes over the events: beyond a begin or an end they would have
    /// another stream's time.
    private func dropOldestBlock() {
        guard let oldest = entries.indices.first(where: { entries[$0].isBlock && isFollowedByBlock($0) }),
            case .block(let block, let replies) = entries[oldest]
        else { return }
        droppedBatches.add(Int64(block.count), ordering: .relaxed)
        countedEntries -= 1
        // The place of what follows the backlog.
        var next = oldest
        let backlog: EventBacklog
        if oldest > 0, case .events(let before) = entries[oldest - 1] {
            backlog = before
            entries.remove(at: oldest)
        } else {
            backlog = EventBacklog()
            entries[oldest] = .events(backlog)
            next += 1
        }
        backlog.isOfDroppedBlocks = true
        backlog.replies += replies
        eventWeight += backlog.append(block.events)
        if case .events(let after) = entries[next] {
            backlog.append(contentsOf: after)
            entries.remove(at: next)
        }
        trimEvents()
    }

    private func isFollowedByBlock(_ index: Int) -> Bool {
        guard index + 1 < entries.count else { return false }
        if entries[index + 1].isBlock { return true }
        // Between two blocks there is one backlog at most.
        return entries[index + 1].backlog != nil && index + 2 < entries.count && entries[index + 2].isBlock
    }

    private func trimEvents() {
        var index = 0
        while eventWeight > Self.eventLimit, index < entries.count {
            guard let backlog = entries[index].backlog, let weight = backlog.removeFirst() else {
                index += 1
                continue
            }
            eventWeight -= weight
            droppedEvents.add(1, ordering: .relaxed)
        }
    }
}

extension Mailbox.Item {
    fileprivate var isCounted: Bool {
        switch self {
        case .block, .events, .inputEnd: true
        case .begin, .end: false
        }
    }
}

extension Mailbox.Entry {
    fileprivate var isBlock: Bool {
        if case .block = self { true } else { false }
    }

    fileprivate var backlog: EventBacklog? {
        if case .events(let backlog) = self { backlog } else { nil }
    }
}

extension BatchBlock {
    /// Puts events before those of this block's first batch.
    fileprivate mutating func prependEvents(_ inherited: [Event]) {
        guard !inherited.isEmpty else { return }
        replaceEvents { index, old, new in
            if index == 0 { new.append(contentsOf: inherited) }
            new.append(contentsOf: old)
        }
    }
}
