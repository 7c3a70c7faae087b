/// Until when a call to the system, or the wait for another process, may take. It passes by the clock of the system alone: no given clock moves
/// what is waited for.
public struct Deadline: Sendable {
    private let time: Double

    /// Begins now.
    ///
    /// - Parameter seconds: How long it lasts.
    public init(after seconds: Double) {
        time = MonotonicTime.now + seconds
    }

    /// Seconds until the deadline; 0 or less: it has passed.
    public var rest: Double { time - MonotonicTime.now }

    /// Whether no time is left.
    public var hasPassed: Bool { rest <= 0 }
}
