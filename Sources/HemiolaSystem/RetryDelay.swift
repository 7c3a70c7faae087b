/// The pauses between attempts to reach a destination that is gone: those of the engine for sinks, and of sinks that reconnect themselves.
public enum RetryDelay {
    private static let pauses = [0.1, 0.2, 0.5, 1, 2]

    /// Seconds to wait after a number of failed attempts.
    ///
    /// - Parameter attempts: Failed attempts so far, 1…; 0.1 s after the first, at most 2 s.
    public static func seconds(after attempts: Int) -> Double {
        pauses[min(max(attempts, 1), pauses.count) - 1]
    }
}
