internal import HemiolaSystem

/// When the parts of a stream are due that is processed at real-time speed. All times are in seconds.
///
/// A part that is late moves the schedule: after a pause of the input, of an output or of this process, the stream goes on at the same
/// speed, that much later. It never makes up for the pause in a burst.
struct RealTimePace {
    /// A shorter delay is jitter of threads and pipes, and does not move the schedule.
    private static let jitter = 0.1
    /// Pauses from which on the user is informed.
    private static let longPause = 2.0
    /// The longest wait in a call.
    private static let longestWait = 0.1

    /// The monotonic clock at the stream's first frame; nil: the first part is due when it comes.
    private var start: Double?
    /// Whether a pause was reported.
    private var isReported = false

    /// The pace of a stream that begins at this time.
    init(start: Double? = nil) {
        self.start = start
    }

    /// The time until a part of the stream is due; 0 or less: it is due.
    func timeUntil(_ streamTime: Double, now: Double) -> Double {
        start.map { $0 + streamTime - now } ?? 0
    }

    /// Waits until a part of the stream is due, but not for long.
    ///
    /// - Returns: Whether it is due.
    func wait(for streamTime: Double, _ clock: any MonotonicClock) -> Bool {
        let wait = timeUntil(streamTime, now: clock.now)
        if wait > 0 { clock.sleep(for: min(wait, Self.longestWait)) }
        return wait <= Self.longestWait
    }

    /// Notes that a part of the stream is there, in time or late.
    ///
    /// - Returns: A message for the user, in words that follow the name of the input: only about the first long pause.
    mutating func note(_ streamTime: Double, now: Double) -> String? {
        guard let start else {
            start = now - streamTime
            return nil
        }
        let delay = now - start - streamTime
        guard delay > Self.jitter else { return nil }
        self.start = start + delay
        guard delay >= Self.longPause, !isReported else { return nil }
        isReported = true
        return "paused for \((delay * 10).rounded() / 10) s; the rest follows in real time, that much later"
    }
}
