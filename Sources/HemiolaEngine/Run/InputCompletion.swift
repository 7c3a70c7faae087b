internal import HemiolaRecords
internal import Synchronization

/// The end of an input, which is complete when every sink has written the last records of the input.
final class InputCompletion: Sendable {
    private let state: Mutex<(end: InputEnd, sinks: Int)>
    private let complete: @Sendable (InputEnd) -> Void

    /// - Parameters:
    ///   - sinks: The number of sinks, of which there is one at least.
    ///   - complete: Receives the end, on the thread of the last sink.
    init(_ end: InputEnd, sinks: Int, complete: @escaping @Sendable (InputEnd) -> Void) {
        state = Mutex((end, sinks))
        self.complete = complete
    }

    /// Notes that a sink has written the input, or was skipped.
    ///
    /// - Parameter error: Why the result cannot be written; nil: it is.
    func sinkHasEnded(_ error: String? = nil) {
        let end = state.withLock { state -> InputEnd? in
            if let error {
                // Nothing of the input is left, also if only a part of it could be read.
                (state.end.error, state.end.streamCount) = (state.end.error ?? error, 0)
            }
            state.sinks -= 1
            return state.sinks == 0 ? state.end : nil
        }
        if let end { complete(end) }
    }
}
