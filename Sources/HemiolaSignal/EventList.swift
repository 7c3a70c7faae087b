/// The events of the batch under way. Room is kept from batch to batch, so that a warm list does not allocate.
public struct EventList: Sendable {
    /// In the order they came; sorted by time when the batch is sealed.
    public private(set) var events: [Event] = []
    /// The analyzer that speaks; stamped on its findings.
    private var speaker = ""

    /// An empty list with room for so many.
    public init(capacity: Int = 64) {
        events.reserveCapacity(capacity)
    }

    /// Whether nothing has happened in this batch yet.
    public var isEmpty: Bool { events.isEmpty }
    /// Events so far.
    public var count: Int { events.count }

    /// Adds an event; a finding without an analyzer's name gets that of whoever speaks.
    public mutating func append(_ event: Event) {
        if case .finding(var finding) = event.payload, finding.analyzer.isEmpty {
            finding.analyzer = speaker
            events.append(Event(at: event.time, .finding(finding)))
        } else {
            events.append(event)
        }
    }

    /// Adds what happens at a time, in seconds since the stream's first frame.
    public mutating func append(_ payload: Event.Payload, at time: Double) {
        append(Event(at: time, payload))
    }

    /// Names who speaks from here on.
    public mutating func speak(as analyzer: String) {
        speaker = analyzer
    }

    /// Appends the events to `other` in order of time, those of one moment in the order they came, and empties this list.
    package mutating func drain(into other: inout [Event]) {
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
