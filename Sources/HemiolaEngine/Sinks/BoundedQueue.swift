internal import Hemiola

/// The queue between the analysis and a sink: bounded, in order. It holds what does not fit back, or drops the oldest of it.
///
/// A lossless one holds four blocks. A live one holds a second of them; beyond that the oldest is dropped, and its events wait for the next
/// block of its stream: at most so many that the cost of a drop and the memory stay small.
///
/// `@unchecked Sendable`: everything below the lock is touched only under it.
final class BoundedQueue: @unchecked Sendable {
    /// What happens when the queue is full.
    enum Policy: Sendable {
        /// The writer waits.
        case wait
        /// The oldest items are dropped, and what is lost with them is counted.
        case dropOldest
    }

    /// Tells a client of the sink what its control has done.
    typealias Reply = @Sendable () -> Void

    /// The weight of the events outside blocks that wait at most: an hour of music, at ten events a second.
    static let eventLimit = 36_000

    /// An item that waits.
    private struct Waiting {
        /// Of `events`, an empty list: they are below.
        var item: StreamItem
        /// Events that come before those of the first batch: of batches that were dropped.
        var events = WaitingEvents()
        /// Is called when the item was written, and never dropped.
        var replies: [Reply] = []

        init(_ item: StreamItem) {
            self.item = item
            guard case .events(let events) = item else { return }
            self.item = .events([])
            self.events.append(events[...])
        }

        /// The item with all of its events.
        var complete: StreamItem {
            switch item {
            case .batches(var block) where !events.list.isEmpty:
                block.replaceEvents { index, old, new in
                    if index == 0 { new.append(contentsOf: events.list) }
                    new.append(contentsOf: old)
                }
                return .batches(block)
            case .events: return .events(Array(events.list))
            case .begin, .batches, .end, .inputEnd: return item
            }
        }
    }

    let policy: Policy
    private let capacity: Int

    private let condition = Condition()
    private var items: [Waiting] = []
    private var waitingSize = 0
    private var lost = QueueLoss()
    /// The writer has finished.
    private var isFinished = false
    /// The reader has stopped.
    private var isAbandoned = false
    /// The reader has stopped, and what it does not get is counted.
    private var countsRest = false

    /// - Parameter capacity: The size of the items that wait at most, in the unit of `StreamItem.size`.
    init(capacity: Int, _ policy: Policy) {
        self.capacity = capacity
        self.policy = policy
    }

    /// Whether the reader has not stopped.
    var hasReader: Bool { condition.locked { !isAbandoned } }
    /// Whether the reader has stopped and what it does not get is counted.
    var isSkipped: Bool { condition.locked { countsRest } }
    /// Whether the writer has finished.
    var isClosing: Bool { condition.locked { isFinished } }
    /// What was lost so far.
    var loss: QueueLoss { condition.locked { lost } }

    // MARK: - The writer

    /// Adds an item.
    ///
    /// - Returns: Whether there is a reader for it.
    @discardableResult
    func put(_ item: StreamItem) -> Bool {
        condition.lock()
        if policy == .wait, item.size > 0 {
            while waitingSize >= capacity && !isAbandoned { condition.wait() }
        }
        let isRead = !isAbandoned
        if isRead {
            append(Waiting(item))
            if policy == .dropOldest { dropOldest() }
        } else if countsRest {
            lost += item.loss
        }
        condition.unlock()
        condition.broadcast()
        return isRead
    }

    /// Adds replies to controls of the sink, which come after the items before them. The writer does not wait.
    func put(_ replies: [Reply]) {
        condition.lock()
        if !isAbandoned {
            if items.isEmpty { append(Waiting(.events([]))) }
            items[items.count - 1].replies += replies
        }
        condition.unlock()
        condition.broadcast()
    }

    /// Ends the queue: the reader gets the rest and then nil.
    func finish() {
        condition.locked { isFinished = true }
        condition.broadcast()
    }

    // MARK: - The reader

    /// The next item, with the events of batches that were dropped before it, and the replies that are to be called when it was written; nil
    /// when all were read and none follows. Waits for it.
    func next() -> (item: StreamItem, replies: [Reply])? {
        condition.lock()
        while items.isEmpty && !isFinished { condition.wait() }
        let next = items.isEmpty ? nil : items.removeFirst()
        if let next { waitingSize -= next.item.size }
        condition.unlock()
        condition.broadcast()
        return next.map { ($0.complete, $0.replies) }
    }

