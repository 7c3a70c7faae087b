import HemiolaSystem
import Synchronization

/// A value that other threads change, and for whose state a test waits.
public final class Watched<Value: Sendable>: Sendable {
    private let state: Mutex<(value: Value, changes: Int)>
    /// Signals each change.
    private let condition = Condition()

    public init(_ value: Value) {
        state = Mutex((value, 0))
    }

    public var value: Value { state.withLock(\.value) }

    public func change(_ body: (inout Value) -> Void) {
        condition.locked {
            state.withLock { state in
                body(&state.value)
                state.changes += 1
            }
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
        let deadline = Deadline(after: seconds)
        while true {
            let (value, seen) = state.withLock { ($0.value, $0.changes) }
            if try isMet(value) { return true }
            let hasChanged = condition.locked { condition.wait(within: deadline.rest) { state.withLock(\.changes) == seen } }
            if !hasChanged { return false }
        }
    }
}
