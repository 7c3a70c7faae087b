internal import HemiolaSystem

/// Blocks threads until it is opened: a one-time event. Thread-safe.
///
///     let gate = Gate()
///     let sink = CollectingSink(gate: gate)   // every write of the sink blocks
///     …
///     gate.open()
///
/// `@unchecked Sendable`: the state is accessed only under the condition's lock.
public final class Gate: @unchecked Sendable {
    private let condition = Condition()
    private var isOpened: Bool

    /// A gate, closed by default.
    public init(isOpen: Bool = false) {
        isOpened = isOpen
    }

    /// Whether the gate was opened.
    public var isOpen: Bool {
        condition.locked { isOpened }
    }

    /// Opens the gate for ever: resumes all waiting threads.
    public func open() {
        condition.locked {
            isOpened = true
            condition.broadcast()
        }
    }

    /// Blocks the thread until the gate is open. Not for threads of Swift's cooperative pool.
    public func wait() {
        condition.locked {
            while !isOpened { condition.wait() }
        }
    }
}
