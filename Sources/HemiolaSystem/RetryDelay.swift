/// The pauses between attempts to reach a destination that is gone, or to start a program that fails: longer after each failure.
///
/// A value that reads no clock. Times are in seconds of ``MonotonicTime``.
public struct RetryDelay: Sendable {
    /// Seconds of a run after which the next failure counts as the first.
    public static let longRun = 10.0
    /// Two to three steps per decade.
    private static let steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20]

    /// When the next attempt may be made; 0: at once.
    public private(set) var nextAttempt = 0.0
    private var failures = 0
    private var startTime = Double.infinity
    private let first: Double
    private let longest: Double

    /// No failure yet.
    ///
    /// - Parameters:
    ///   - first: The pause after the first failure, in seconds.
    ///   - longest: The longest pause, in seconds.
    public init(first: Double = 0.1, longest: Double) {
        (self.first, self.longest) = (first, longest)
    }

    /// Notes a failed attempt, or the failure of what was started.
    ///
    /// - Returns: Seconds until the next attempt.
    @discardableResult
    public mutating func noteFailure(at time: Double) -> Double {
        if time - startTime >= Self.longRun { failures = 0 }
        failures += 1
        let pause = Self.seconds(after: failures, first: first, longest: longest)
        nextAttempt = time + pause
        return pause
    }

    /// Notes that a program was started: a failure after a long run is a first one.
    public mutating func noteStart(at time: Double) { startTime = time }

    /// Notes a success: the next failure is a first one, and an attempt may be made at once.
    public mutating func reset() { (failures, nextAttempt) = (0, 0) }

    /// Seconds to wait after a number of failed attempts.
    ///
    /// - Parameters:
    ///   - attempts: Failed attempts so far, 1….
    ///   - first: The pause after the first one.
    ///   - longest: The longest pause.
    public static func seconds(after attempts: Int, first: Double = 0.1, longest: Double = 2) -> Double {
        let pauses = steps.filter { $0 >= first && $0 < longest }
        return attempts <= pauses.count ? pauses[max(attempts, 1) - 1] : longest
    }
}
