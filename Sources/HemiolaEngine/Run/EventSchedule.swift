internal import HemiolaRecords
internal import HemiolaSignal

/// Selects and times the events for one sink. With `lead_ms`, each event is in the batch that ends that time before the event. All times
/// are stream times, so that the same input gives the same lines.
struct EventSchedule {
    /// Seconds; nil: events are delivered as soon as they are detected.
    private let lead: Double?
    private let selection: Selection
    private var format = StreamFormat(sampleRate: 1, channelCount: 1)
    /// In order of time.
    private var pending: [Event] = []

    init(lead: Double?, selection: Selection) {
        self.lead = lead
        self.selection = selection
    }

    /// The item with the events that are selected and due.
    mutating func apply(to item: StreamItem) -> StreamItem {
        switch item {
        case .begin(let header): begin(header)
        case .batches(let block): return .batches(apply(to: block))
        case .events(let events): return .events(apply(to: events))
        case .end(let summary): return .end(apply(to: summary))
        case .inputEnd: break
        }
        return item
    }

    mutating func begin(_ header: StreamHeader) {
        format = header.format
        pending.removeAll()
    }

    mutating func apply(to block: BatchBlock) -> BatchBlock {
        var result = block
        result.replaceEvents { index, old, new in
            let selected = old.filter { selection.contains($0.type.name) }
            guard let lead else {
                new += selected
                return
            }
            for event in selected { insert(event) }
            let end = format.seconds(at: block[index].endFrame)
            new += take { $0.time - lead <= end }
        }
        return result
    }

    /// Events without a batch are delivered immediately, because the next batch may come hours later. Earlier pending events are delivered
    /// before them.
    mutating func apply(to events: [Event]) -> [Event] {
        let selected = events.filter { selection.contains($0.type.name) }
        guard lead != nil, let last = selected.map(\.time).max() else { return selected }
        for event in selected { insert(event) }
        return Array(take { $0.time <= last })
    }

    /// Delivers all pending events at the end of the stream.
    mutating func apply(to summary: StreamSummary) -> StreamSummary {
        var result = summary
        // Both are in order of time; with equal times the older come first.
        for event in summary.lateEvents where selection.contains(event.type.name) { insert(event) }
        result.lateEvents = pending
        pending.removeAll()
        return result
    }

    private mutating func insert(_ event: Event) {
        let place = pending.firstIndex { $0.time > event.time } ?? pending.endIndex
        pending.insert(event, at: place)
    }

    /// Removes the pending events that are due.
    private mutating func take(where isDue: (Event) -> Bool) -> ArraySlice<Event> {
        let due = pending.prefix(while: isDue)
        pending.removeFirst(due.count)
        return due
    }
}
