public import HemiolaSystem
import Synchronization

/// A clock whose time passes when the test says so, and while somebody sleeps: a sleep ends at once, at its time.
public final class VirtualClock: MonotonicClock {
    private let time: Mutex<Double>

    public init(_ start: Double = 1000) {
        time = Mutex(start)
    }

    public var now: Double { time.withLock { $0 } }

    public func sleep(until end: Double) { advance(to: end) }

    /// Moves the clock to a time that it has not reached yet.
    public func advance(to end: Double) {
        time.withLock { $0 = max($0, end) }
    }

    public func advance(by seconds: Double) {
        time.withLock { $0 += seconds }
    }
}
