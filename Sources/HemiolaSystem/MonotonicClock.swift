/// Monotonic seconds, which are given to whatever waits or tells the time: those of the system, or those of a test, which pass when it says.
public protocol MonotonicClock: Sendable {
    /// Seconds of a clock that is never set.
    var now: Double { get }
    /// Blocks the thread until a time has come.
    func sleep(until time: Double)
}

/// The clock of the system.
public struct SystemClock: MonotonicClock {
    /// The clock of the system.
    public init() {}

    public var now: Double { MonotonicTime.now }

    public func sleep(until time: Double) { MonotonicTime.sleep(for: time - now) }
}

extension MonotonicClock {
    /// Blocks the thread for some seconds.
    public func sleep(for seconds: Double) { sleep(until: now + seconds) }
}

extension MonotonicClock where Self == SystemClock {
    /// The clock of the system.
    public static var system: SystemClock { SystemClock() }
}