    /// The reader stops: items that wait or follow are discarded, and the writer no longer waits.
    ///
    /// - Parameters:
    ///   - countsRest: Whether what is discarded is counted as lost.
    ///   - item: The item that was read last, and is lost too.
    /// - Returns: The discarded items.
    @discardableResult
    func abandon(countsRest: Bool = false, at item: StreamItem? = nil) -> [StreamItem] {
        condition.lock()
        isAbandoned = true
        self.countsRest = countsRest
        let rest = (item.map { [$0] } ?? []) + items.map(\.item)
        items = []
        waitingSize = 0
        if countsRest { for item in rest { lost += item.loss } }
        condition.unlock()
        condition.broadcast()
        return rest
    }

    // MARK: - With the lock

    private func append(_ new: Waiting) {
        // Live, events that follow others join them, so that the number of items stays small.
        if policy == .dropOldest, case .events = new.item, case .events? = items.last?.item {
            items[items.count - 1].events.append(new.events.list)
        } else {
            items.append(new)
            waitingSize += new.item.size
        }
    }

    /// Drops what does not fit.
    private func dropOldest() {
        if items.count(where: \.item.isBatches) > capacity { dropOldestBlock() }
        var excess = items.reduce(0) { $0 + $1.events.weight } - Self.eventLimit
        for index in items.indices {
            while excess > 0, let weight = items[index].events.removeFirst() {
                excess -= weight
                lost.events += 1
            }
        }
    }

    /// Drops the oldest block that is followed by a block of the same stream, which takes over its events and replies: beyond a begin or an
    /// end they would have another stream's time.
    private func dropOldestBlock() {
        for oldest in items.indices {
            guard case .batches(let block) = items[oldest].item, let next = blockAfter(oldest) else { continue }
            lost.batches += Int64(block.count)
            waitingSize -= items[oldest..<next].reduce(0) { $0 + $1.item.size }
            // Changed where nothing else refers to them: copying them would take longer the more there are.
            var events = WaitingEvents()
            swap(&events, &items[oldest].events)
            events.append(block.events[...])
            for index in oldest + 1...next { events.append(items[index].events.list) }
            items[next].events = events
            items[next].replies = items[oldest...next].flatMap(\.replies)
            items.removeSubrange(oldest..<next)
            return
        }
    }

    /// The block that follows a block of the same stream. Between two blocks there are events in one item at most.
    private func blockAfter(_ index: Int) -> Int? {
        for next in index + 1..<min(index + 3, items.count) {
            switch items[next].item {
            case .batches: return next
            case .events: continue
            case .begin, .end, .inputEnd: return nil
            }
        }
        return nil
    }
}

/// Events in order, to which later ones can be added and of which the oldest can be removed, each at a constant cost.
private struct WaitingEvents {
    private(set) var list: ArraySlice<Event> = []
    /// 1 for each event, and 1 for each name in a list of names.
    private(set) var weight = 0

    mutating func append(_ events: ArraySlice<Event>) {
        list += events
        weight += events.reduce(0) { $0 + Self.weight(of: $1) }
    }

    /// - Returns: The weight of the event; nil: there is none.
    mutating func removeFirst() -> Int? {
        guard let event = list.popFirst() else { return nil }
        weight -= Self.weight(of: event)
        return Self.weight(of: event)
    }

    private static func weight(of event: Event) -> Int { 1 + (event.control?.control.listCount ?? 0) }
}

extension StreamItem {
    fileprivate var isBatches: Bool {
        if case .batches = self { true } else { false }
    }
}

/// What was lost in a queue.
struct QueueLoss: Sendable, Hashable {
    var batches: Int64 = 0
    var events: Int64 = 0

    static func + (one: Self, other: Self) -> Self { QueueLoss(batches: one.batches + other.batches, events: one.events + other.events) }
    static func - (one: Self, other: Self) -> Self { QueueLoss(batches: one.batches - other.batches, events: one.events - other.events) }
    static func += (one: inout Self, other: Self) { one = one + other }
}
