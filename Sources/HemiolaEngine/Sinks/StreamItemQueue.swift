internal import Hemiola
internal import HemiolaRecords
internal import HemiolaSystem

/// The queue between a thread that analyses an input ahead of its turn and the thread that passes the streams on: bounded, in order,
/// lossless.
///
/// `@unchecked Sendable`: everything below the lock is touched only under it.
final class StreamItemQueue: StreamReceiver, @unchecked Sendable {
    enum Item: Sendable {
        case source(StreamSource, input: Int)
        case begin(StreamHeader)
        case block(BatchBlock)
        case events([Event])
        case end(StreamSummary)
        case inputEnd(InputEnd, of: SourceInput?)
        case notice(PipelineNotice)
        case failure(PipelineNotice)
    }

    /// Maximum size of waiting batches, in bytes: about twenty minutes of the default features.
    private static let capacity = 8 << 20

    private let condition = Condition()
    private var items: [Item] = []
    private var size = 0
    private var isFinished = false
    private var isAbandoned = false

    // MARK: - The thread that analyses

    var hasReaders: Bool { condition.locked { !isAbandoned } }

    /// Always empty: files have no losses.
    var losses: [(sink: String, batches: Int64)] { [] }

    func open(_ source: StreamSource, input: Int) { put(.source(source, input: input)) }
    func begin(_ header: StreamHeader) { put(.begin(header)) }
    func receive(_ block: BatchBlock) { put(.block(block)) }
    func receive(_ events: [Event]) { put(.events(events)) }
    func end(_ summary: StreamSummary) { put(.end(summary)) }
    func end(_ input: InputEnd, of source: SourceInput?) { put(.inputEnd(input, of: source)) }
    func report(_ notice: PipelineNotice) { put(.notice(notice)) }
    var reporter: @Sendable (PipelineNotice) -> Void { { [self] in report($0) } }
    func fail(_ notice: PipelineNotice) { put(.failure(notice)) }

    /// Controls concern the stream that is being written, not one that is analysed ahead.
    func applyControls(to stream: any ControllableStream) {}

    func sendReplies() {}

    /// The input is complete.
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

    // MARK: - The thread that passes on

    /// Waits for the next item; nil at the end.
    func next() -> Item? {
        condition.lock()
        while items.isEmpty && !isFinished { condition.wait() }
        let item = items.isEmpty ? nil : items.removeFirst()
        size -= item?.size ?? 0
        condition.unlock()
        condition.broadcast()
        return item
    }

    /// The reader has stopped.
    func abandon() {
        condition.locked {
            isAbandoned = true
            items.removeAll()
        }
        condition.broadcast()
    }
}

extension StreamItemQueue.Item {
    /// The approximate size in bytes.
    fileprivate var size: Int {
        switch self {
        case .block(let block): block.storage.byteCount
        case .events(let events): events.count * MemoryLayout<Event>.stride
        default: 0
        }
    }
}
