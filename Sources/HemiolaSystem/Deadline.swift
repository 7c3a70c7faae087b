/// Until when a call to the system, or the wait for another process, may take. It passes by the clock of the system alone: no given clock moves
/// what is waited for.
package struct Deadline: Sendable {
    private let time: Double

    package init(after seconds: Double) {
        time = MonotonicTime.now + seconds
    }

    /// Seconds until the deadline; 0 or less: it has passed.
    package var rest: Double { time - MonotonicTime.now }
    package var hasPassed: Bool { rest <= 0 }
}
