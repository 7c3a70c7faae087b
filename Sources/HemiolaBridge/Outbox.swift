internal import NIOCore

/// What waits for a client that does not read as fast as it should: bounded, in order, the newest wins.
///
/// At most eight batches wait; of an older one only the events stay, and it counts as lost. Beyond 1024 slots or `byteLimit` bytes
/// in all the oldest goes, and the lines in it count as lost.
struct Outbox {
    enum Slot {
        /// A batch's lines for the subscription under which it came; without those that are lost, when it is stripped.
        case parcel(Parcel, Subscription, isStripped: Bool)
        /// A line for this client alone.
        case own(ByteBuffer)
        /// So much is missing here.
        case hole(Lost)
    }

    /// What was lost.
    struct Lost: Equatable {
        var batches = 0
        /// Lines of events, and those for this client alone.
        var events = 0

        var isEmpty: Bool { batches == 0 && events == 0 }

        static func - (one: Lost, other: Lost) -> Lost {
            Lost(batches: one.batches - other.batches, events: one.events - other.events)
        }
    }

    static let batchCapacity = 8
    static let slotCapacity = 1024
    /// Bytes that wait for one client at most.
    static let byteCapacity = 1 << 20

    /// Bytes that wait at most: less than `byteCapacity` where many clients share what there is for all.
    var byteLimit = Outbox.byteCapacity

    private var slots: [Slot] = []
    /// Slots with a batch that is not stripped.
    private var batchCount = 0
    private(set) var byteCount = 0
    /// The most bytes that ever waited.
    private(set) var largestByteCount = 0
    /// Losses since the last `dropped` line to the client.
    private var hole = Lost()
    /// Lost in all.
    private(set) var lost = Lost()

    var isEmpty: Bool { slots.isEmpty && hole.isEmpty }
    var count: Int { slots.count }

    mutating func add(_ parcel: Parcel, for subscription: Subscription) {
        let isPaced = parcel.hasPaced(subscription)
        guard isPaced || parcel.hasEvents(subscription) else { return }
        append(.parcel(isPaced ? parcel : parcel.stripped(for: subscription), subscription, isStripped: !isPaced))
        if isPaced {
            batchCount += 1
            if batchCount > Self.batchCapacity { stripOldest() }
        }
        trim()
    }

    mutating func add(_ line: ByteBuffer) {
        append(.own(line))
        trim()
    }

    /// What is to be sent next; nil when there is nothing.
    mutating func next() -> Slot? {
        var isPaced = false
        if case .parcel(_, _, isStripped: false)? = slots.first { isPaced = true }
        if !hole.isEmpty, isPaced || slots.isEmpty {
            defer { hole = Lost() }
            return .hole(hole)
        }
        return slots.isEmpty ? nil : removeFirst()
    }

    private mutating func append(_ slot: Slot) {
        slots.append(slot)
        byteCount += Self.byteCount(slot)
        largestByteCount = max(largestByteCount, byteCount)
    }

    private mutating func removeFirst() -> Slot {
        let slot = slots.removeFirst()
        if case .parcel(_, _, isStripped: false) = slot { batchCount -= 1 }
        byteCount -= Self.byteCount(slot)
        return slot
    }

    private static func byteCount(_ slot: Slot) -> Int {
        switch slot {
        case .own(let line): line.readableBytes
        case .parcel(let parcel, let subscription, let isStripped): parcel.byteCount(for: subscription, isStripped: isStripped)
        case .hole: 0
        }
    }

    private mutating func stripOldest() {
        guard
            let oldest = slots.firstIndex(where: { if case .parcel(_, _, isStripped: false) = $0 { true } else { false } }),
            case .parcel(let parcel, let subscription, _) = slots[oldest]
        else { return }
        byteCount -= Self.byteCount(slots[oldest])
        if parcel.hasEvents(subscription) {
            slots[oldest] = .parcel(parcel.stripped(for: subscription), subscription, isStripped: true)
            byteCount += Self.byteCount(slots[oldest])
        } else {
            slots.remove(at: oldest)
        }
        batchCount -= 1
        count(Lost(batches: 1))
    }

    private mutating func trim() {
        while slots.count > Self.slotCapacity || byteCount > byteLimit, !slots.isEmpty {
            switch removeFirst() {
            case .own: count(Lost(events: 1))
            case .parcel(let parcel, let subscription, let isStripped):
                count(Lost(batches: isStripped ? 0 : 1, events: parcel.eventCount(for: subscription)))
            case .hole: break
            }
        }
    }

    private mutating func count(_ new: Lost) {
        hole.batches += new.batches
        hole.events += new.events
        lost.batches += new.batches
        lost.events += new.events
    }
}
