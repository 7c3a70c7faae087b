internal import HemiolaSystem

/// Blocks threads until it is opened: a one-time event. Thread-safe.
///
///     let gate = Gate()
///     let sink = CollectingSink(gate: gate)   // every write of the sink blocks
///     …
///     gate.open()
public final class Gate: Sendable {
    private let opening = Future<Void>()

    /// A gate, closed by default.
    public init(isOpen: Bool = false) {
        if isOpen { open() }
    }

    /// Whether the gate was opened.
    public var isOpen: Bool { opening.value(within: 0) != nil }

    /// Opens the gate for ever: resumes all waiting threads.
    public func open() { opening.complete(()) }

    /// Blocks the thread until the gate is open. Not for threads of Swift's cooperative pool.
    public func wait() {
        while opening.value(within: 60) == nil {}
    }
}
