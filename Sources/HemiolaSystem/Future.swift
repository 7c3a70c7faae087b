/// A value that one thread sets once, and that others wait for. Thread-safe.
///
/// `@unchecked Sendable`: the value is accessed only under the condition's lock.
package final class Future<Value: Sendable>: @unchecked Sendable {
    private let condition = Condition()
    private var result: Value?

    /// Without a value.
    package init() {}

    /// Sets the value, and wakes all threads that wait for it. A second value is ignored.
    package func complete(_ value: Value) {
        condition.locked {
            if result == nil { result = value }
            condition.broadcast()
        }
    }

    /// Waits for the value.
    ///
    /// - Parameter seconds: The longest wait.
    /// - Returns: nil: there is no value yet.
    package func value(within seconds: Double) -> Value? {
        let end = MonotonicTime.now + seconds
        return condition.locked {
            while result == nil, MonotonicTime.now < end { condition.wait(until: end) }
            return result
        }
    }
}
