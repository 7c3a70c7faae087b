internal import Hemiola
internal import Synchronization

/// A part of the streams of a run, in their order.
enum StreamItem: Sendable {
    case begin(StreamHeader)
    /// Consecutive batches.
    case batches(BatchBlock)
    /// Events of the current stream that are written without a batch, such as a lost device.
    case events([Event])
    case end(StreamSummary)
    /// The end of an input, after its streams.
    case inputEnd(InputCompletion)
}

extension StreamItem {
    /// Its part of the capacity of a queue. The writer never waits to add an item of size 0.
    var size: Int {
        switch self {
        case .batches, .events, .inputEnd: 1
        case .begin, .end: 0
        }
    }

    /// What is lost if the item is not read.
    var loss: QueueLoss {
        if case .batches(let block) = self { QueueLoss(batches: Int64(block.count)) } else { QueueLoss() }
    }
}

/// Receives the streams of an input, in order. Used by the thread that analyses the input.
protocol StreamReceiver: AnyObject {
    /// Whether any sink still has a reader.
    var hasReader: Bool { get }

    /// Calls a function in the order of the items: at once, or when the turn of the input has come. Thread-safe.
    var inTurn: @Sendable (@escaping @Sendable () -> Void) -> Void { get }

    func receive(_ item: StreamItem)
    /// Applies the clients' controls to the stream: once per batch, between two batches, and while the source pauses.
    ///
    /// - Returns: Whether the sinks are still to get what the controls have changed, with the next batches or events.
    @discardableResult func applyControls(to stream: any StreamProducer) -> Bool
}

/// The end of an input, which is complete when every sink has written the last records of the input.
final class InputCompletion: Sendable {
    /// The end of the analysis.
    let end: InputEnd
    /// Whether a failure of the input does not count.
    let isSkippable: Bool
    private let state: Mutex<(end: InputEnd, sinks: Int)>
    private let complete: @Sendable (InputEnd) -> Void

    /// - Parameters:
    ///   - sinks: The number of sinks.
    ///   - complete: Receives the end, on the thread of the last sink.
    init(_ end: InputEnd, isSkippable: Bool, sinks: Int, complete: @escaping @Sendable (InputEnd) -> Void) {
        self.end = end
        self.isSkippable = isSkippable
        state = Mutex((end, sinks))
        self.complete = complete
    }

    /// Notes that a sink has written the input, or was skipped. Without sinks, call it once.
    ///
    /// - Parameter error: Why the result cannot be written; nil: it is.
    func sinkHasEnded(_ error: String? = nil) {
        let end = state.withLock { state -> InputEnd? in
            if let error {
                // Nothing of the input is left, also if only a part of it could be read.
                state.end.error = state.end.error ?? error
                state.end.streamCount = 0
            }
            state.sinks -= 1
            return state.sinks <= 0 ? state.end : nil
        }
        if let end { complete(end) }
    }
}
