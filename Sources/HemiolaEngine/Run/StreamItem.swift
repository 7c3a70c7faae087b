internal import Hemiola
internal import Synchronization

/// A part of the streams of a run, in their order.
enum StreamItem: Sendable {
    case begin(StreamHeader)
    /// Consecutive batches. Events of earlier batches that were dropped come before those of the first one.
    case batches(BatchBlock, after: EventBuffer = EventBuffer())
    /// Events of the current stream that are written without a batch, such as a lost device.
    case events(EventBuffer)
    case end(StreamSummary)
    /// The end of an input, after its streams.
    case inputEnd(InputCompletion)
}

extension StreamItem {
    /// The replies to be called when the item was written.
    var replies: [@Sendable () -> Void] { waitingEvents.replies }

    /// The item whose first batch has the events before it too.
    var joined: StreamItem {
        guard case .batches(var block, let earlier) = self, !earlier.events.isEmpty else { return self }
        block.replaceEvents { index, old, new in
            if index == 0 { new.append(contentsOf: earlier.events) }
            new.append(contentsOf: old)
        }
        return .batches(block, after: EventBuffer(replies: earlier.replies))
    }
}

/// Receives the streams of an input, in order. Used by the thread that analyses the input.
protocol StreamReceiver: AnyObject {
    /// Whether any sink still has a reader.
    var hasReader: Bool { get }

    /// Calls a function in the order of the items: at once, or when the turn of the input has come. Thread-safe.
    var inTurn: @Sendable (@escaping @Sendable () -> Void) -> Void { get }

    func receive(_ item: StreamItem)
    /// Applies the clients' controls to the stream: once per batch, between two batches, and while the source pauses.
    ///
    /// - Returns: Whether the sinks are still to get what the controls have changed, with the next batches or events.
    @discardableResult func applyControls(to stream: any StreamProducer) -> Bool
}

/// The end of an input, which is complete when every sink has written the last records of the input.
final class InputCompletion: Sendable {
    /// The end of the analysis.
    let end: InputEnd
    /// Whether a failure of the input does not count.
    let isSkippable: Bool
    private let state: Mutex<(end: InputEnd, sinks: Int)>
    private let complete: @Sendable (InputEnd) -> Void

    /// - Parameters:
    ///   - sinks: The number of sinks.
    ///   - complete: Receives the end, on the thread of the last sink.
    init(_ end: InputEnd, isSkippable: Bool, sinks: Int, complete: @escaping @Sendable (InputEnd) -> Void) {
        self.end = end
        self.isSkippable = isSkippable
        state = Mutex((end, sinks))
        self.complete = complete
    }

    /// Notes that a sink has written the input, or was skipped. Without sinks, call it once.
    ///
    /// - Parameter error: Why the result cannot be written; nil: it is.
    func sinkHasEnded(_ error: String? = nil) {
        let end = state.withLock { state -> InputEnd? in
            if let error {
                // Nothing of the input is left, also if only a part of it could be read.
                state.end.error = state.end.error ?? error
                state.end.streamCount = 0
            }
            state.sinks -= 1
            return state.sinks <= 0 ? state.end : nil
        }
        if let end { complete(end) }
    }
}

/// Events in order, to which later ones can be added and of which the oldest can be removed, each at a constant cost.
struct EventBuffer: Sendable {
    private(set) var events: ArraySlice<Event> = []
    /// 1 for each event, and 1 for each name in a list of names.
    private(set) var weight = 0
    /// Replies to controls of the sink, to be called after the events, and after the batches that they come with. They are never dropped.
    private(set) var replies: [@Sendable () -> Void] = []

    init(_ events: [Event] = [], replies: [@Sendable () -> Void] = []) {
        self.events = events[...]
        self.replies = replies
        weight = events.reduce(0) { $0 + $1.weight }
    }

    mutating func append(_ later: EventBuffer) {
        events += later.events
        weight += later.weight
        replies += later.replies
    }

    mutating func removeFirst() {
        if let event = events.popFirst() { weight -= event.weight }
    }
}

