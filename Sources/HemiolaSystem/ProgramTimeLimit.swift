/// How long a program may take to read, answer or end.
///
/// In real time, that is time of the clock. While files are analysed, nobody waits for a certain moment, and on a busy machine a program
/// may be late through no fault of its own: there the limit is processor time, of the program and of what it has started. A program that
/// takes next to none for as long has stopped, and exceeds the limit too.
public struct ProgramTimeLimit: Sendable {
    /// A smaller share of a processor than this is that of a program that only looks, again and again, whether there is something to do.
    private static let leastShare = 0.01

    private let seconds: Double
    private let isLive: Bool
    private var deadline: Double
    /// Processor time at the first deadline and at the last one; nil: there was none yet.
    private var used: (first: Double, last: Double)?

    /// A limit that begins now.
    ///
    /// - Parameters:
    ///   - seconds: The limit.
    ///   - isLive: Whether the clock counts.
    ///   - now: Seconds on the monotonic clock.
    public init(_ seconds: Double, isLive: Bool, from now: Double = MonotonicTime.now) {
        (self.seconds, self.isLive) = (seconds, isLive)
        deadline = now + seconds
    }

    /// Whether the program has taken too long. Costs a comparison until the limit has passed by the clock.
    ///
    /// - Parameters:
    ///   - now: Seconds on the monotonic clock.
    ///   - processorTime: Seconds that the program has used since it was started: ``RunningProgram/processorTime``.
    public mutating func isExceeded(at now: Double = MonotonicTime.now, processorTime: @autoclosure () -> Double) -> Bool {
        guard now >= deadline else { return false }
        guard !isLive else { return true }
        let time = processorTime()
        guard let (first, last) = used else {
            used = (time, time)
            deadline = now + seconds
            return false
        }
        let rest = seconds - (time - first)
        if rest <= 0 || time - last < Self.leastShare * (now - deadline + seconds) { return true }
        used = (first, time)
        deadline = now + seconds
        return false
    }
}
