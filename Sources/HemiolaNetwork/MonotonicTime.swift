#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The two clocks of the system. Outputs only: nothing that is analysed depends on them.
public enum MonotonicTime {
    /// Seconds of the clock that is never set.
    public static var now: Double { read(CLOCK_MONOTONIC) }

    /// What has to be added to a monotonic time to get seconds since 1970.
    public static var wallClockOffset: Double { read(CLOCK_REALTIME) - read(CLOCK_MONOTONIC) }

    private static func read(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}

/// Converts stream time to monotonic time.
///
/// A batch reaches a sink some time after its end: the shortest such delay is the closest to the truth, because every thread can only add to
/// it. The estimate follows the sound card's clock, which differs from the system's by less than ``drift``.
public struct StreamClock: Sendable {
    /// The largest difference of the two clocks: 1 s in 2000 s, several times that of a cheap sound card.
    public static let drift = 0.0005
    /// A delay that is longer than the estimate by this many seconds is a pause of the stream, not of a thread: the estimate begins anew.
    static let pause = 0.5

    private var offset = Double.nan
    private var last = 0.0

    /// A clock without an estimate.
    public init() {}

    /// Notes that a batch has arrived.
    ///
    /// - Parameters:
    ///   - end: The end of the batch, in seconds of stream time.
    ///   - now: The monotonic time.
    public mutating func note(batchEnd end: Double, at now: Double) {
        let observed = now - end
        if offset.isNaN || observed > offset + Self.pause {
            offset = observed
        } else {
            offset = min(offset + max(0, now - last) * Self.drift, observed)
        }
        last = now
    }

    /// The monotonic time at which a time of the stream is due; nil before the first batch.
    public func time(of streamTime: Double) -> Double? {
        offset.isNaN ? nil : streamTime + offset
    }
}
