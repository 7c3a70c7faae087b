import Foundation

/// A value that other threads change, and for whose state a test waits.
public final class Watched<Value: Sendable>: @unchecked Sendable {
    // Unchecked: the variables are used under the lock of the condition only.
    private let condition = NSCondition()
    private var current: Value
    private var changes = 0

    public init(_ value: Value) {
        current = value
    }

    public var value: Value { condition.withLock { current } }

    public func change(_ body: (inout Value) -> Void) {
        condition.withLock {
            body(&current)
            changes += 1
            condition.broadcast()
        }
    }

    /// Waits until a condition holds, and checks it again after each change.
    ///
    /// - Parameters:
    ///   - isMet: The condition.
    ///   - seconds: After which it does not hold any more: only a test that fails waits for so long.
    /// - Returns: Whether it holds.
    public func wait(until isMet: (Value) throws -> Bool, before seconds: Double = 60) rethrows -> Bool {
        let end = Date(timeIntervalSinceNow: seconds)
        while true {
            let (value, seen) = condition.withLock { (current, changes) }
            if try isMet(value) { return true }
            let hasChanged = condition.withLock {
                while changes == seen, condition.wait(until: end) {}
                return changes != seen
            }
            if !hasChanged { return false }
        }
    }
}
