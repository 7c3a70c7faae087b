internal import NIOCore

/// The lines that wait for a client that does not read fast enough: bounded, in order.
///
/// At most eight whole batches wait. Of an older batch only the events are kept, and the batch counts as dropped. Beyond 1024 entries
/// or `byteLimit` bytes the oldest entries are removed, and their lines count as dropped.
struct SendQueue {
    enum Entry {
        /// The lines of a batch for the subscription that was valid when it was added.
        case batch(EncodedBatch, Subscription, eventsOnly: Bool)
        /// A line for this client only.
        case line(ByteBuffer)
        /// The position of dropped lines.
        case dropped(DropCount)
    }

    struct DropCount: Equatable {
        var batches = 0
        /// Event lines, and lines for this client only.
        var events = 0

        var isZero: Bool { batches == 0 && events == 0 }

        static func - (lhs: DropCount, rhs: DropCount) -> DropCount {
            DropCount(batches: lhs.batches - rhs.batches, events: lhs.events - rhs.events)
        }
    }

    static let batchCapacity = 8
    static let entryCapacity = 1024
    /// Maximum number of bytes in the queue of one client.
    static let byteCapacity = 1 << 20

    /// Maximum number of bytes now: less than `byteCapacity` if many clients share the memory.
    var byteLimit = SendQueue.byteCapacity

    private var entries: [Entry] = []
    /// Number of whole batches.
    private var batchCount = 0
    private(set) var byteCount = 0
    /// The largest `byteCount` so far.
    private(set) var largestByteCount = 0
    /// Dropped since the last `dropped` line to the client.
    private var unreportedDrops = DropCount()
    /// Dropped since the client connected.
    private(set) var dropped = DropCount()

    var isEmpty: Bool { entries.isEmpty && unreportedDrops.isZero }
    var count: Int { entries.count }

    mutating func append(_ batch: EncodedBatch, for subscription: Subscription) {
        let isWhole = batch.hasDroppableLines(for: subscription)
        guard isWhole || batch.hasEvents(for: subscription) else { return }
        append(.batch(isWhole ? batch : batch.eventsOnly(for: subscription), subscription, eventsOnly: !isWhole))
        if isWhole {
            batchCount += 1
            if batchCount > Self.batchCapacity { dropOldestBatch() }
        }
        trim()
    }

    mutating func append(_ line: ByteBuffer) {
        append(.line(line))
        trim()
    }

    /// Removes and returns the next entry; nil if the queue is empty.
    mutating func next() -> Entry? {
        var isWholeBatch = false
        if case .batch(_, _, eventsOnly: false)? = entries.first { isWholeBatch = true }
        if !unreportedDrops.isZero, isWholeBatch || entries.isEmpty {
            defer { unreportedDrops = DropCount() }
            return .dropped(unreportedDrops)
        }
        return entries.isEmpty ? nil : removeFirst()
    }

    private mutating func append(_ entry: Entry) {
        entries.append(entry)
        byteCount += Self.byteCount(entry)
        largestByteCount = max(largestByteCount, byteCount)
    }

    private mutating func removeFirst() -> Entry {
        let entry = entries.removeFirst()
        if case .batch(_, _, eventsOnly: false) = entry { batchCount -= 1 }
        byteCount -= Self.byteCount(entry)
        return entry
    }

    private static func byteCount(_ entry: Entry) -> Int {
        switch entry {
        case .line(let line): line.readableBytes
        case .batch(let batch, let subscription, let eventsOnly): batch.byteCount(for: subscription, eventsOnly: eventsOnly)
        case .dropped: 0
        }
    }

    /// Replaces the oldest whole batch by its events.
    private mutating func dropOldestBatch() {
        guard
            let oldest = entries.firstIndex(where: { if case .batch(_, _, eventsOnly: false) = $0 { true } else { false } }),
            case .batch(let batch, let subscription, _) = entries[oldest]
        else { return }
        byteCount -= Self.byteCount(entries[oldest])
        if batch.hasEvents(for: subscription) {
            entries[oldest] = .batch(batch.eventsOnly(for: subscription), subscription, eventsOnly: true)
            byteCount += Self.byteCount(entries[oldest])
        } else {
            entries.remove(at: oldest)
        }
        batchCount -= 1
        countDrops(DropCount(batches: 1))
    }

    /// Removes the oldest entries beyond the limits.
    private mutating func trim() {
        while entries.count > Self.entryCapacity || byteCount > byteLimit, !entries.isEmpty {
            switch removeFirst() {
            case .line: countDrops(DropCount(events: 1))
            case .batch(let batch, let subscription, let eventsOnly):
                countDrops(DropCount(batches: eventsOnly ? 0 : 1, events: batch.eventCount(for: subscription)))
            case .dropped: break
            }
        }
    }

    private mutating func countDrops(_ new: DropCount) {
        unreportedDrops.batches += new.batches
        unreportedDrops.events += new.events
        dropped.batches += new.batches
        dropped.events += new.events
    }
}

/// The messages of calls that wait for a client, and of tabs: none is dropped. Their number is bounded by the number of calls.
struct CallLineQueue {
    private struct Entry {
        var line: ByteBuffer
        var number: Int?
    }

    private var entries: [Entry] = []
    private(set) var byteCount = 0

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }

    /// - Parameter number: The number of the line, which replaces the last line with this number that waits: the call whose progress it is,
    ///   or ``PageCalls/tabsNumber``. nil: the line replaces none.
    mutating func append(_ line: ByteBuffer, replacing number: Int?) {
        byteCount += line.readableBytes
        if let number, let index = entries.firstIndex(where: { $0.number == number }) {
            byteCount -= entries[index].line.readableBytes
            entries[index].line = line
        } else {
            entries.append(Entry(line: line, number: number))
        }
    }

    mutating func next() -> ByteBuffer? {
        guard !entries.isEmpty else { return nil }
        let line = entries.removeFirst().line
        byteCount -= line.readableBytes
        return line
    }
}
