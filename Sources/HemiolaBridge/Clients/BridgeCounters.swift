internal import HemiolaRecords
internal import Synchronization

/// What a bridge counts for its metrics. Written on the sink's thread, read on the event loop.
final class BridgeCounters: Sendable {
    struct Values: Sendable {
        /// Batches since the sink was opened.
        var batches = 0
        /// Gaps in the audio, and their total length in seconds.
        var gaps = 0
        var gapSeconds = 0.0
        /// Batches that were dropped, by the name of the sink that dropped them.
        var droppedBatches: [String: Int] = [:]
        /// Delay of the newest batch in seconds; nil before the first batch of a stream.
        var latency: Double?
    }

    private struct State {
        var values = Values()
        /// The minimum difference of clock and stream time in seconds: of the current interval, and of the one before.
        var minimum = Double.infinity
        var previousMinimum = Double.infinity
        /// The clock at the end of the current interval.
        var intervalEnd = 0.0
    }

    /// Duration in seconds of the intervals of the minimum: short, so that a drift of the sound card's clock (up to 100 ppm) adds less
    /// than 6 ms to the latency; long enough to contain batches that were not delayed.
    private static let interval = 30.0

    private let state = Mutex(State())

    var values: Values { state.withLock { $0.values } }

    func beginStream() {
        state.withLock { state in
            state.values.latency = nil
            (state.minimum, state.previousMinimum, state.intervalEnd) = (.infinity, .infinity, 0)
        }
    }

    /// - Parameters:
    ///   - end: Stream time of the end of the batch, in seconds.
    ///   - now: The monotonic clock in seconds.
    func countBatch(endingAt end: Double, now: Double) {
        state.withLock { state in
            state.values.batches += 1
            if now >= state.intervalEnd {
                state.intervalEnd = now + Self.interval
                (state.previousMinimum, state.minimum) = (state.minimum, .infinity)
            }
            state.minimum = min(state.minimum, now - end)
            state.values.latency = now - end - min(state.minimum, state.previousMinimum)
        }
    }

    func countGap(seconds: Double) {
        state.withLock { state in
            state.values.gaps += 1
            state.values.gapSeconds += seconds
        }
    }

    func count(_ drop: DropReport) {
        state.withLock { $0.values.droppedBatches[drop.sink, default: 0] += drop.batches }
    }
}
