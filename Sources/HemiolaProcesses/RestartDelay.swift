/// The pause before a program that failed is started again: longer after each failure, and short again after a run of ten seconds.
public struct RestartDelay: Sendable {
    /// Seconds; the last one repeats.
    static let pauses = [0.1, 0.2, 0.5, 1, 2, 5, 10]
    /// Seconds of a run after which the next failure counts as the first.
    public static let longRun = 10.0

    private var failures = 0
    private var startTime = 0.0
    /// When the program may be started, in seconds on the monotonic clock.
    public private(set) var nextStart = 0.0

    /// No failure yet.
    public init() {}

    /// Notes that the program was started.
    public mutating func noteStart(at time: Double) {
        startTime = time
    }

    /// Notes that the program failed.
    ///
    /// - Returns: Seconds until it may be started again.
    public mutating func noteFailure(at time: Double) -> Double {
        if time - startTime >= Self.longRun { failures = 0 }
        let pause = Self.pauses[min(failures, Self.pauses.count - 1)]
        failures += 1
        nextStart = time + pause
        return pause
    }
}