extension Event {
    fileprivate var weight: Int { 1 + (control?.control.listCount ?? 0) }
}

/// In the queue of a sink. A lossless one holds four blocks. A live one holds a second of them; beyond that the oldest is dropped, and its
/// events wait for the next block of its stream: at most so many that the cost of a drop and the memory stay small.
extension StreamItem {
    /// The weight of the events outside blocks that wait at most: an hour of music, at ten events a second.
    static let eventLimit = 36_000

    /// Its part of the capacity of a queue. The writer never waits to add an item of size 0.
    var size: Int {
        switch self {
        case .batches, .events, .inputEnd: 1
        case .begin, .end: 0
        }
    }

    /// What is lost if the item is not read.
    var loss: QueueLoss {
        if case .batches(let block, _) = self { QueueLoss(batches: Int64(block.count)) } else { QueueLoss() }
    }

    /// Drops the oldest items of a full queue.
    ///
    /// - Returns: What is lost with them.
    static func dropOldest(from items: inout [StreamItem], capacity: Int) -> QueueLoss {
        items.joinLastEvents()
        var loss = QueueLoss()
        if items.count(where: \.isBatches) > capacity { loss += items.dropOldestBatches() }
        var excess = items.reduce(0) { $0 + $1.waitingEvents.weight } - eventLimit
        for index in items.indices where excess > 0 {
            var events = items[index].takeWaitingEvents()
            let (weight, count) = (events.weight, events.events.count)
            while excess > weight - events.weight, !events.events.isEmpty { events.removeFirst() }
            excess -= weight - events.weight
            loss.events += Int64(count - events.events.count)
            items[index].setWaitingEvents(events)
        }
        return loss
    }

    fileprivate var isBatches: Bool {
        if case .batches = self { true } else { false }
    }

    /// The events outside blocks.
    fileprivate var waitingEvents: EventBuffer {
        switch self {
        case .batches(_, let events), .events(let events): events
        case .begin, .end, .inputEnd: EventBuffer()
        }
    }

    /// Removes the events outside blocks. They are not copied then when they are changed.
    fileprivate mutating func takeWaitingEvents() -> EventBuffer {
        let events = waitingEvents
        setWaitingEvents(EventBuffer())
        return events
    }

    fileprivate mutating func setWaitingEvents(_ events: EventBuffer) {
        switch self {
        case .batches(let block, _): self = .batches(block, after: events)
        case .events: self = .events(events)
        case .begin, .end, .inputEnd: break
        }
    }
}

extension [StreamItem] {
    /// Events that follow others join them, so that the number of items stays small.
    fileprivate mutating func joinLastEvents() {
        guard count > 1, case .events(let events) = self[count - 1], case .events = self[count - 2] else { return }
        removeLast()
        var joined = self[count - 1].takeWaitingEvents()
        joined.append(events)
        self[count - 1].setWaitingEvents(joined)
    }

    /// Drops the oldest block that is followed by a block of the same stream, which takes over its events: beyond a begin or an end they
    /// would have another stream's time.
    fileprivate mutating func dropOldestBatches() -> QueueLoss {
        guard let oldest = indices.first(where: { self[$0].isBatches && blockAfter($0) != nil }), let next = blockAfter(oldest),
            case .batches(let block, _) = self[oldest]
        else { return QueueLoss() }
        var events = self[oldest].takeWaitingEvents()
        events.append(EventBuffer(block.events))
        for index in oldest + 1...next { events.append(self[index].takeWaitingEvents()) }
        self[next].setWaitingEvents(events)
        removeSubrange(oldest..<next)
        return QueueLoss(batches: Int64(block.count))
    }

    /// The block that follows a block of the same stream. Between two blocks there are events in one item at most.
    private func blockAfter(_ index: Int) -> Int? {
        for next in index + 1..<Swift.min(index + 3, count) {
            switch self[next] {
            case .batches: return next
            case .events: continue
            case .begin, .end, .inputEnd: return nil
            }
        }
        return nil
    }
}
