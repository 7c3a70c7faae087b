#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Closed until somebody opens it: how a test makes a thread wait for just as long as it needs.
///
/// `@unchecked Sendable`: the state is touched only under the mutex, and the pthread objects lie in raw memory because they must
/// never move.
public final class Gate: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let variable: UnsafeMutablePointer<pthread_cond_t>
    private var isOpened: Bool
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// A closed gate, unless told otherwise.
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

    /// Whether it has been opened.
    public var isOpen: Bool {
        locked { isOpened }
    }

    /// Lets everybody through, now and later.
    public func open() {
        let released = locked {
            isOpened = true
            pthread_cond_broadcast(variable)
            defer { waiting = [] }
            return waiting
        }
        for continuation in released { continuation.resume() }
    }

    /// Blocks the thread until the gate is open. For a thread of one's own, never for one of the cooperative pool.
    public func wait() {
        locked {
            while !isOpened { pthread_cond_wait(variable, mutex) }
        }
    }

    /// Suspends until the gate is open.
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
