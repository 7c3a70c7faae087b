/// The events of the batch under way. Room is kept from batch to batch, so that a warm list does not allocate.
public struct EventList: Sendable {
    public private(set) var events: [Event] = []
    /// The analyzer that speaks; stamped on its findings.
    private var speaker = ""

    public init(capacity: Int = 64) {
        events.reserveCapacity(capacity)
    }

    public var isEmpty: Bool { events.isEmpty }
    public var count: Int { events.count }

    public mutating func append(_ event: Event) {
        if case .finding(var finding) = event.payload, finding.analyzer.isEmpty {
            finding.analyzer = speaker
            events.append(Event(at: event.time, .finding(finding)))
        } else {
            events.append(event)
        }
    }

    public mutating func append(_ payload: Event.Payload, at time: Double) {
        append(Event(at: time, payload))
    }

    /// Names who speaks from here on.
    public mutating func speak(as analyzer: String) {
        speaker = analyzer
    }

    /// Appends the events to `other` in order of time, those of one moment in the order they came, and empties this list.
    package mutating func drain(into other: inout [Event]) {
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
