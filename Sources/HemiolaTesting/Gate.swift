internal import Glibc

/// Blocks threads and suspends tasks until it is opened: a one-time event. Thread-safe.
///
///     let gate = Gate()
///     let sink = CollectingSink(gate: gate)   // every write of the sink blocks
///     …
///     gate.open()
///
/// `@unchecked Sendable`: the state is accessed only under the mutex; the pthread objects are in raw memory because they must not
/// move.
public final class Gate: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let variable: UnsafeMutablePointer<pthread_cond_t>
    private var isOpened: Bool
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// A gate, closed by default.
    public init(isOpen: Bool = false) {
        isOpened = isOpen
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        variable = .allocate(capacity: 1)
        variable.initialize(to: pthread_cond_t())
        pthread_cond_init(variable, nil)
    }

    deinit {
        pthread_cond_destroy(variable)
        pthread_mutex_destroy(mutex)
        variable.deallocate()
        mutex.deallocate()
    }

    /// Whether the gate was opened.
    public var isOpen: Bool {
        locked { isOpened }
    }

    /// Opens the gate for ever: resumes all waiting threads and tasks.
    public func open() {
        let released = locked {
            isOpened = true
            pthread_cond_broadcast(variable)
            defer { waiting = [] }
            return waiting
        }
        for continuation in released { continuation.resume() }
    }

    /// Blocks the thread until the gate is open. Not for threads of Swift's cooperative pool: use `opened()` there.
    public func wait() {
        locked {
            while !isOpened { pthread_cond_wait(variable, mutex) }
        }
    }

    /// Suspends the task until the gate is open.
    public func opened() async {
        await withCheckedContinuation { continuation in
            let isFree = locked {
                if !isOpened { waiting.append(continuation) }
                return isOpened
            }
            if isFree { continuation.resume() }
        }
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}
