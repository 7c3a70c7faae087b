/// The events of the current batch. Its capacity is kept from batch to batch, so that adding to it does not allocate.
public struct EventList: Sendable {
    /// In the order in which they were added; sorted by time when the batch is completed.
    public private(set) var events: [Event] = []
    /// The analyzer that is being run: set in its events of type `event`.
    private var analyzer = ""

    /// An empty list with capacity for so many events.
    public init(capacity: Int = 64) {
        events.reserveCapacity(capacity)
    }

    /// Whether the batch has no event yet.
    public var isEmpty: Bool { events.isEmpty }
    /// Events so far.
    public var count: Int { events.count }

    /// Adds an event. An event of type `event` without an analyzer's name gets that of the current analyzer.
    public mutating func append(_ event: Event) {
        guard event.type == .analyzerEvent, event[AnalyzerEvent.analyzerPlace] == .text("") else { return events.append(event) }
        var event = event
        event[AnalyzerEvent.analyzerPlace] = .text(analyzer)
        events.append(event)
    }

    /// Adds a record at a time, in seconds since the stream's first frame.
    public mutating func append(_ record: some EventRecord, at time: Double) {
        append(record.event(at: time))
    }

    /// Sets the analyzer whose name the next events of type `event` get.
    public mutating func setAnalyzer(_ name: String) {
        analyzer = name
    }

    /// Appends the events to `other` in order of time, those of one time in the order in which they were added, and empties this list.
    public mutating func drain(into other: inout [Event]) {
        if events.isEmpty { return }
        if events.count > 1 {
            // An insertion sort: stable, in place, and the list is short and nearly in order.
            for index in 1..<events.count {
                var place = index
                while place > 0, events[place - 1].time > events[place].time {
                    events.swapAt(place - 1, place)
                    place -= 1
                }
            }
        }
        other.append(contentsOf: events)
        events.removeAll(keepingCapacity: true)
    }
}
