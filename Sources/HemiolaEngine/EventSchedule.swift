internal import HemiolaSignal

/// The events that one sink gets: the selected ones, and with `lead_ms` each in the batch that ends that far ahead of its time. In
/// stream time, so that the same input gives the same lines.
struct EventSchedule {
    /// Seconds; nil: as soon as they are found.
    private let lead: Double?
    private let selection: Selection
    private var format = StreamFormat(sampleRate: 1, channelCount: 1)
    /// In order of time.
    private var pending: [Event] = []

    init(lead: Double?, selection: Selection) {
        self.lead = lead
        self.selection = selection
    }

    /// Whether every block passes as it is.
    var isTransparent: Bool { lead == nil && selection.isAll }

    mutating func begin(_ header: StreamHeader) {
        format = header.format
        pending.removeAll()
    }

    mutating func apply(to block: BatchBlock) -> BatchBlock {
        var result = block
        let ends = (0..<block.count).map { format.seconds(at: block[$0].endFrame) }
        result.replaceEvents { index, old, new in
            for event in old where selection.contains(event.type.name) { take(event, into: &new) }
            release(until: ends[index], into: &new)
        }
        return result
    }

    /// Events that come without a batch are never held back: the batch that would release them may not come for hours. Events that
    /// are earlier and still pending are released before them.
    mutating func apply(to events: [Event]) -> [Event] {
        let selected = events.filter { selection.contains($0.type.name) }
        guard lead != nil, let last = selected.map(\.time).max() else { return selected }
        for event in selected { insert(event) }
        let due = pending.prefix { $0.time <= last }
        pending.removeFirst(due.count)
        return Array(due)
    }

    /// At the end all pending events are released.
    mutating func apply(to summary: StreamSummary) -> StreamSummary {
        var result = summary
        // Both are in order of time; with equal times the older come first.
        for event in summary.lateEvents where selection.contains(event.type.name) { insert(event) }
        result.lateEvents = pending
        pending.removeAll()
        return result
    }

    private mutating func take(_ event: Event, into new: inout [Event]) {
        guard lead != nil else {
            new.append(event)
            return
        }
        insert(event)
    }

    private mutating func insert(_ event: Event) {
        let place = pending.firstIndex { $0.time > event.time } ?? pending.endIndex
        pending.insert(event, at: place)
    }

    private mutating func release(until end: Double, into new: inout [Event]) {
        guard let lead else { return }
        let due = pending.prefix { $0.time - lead <= end }
        new.append(contentsOf: due)
        pending.removeFirst(due.count)
    }
}
