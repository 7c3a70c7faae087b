internal import Hemiola
internal import HemiolaSignal

/// Between a thread that analyses an input ahead of its turn and the one that hands the streams on: bounded, in order, and
/// nothing is lost.
///
/// `@unchecked Sendable`: everything below the lock is touched only under it.
final class Lane: StreamReceiver, @unchecked Sendable {
    enum Item: Sendable {
        case source(StreamSource, input: Int)
        case begin(StreamHeader)
        case block(BatchBlock)
        case events([Event])
        case end(StreamSummary)
        case notice(PipelineNotice)
        case failure(PipelineNotice)
    }

    /// Bytes of batches that wait at most: some twenty minutes of the default features.
    private static let capacity = 8 << 20

    private let condition = Condition()
    private var items: [Item] = []
    private var size = 0
    private var isFinished = false
    private var isAbandoned = false

    // MARK: - The thread that analyses

    var isHeard: Bool { condition.locked { !isAbandoned } }

    /// From a file nothing is lost.
    var losses: [(sink: String, batches: Int64)] { [] }

    func open(_ source: StreamSource, input: Int) { put(.source(source, input: input)) }
    func begin(_ header: StreamHeader) { put(.begin(header)) }
    func receive(_ block: BatchBlock) { put(.block(block)) }
    func receive(_ events: [Event]) { put(.events(events)) }
    func end(_ summary: StreamSummary) { put(.end(summary)) }
    func report(_ notice: PipelineNotice) { put(.notice(notice)) }
    var reporter: @Sendable (PipelineNotice) -> Void { { [self] in report($0) } }
    func fail(_ notice: PipelineNotice) { put(.failure(notice)) }

    /// Whoever wishes something speaks of what is heard now, not of this.
    func visit(_ stream: StreamAnalysis) {}

    func sendReplies() {}

    /// Nothing more comes.
    func finish() {
        condition.locked { isFinished = true }
        condition.broadcast()
    }

    private func put(_ item: Item) {
        condition.lock()
        while size >= Self.capacity && !isAbandoned { condition.wait() }
        if !isAbandoned {
            items.append(item)
            size += item.size
        }
        condition.unlock()
        condition.broadcast()
    }

    // MARK: - The thread that hands on

    /// The next item, or nil when all was read and nothing more comes. Waits for it.
    func next() -> Item? {
        condition.lock()
        while items.isEmpty && !isFinished { condition.wait() }
        let item = items.isEmpty ? nil : items.removeFirst()
        size -= item?.size ?? 0
        condition.unlock()
        condition.broadcast()
        return item
    }

    /// The reader wants no more.
    func abandon() {
        condition.locked {
            isAbandoned = true
            items.removeAll()
        }
        condition.broadcast()
    }
}

extension Lane.Item {
    /// Bytes that it holds, roughly.
    fileprivate var size: Int {
        switch self {
        case .block(let block): block.storage.byteCount
        case .events(let events): events.count * MemoryLayout<Event>.stride
        default: 0
        }
    }
}
