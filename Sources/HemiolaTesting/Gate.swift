internal import HemiolaSystem

/// Blocks threads and suspends tasks until it is opened: a one-time event. Thread-safe.
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
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// A gate, closed by default.
    public init(isOpen: Bool = false) {
        isOpened = isOpen
    }

    /// Whether the gate was opened.
    public var isOpen: Bool {
        condition.locked { isOpened }
    }

    /// Opens the gate for ever: resumes all waiting threads and tasks.
    public func open() {
        let released = condition.locked {
            isOpened = true
            condition.broadcast()
            defer { waiting = [] }
            return waiting
        }
        for continuation in released { continuation.resume() }
    }

    /// Blocks the thread until the gate is open. Not for threads of Swift's cooperative pool: use `opened()` there.
    public func wait() {
        condition.locked {
            while !isOpened { condition.wait() }
        }
    }

    /// Suspends the task until the gate is open.
    public func opened() async {
        await withCheckedContinuation { continuation in
            let isFree = condition.locked {
                if !isOpened { waiting.append(continuation) }
                return isOpened
            }
            if isFree { continuation.resume() }
        }
    }
}
