internal import HemiolaSystem

/// A queue between two threads: bounded, in order. It holds what does not fit back, or drops the oldest of it.
///
/// `@unchecked Sendable`: everything below the lock is touched only under it.
final class BoundedQueue<Element: BoundedQueueElement>: @unchecked Sendable {
    /// What happens when the queue is full.
    enum Policy: Sendable {
        /// The writer waits.
        case wait
        /// The oldest elements are dropped, and what is lost with them is counted.
        case dropOldest
    }

    let policy: Policy
    private let capacity: Int

    private let condition = Condition()
    private var elements: [Element] = []
    private var waitingSize = 0
    private var lost = QueueLoss()
    /// The writer has finished.
    private var isFinished = false
    /// The reader has stopped.
    private var isAbandoned = false
    /// The reader has stopped, and what it does not get is counted.
    private var countsRest = false

    /// - Parameter capacity: The size of the elements that wait at most, in the unit of `Element.size`.
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

    /// Adds an element.
    ///
    /// - Returns: Whether there is a reader for it.
    @discardableResult
    func put(_ element: Element) -> Bool {
        condition.lock()
        if policy == .wait, element.size > 0 {
            while waitingSize >= capacity && !isAbandoned { condition.wait() }
        }
        let isRead = !isAbandoned
        if isRead {
            elements.append(element)
            switch policy {
            case .wait: waitingSize += element.size
            case .dropOldest: lost += Element.dropOldest(from: &elements, capacity: capacity)
            }
        } else if countsRest {
            lost += element.loss
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

    /// The next element, or nil when all were read and none follows. Waits for it.
    func next() -> Element? {
        condition.lock()
        while elements.isEmpty && !isFinished { condition.wait() }
        let element = elements.isEmpty ? nil : elements.removeFirst()
        if policy == .wait, let element { waitingSize -= element.size }
        condition.unlock()
        condition.broadcast()
        return element
    }

    /// The reader stops: elements that wait or follow are discarded, and the writer no longer waits.
    ///
    /// - Parameters:
    ///   - countsRest: Whether what is discarded is counted as lost.
    ///   - element: The element that was read last, and is lost too.
    /// - Returns: The discarded elements.
    @discardableResult
    func abandon(countsRest: Bool = false, at element: Element? = nil) -> [Element] {
        condition.lock()
        isAbandoned = true
        self.countsRest = countsRest
        let rest = (element.map { [$0] } ?? []) + elements
        elements = []
        waitingSize = 0
        if countsRest { for element in rest { lost += element.loss } }
        condition.unlock()
        condition.broadcast()
        return rest
    }
}

/// An element of a `BoundedQueue`. By default each counts as one, and nothing is dropped.
protocol BoundedQueueElement: Sendable {
    /// Its part of the capacity of a queue. The writer never waits to add an element of size 0.
    var size: Int { get }
    /// What is lost if the element is not read.
    var loss: QueueLoss { get }
    /// Drops the oldest elements of a full queue.
    ///
    /// - Returns: What is lost with them.
    static func dropOldest(from elements: inout [Self], capacity: Int) -> QueueLoss
}

extension BoundedQueueElement {
    var size: Int { 1 }
    var loss: QueueLoss { QueueLoss() }
    static func dropOldest(from elements: inout [Self], capacity: Int) -> QueueLoss { QueueLoss() }
}

/// What was lost in a queue.
struct QueueLoss: Sendable, Hashable {
    var batches: Int64 = 0
    var events: Int64 = 0

    static func + (one: Self, other: Self) -> Self { QueueLoss(batches: one.batches + other.batches, events: one.events + other.events) }
    static func - (one: Self, other: Self) -> Self { QueueLoss(batches: one.batches - other.batches, events: one.events - other.events) }
    static func += (one: inout Self, other: Self) { one = one + other }
}
