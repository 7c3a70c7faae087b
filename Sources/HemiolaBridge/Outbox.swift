internal import NIOCore

/// What waits for a client that does not read as fast as it should: bounded, in order, the newest wins.
///
/// At most eight batches wait; of an older one only the events stay, and it counts as lost. At most 1024 slots wait in all;
/// then the oldest goes.
struct Outbox {
    enum Slot {
        /// A batch's lines for the subscription under which it came; without those that are lost, when it is stripped.
        case parcel(Parcel, Subscription, isStripped: Bool)
        /// A line for this client alone.
        case own(ByteBuffer)
        /// So many batches are missing here.
        case hole(batches: Int)
    }

    static let batchCapacity = 8
    static let slotCapacity = 1024

    private var slots: [Slot] = []
    /// Slots with a batch that is not stripped.
    private var batchCount = 0
    /// Batches lost since the client was last told.
    private var hole = 0
    /// Batches lost in all.
    private(set) var lost = 0

    var isEmpty: Bool { slots.isEmpty && hole == 0 }
    var count: Int { slots.count }

    mutating func add(_ parcel: Parcel, for subscription: Subscription) {
        let isPaced = parcel.hasPaced(subscription)
        guard isPaced || parcel.hasEvents(subscription) else { return }
        slots.append(.parcel(parcel, subscription, isStripped: !isPaced))
        if isPaced {
            batchCount += 1
            if batchCount > Self.batchCapacity { stripOldest() }
        }
        trim()
    }

    mutating func add(_ line: ByteBuffer) {
        slots.append(.own(line))
        trim()
    }

    /// What is to be sent next; nil when there is nothing.
    mutating func next() -> Slot? {
        var isPaced = false
        if case .parcel(_, _, isStripped: false)? = slots.first { isPaced = true }
        if hole > 0, isPaced || slots.isEmpty {
            defer { hole = 0 }
            return .hole(batches: hole)
        }
        if slots.isEmpty { return nil }
        if isPaced { batchCount -= 1 }
        return slots.removeFirst()
    }

    private mutating func stripOldest() {
        guard
            let oldest = slots.firstIndex(where: { if case .parcel(_, _, isStripped: false) = $0 { true } else { false } }),
            case .parcel(let parcel, let subscription, _) = slots[oldest]
        else { return }
        if parcel.hasEvents(subscription) {
            slots[oldest] = .parcel(parcel, subscription, isStripped: true)
        } else {
            slots.remove(at: oldest)
        }
        batchCount -= 1
        countLoss()
    }

    private mutating func trim() {
        guard slots.count > Self.slotCapacity else { return }
        if case .parcel(_, _, isStripped: false) = slots[0] { batchCount -= 1 }
        slots.removeFirst()
        countLoss()
    }

    private mutating func countLoss() {
        hole += 1
        lost += 1
    }
}
