/// A value that one thread sets once, and that others wait for. Thread-safe.
///
/// `@unchecked Sendable`: the value is accessed only under the condition's lock.
public final class Future<Value: Sendable>: @unchecked Sendable {
    private let condition = Condition()
    private var result: Value?

    /// Without a value.
    public init() {}

    /// Sets the value, and wakes all threads that wait for it. A second value is ignored.
    public func complete(_ value: Value) {
        condition.locked {
            if result == nil { result = value }
            condition.broadcast()
        }
    }

    /// Waits for the value.
    ///
    /// - Parameter seconds: The longest wait; finite.
    /// - Returns: nil: there is no value yet.
    public func value(within seconds: Double) -> Value? {
        condition.locked {
            condition.wait(within: seconds) { result == nil }
            return result
        }
    }
}
