internal import HemiolaSystem

/// The queue between the analysis and a sink: bounded, in order. It holds what does not fit back, or drops the oldest of it.
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

    let policy: Policy
    private let capacity: Int

    private let condition = Condition()
    private var items: [StreamItem] = []
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
            items.append(item)
            switch policy {
            case .wait: waitingSize += item.size
            case .dropOldest: lost += StreamItem.dropOldest(from: &items, capacity: capacity)
            }
        } else if countsRest {
            lost += item.loss
        }
        condition.unlock()
        condition.broadcast()
        return isRead
    }

    /// Ends the queue: the reader gets the rest and then nil.
    func finish() {
        condition.locked { isFinished = true }
        condition.broadcast()
    }

    // MARK: - The reader

    /// The next item, with the events of batches that were dropped before it, or nil when all were read and none follows. Waits for it.
    func next() -> StreamItem? {
        condition.lock()
        while items.isEmpty && !isFinished { condition.wait() }
        let item = items.isEmpty ? nil : items.removeFirst()
        if policy == .wait, let item { waitingSize -= item.size }
        condition.unlock()
        condition.broadcast()
        return item?.joined
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
        let rest = (item.map { [$0] } ?? []) + items
        items = []
        waitingSize = 0
        if countsRest { for item in rest { lost += item.loss } }
        condition.unlock()
        condition.broadcast()
        return rest
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
