/// Converts stream times to times of the monotonic clock.
///
/// A batch arrives at the end of its sound or later, by the delays of the capture and of threads. The shortest delay of the last batches
/// is taken for all of them, so that the times have no jitter.
struct StreamTimer {
    /// Duration in seconds of the intervals of the shortest delay: short, so that a drift of the sound card's clock (up to 100 ppm) adds
    /// less than 2 ms; long enough to contain batches that were not delayed.
    private static let interval = 10.0

    /// Clock minus stream time, in seconds: the smallest of the current interval, and of the one before.
    private var minimum = Double.infinity
    private var previousMinimum = Double.infinity
    private var intervalEnd = 0.0

    /// Adds a batch.
    ///
    /// - Parameters:
    ///   - end: Stream time of its end, in seconds.
    ///   - now: The monotonic clock when it arrived.
    mutating func add(end: Double, now: Double) {
        if now >= intervalEnd {
            intervalEnd = now + Self.interval
            (previousMinimum, minimum) = (minimum, .infinity)
        }
        minimum = min(minimum, now - end)
    }

    /// The monotonic clock when a batch that ends at a stream time arrives; nil before the first batch.
    func clock(at time: Double) -> Double? {
        let offset = min(minimum, previousMinimum)
        return offset.isFinite ? time + offset : nil
    }
}
