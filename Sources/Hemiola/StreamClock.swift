/// Maps stream time to the monotonic clock, from the times at which batches arrive. All times are in seconds.
///
/// A batch arrives no earlier than its audio is complete, and often later, because threads wait for a processor. The mapping is therefore
/// the lower envelope of arrival minus stream time. It rises slowly, because the clocks of sound cards and of the computer differ.
/// Constant cost, no allocation.
public struct StreamClock: Sendable {
    /// Time for which the smallest delay counts at once, because the first batches arrive in groups.
    private static let warmUp = 1.0
    /// Rise of the envelope per second: more than the difference of two usual crystals (50 ppm each). Without an undelayed batch for a
    /// second, the error is 0.15 ms.
    private static let drift = 150e-6
    /// Part of the difference by which an earlier batch lowers the envelope.
    private static let descent = 0.2
    /// A larger difference is no jitter: the stream was interrupted.
    private static let jump = 0.02
    /// Time after which the envelope follows delays that are all longer.
    private static let longestLateTime = 2.0

    /// Monotonic clock minus stream time; nil before the first batch.
    public private(set) var offset: Double?
    private var start = 0.0
    private var last = 0.0
    /// The smallest delay since the envelope was last reached, and that time.
    private var smallestLate = Double.infinity
    private var lateSince = 0.0

    /// A mapping without batches.
    public init() {}

    /// Adds the arrival of a batch.
    ///
    /// - Parameters:
    ///   - end: The end of its audio, in stream time.
    ///   - now: The monotonic clock.
    public mutating func add(end: Double, at now: Double) {
        let delay = now - end
        guard var envelope = offset else {
            (offset, start, last, lateSince) = (delay, now, now, now)
            return
        }
        envelope += max(0, now - last) * Self.drift
        last = now
        if delay <= envelope {
            let isImmediate = now - start < Self.warmUp || envelope - delay > Self.jump
            envelope += (isImmediate ? 1 : Self.descent) * (delay - envelope)
            (smallestLate, lateSince) = (.infinity, now)
        } else {
            smallestLate = min(smallestLate, delay)
            if now - lateSince > Self.longestLateTime {
                if smallestLate - envelope > Self.jump { envelope = smallestLate }
                (smallestLate, lateSince) = (.infinity, now)
            }
        }
        offset = envelope
    }

    /// The monotonic clock at a stream time; nil before the first batch.
    ///
    /// - Parameter streamTime: In seconds.
    public func time(of streamTime: Double) -> Double? { offset.map { $0 + streamTime } }
}
