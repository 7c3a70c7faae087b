internal import HemiolaRecords

/// What a bridge counts for its metrics. The sink's thread counts; each batch takes a copy to the event loop.
struct BridgeCounters: Sendable {
    /// Duration in seconds of the intervals of the minimum: short, so that a drift of the sound card's clock (up to 100 ppm) adds less
    /// than 6 ms to the latency; long enough to contain batches that were not delayed.
    private static let interval = 30.0

    /// Batches since the sink was opened.
    private(set) var batches = 0
    /// Gaps in the audio, and their total length in seconds.
    private(set) var gaps = 0
    private(set) var gapSeconds = 0.0
    /// Batches that were dropped, by the name of the sink that dropped them.
    private(set) var droppedBatches: [String: Int] = [:]
    /// Delay of the newest batch in seconds; nil before the first batch of a stream.
    private(set) var latency: Double?

    /// The minimum difference of clock and stream time in seconds: of the current interval, and of the one before.
    private var minimum = Double.infinity
    private var previousMinimum = Double.infinity
    /// The clock at the end of the current interval.
    private var intervalEnd = 0.0

    mutating func beginStream() {
        latency = nil
        (minimum, previousMinimum, intervalEnd) = (.infinity, .infinity, 0)
    }

    /// - Parameters:
    ///   - end: Stream time of the end of the batch, in seconds.
    ///   - now: The monotonic clock in seconds.
    mutating func countBatch(endingAt end: Double, now: Double) {
        batches += 1
        if now >= intervalEnd {
            intervalEnd = now + Self.interval
            (previousMinimum, minimum) = (minimum, .infinity)
        }
        minimum = min(minimum, now - end)
        latency = now - end - min(minimum, previousMinimum)
    }

    mutating func countGap(seconds: Double) {
        gaps += 1
        gapSeconds += seconds
    }

    mutating func count(_ drop: DropReport) {
        droppedBatches[drop.sink, default: 0] += drop.batches
    }
}
