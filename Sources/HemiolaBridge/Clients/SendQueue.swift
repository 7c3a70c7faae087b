internal import NIOCore

/// What waits for a client that does not read fast enough, in order.
///
/// Batches are dropped: at most eight whole ones wait. Of an older one only the events are kept, and it counts as dropped. Beyond 1024
/// entries or 1 MiB the oldest events are dropped and counted too. Lines and calls are never dropped: the owner disconnects a client
/// that leaves more than ``unreadLimit`` of them unread.
struct SendQueue {
    enum Entry {
        case batch(BatchLines)
        /// A line for this client only.
        case line(ByteBuffer)
        /// The position of dropped lines.
        case dropped(DropCount)

        fileprivate var isBatch: Bool { if case .batch = self { true } else { false } }
        fileprivate var isWholeBatch: Bool { if case .batch(let lines) = self { lines.isWhole } else { false } }

        fileprivate var byteCount: Int {
            switch self {
            case .batch(let lines): lines.byteCount
            case .line(let line): line.readableBytes
            case .dropped: 0
            }
        }
    }

    struct DropCount: Equatable {
        var batches = 0
        var events = 0

        var isZero: Bool { batches == 0 && events == 0 }

        static func + (lhs: DropCount, rhs: DropCount) -> DropCount {
            DropCount(batches: lhs.batches + rhs.batches, events: lhs.events + rhs.events)
        }
    }

    static let batchCapacity = 8
    static let entryCapacity = 1024
    /// Maximum number of bytes of batches and events.
    static let byteCapacity = 1 << 20
    /// Maximum number of bytes of lines and calls.
    static let unreadLimit = 4 << 20

    private var entries: [Entry] = []
    /// Messages of calls, which are sent when no entry waits: samples have precedence. A number is that of the call whose progress the
    /// line reports, or that of the tabs: a later line with this number takes its place.
    private var calls: [(line: ByteBuffer, number: Int?)] = []
    private var batchCount = 0
    private var wholeBatchCount = 0
    private var batchBytes = 0
    /// The number of bytes of lines and calls.
    private(set) var unreadBytes = 0
    /// Dropped since the last `dropped` line to the client.
    private var untold = DropCount()
    /// Dropped since the last report to the pipeline.
    private var unreported = DropCount()
    /// Stream time in seconds of the last report that became a record.
    private var lastReportTime = -Double.infinity
    /// Whether reports after it wait for the next record.
    private var hasOngoingReport = false

    var isEmpty: Bool { entries.isEmpty && calls.isEmpty && untold.isZero }
    var count: Int { entries.count }

    mutating func append(_ lines: BatchLines) {
        if lines.isEmpty { return }
        insert(lines, at: entries.count)
        if wholeBatchCount > Self.batchCapacity { reduceOldestBatch() }
        while batchCount > Self.entryCapacity || batchBytes > Self.byteCapacity,
            let oldest = entries.firstIndex(where: \.isBatch)
        {
            dropBatch(at: oldest)
        }
    }

    mutating func append(_ line: ByteBuffer) {
        entries.append(.line(line))
        unreadBytes += line.readableBytes
    }

    /// Adds lines before all that wait.
    mutating func prepend(_ lines: [ByteBuffer]) {
        entries.insert(contentsOf: lines.map { .line($0) }, at: 0)
        unreadBytes += lines.reduce(0) { $0 + $1.readableBytes }
    }

    mutating func append(call line: ByteBuffer, replacing number: Int?) {
        unreadBytes += line.readableBytes
        if let number, let index = calls.firstIndex(where: { $0.number == number }) {
            unreadBytes -= calls[index].line.readableBytes
            calls[index].line = line
        } else {
            calls.append((line, number))
        }
    }

    /// Removes and returns the next entry; nil if the queue is empty.
    mutating func next() -> Entry? {
        if !untold.isZero, entries.first?.isWholeBatch != false {
            defer { untold = DropCount() }
            return .dropped(untold)
        }
        if !entries.isEmpty { return remove(at: 0) }
        guard !calls.isEmpty else { return nil }
        let line = calls.removeFirst().line
        unreadBytes -= line.readableBytes
        return .line(line)
    }

    /// Removes all entries, without counting them as dropped.
    mutating func removeAll() {
        (entries, calls, untold) = ([], [], DropCount())
        (batchCount, wholeBatchCount, batchBytes, unreadBytes) = (0, 0, 0, 0)
    }

    /// The drops to report to the pipeline; nil: none. They become a record once per second of stream time, and at its end; the reports
    /// between are ongoing.
    ///
    /// - Parameter time: Stream time in seconds, which begins at 0 in a new stream; infinity: the client leaves.
    mutating func takeReport(at time: Double) -> (drops: DropCount, isOngoing: Bool)? {
        let isDue = time - lastReportTime >= 1 || time < lastReportTime
        guard !unreported.isZero || isDue && hasOngoingReport else { return nil }
        defer {
            unreported = DropCount()
            hasOngoingReport = !isDue
            if isDue { lastReportTime = time }
        }
        return (unreported, !isDue)
    }

    private mutating func remove(at index: Int) -> Entry {
        let entry = entries.remove(at: index)
        if entry.isWholeBatch { wholeBatchCount -= 1 }
        if entry.isBatch {
            batchCount -= 1
            batchBytes -= entry.byteCount
        } else {
            unreadBytes -= entry.byteCount
        }
        return entry
    }

    private mutating func insert(_ lines: BatchLines, at index: Int) {
        entries.insert(.batch(lines), at: index)
        batchCount += 1
        if lines.isWhole { wholeBatchCount += 1 }
        batchBytes += lines.byteCount
    }

    /// Replaces the oldest whole batch by its events.
    private mutating func reduceOldestBatch() {
        guard let oldest = entries.firstIndex(where: \.isWholeBatch), case .batch(var lines) = remove(at: oldest) else { return }
        lines.keepOnlyEvents()
        if !lines.isEmpty { insert(lines, at: oldest) }
        countDrops(DropCount(batches: 1))
    }

    private mutating func dropBatch(at index: Int) {
        guard case .batch(let lines) = remove(at: index) else { return }
        countDrops(DropCount(batches: lines.isWhole ? 1 : 0, events: lines.events.count))
    }

    private mutating func countDrops(_ new: DropCount) {
        untold = untold + new
        unreported = unreported + new
    }
}
