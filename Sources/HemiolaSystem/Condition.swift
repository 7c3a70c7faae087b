internal import Glibc

/// A mutex and its condition variable, which the standard library does not have together. A wait can end at a monotonic time.
///
/// `@unchecked Sendable`, and raw memory, because a pthread object must never move.
package final class Condition: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let variable: UnsafeMutablePointer<pthread_cond_t>

    package init() {
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        variable = .allocate(capacity: 1)
        variable.initialize(to: pthread_cond_t())
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(variable, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(variable)
        pthread_mutex_destroy(mutex)
        variable.deallocate()
        mutex.deallocate()
    }

    package func lock() { pthread_mutex_lock(mutex) }
    package func unlock() { pthread_mutex_unlock(mutex) }
    package func wait() { pthread_cond_wait(variable, mutex) }
    package func signal() { pthread_cond_signal(variable) }
    package func broadcast() { pthread_cond_broadcast(variable) }

    /// Waits until a ``MonotonicTime``, a signal or a broadcast.
    package func wait(until time: Double) {
        let seconds = max(0, time).rounded(.down)
        var limit = timespec(tv_sec: Int(seconds), tv_nsec: Int((max(0, time) - seconds) * 1e9))
        pthread_cond_timedwait(variable, mutex, &limit)
    }

    package func locked<Result>(_ body: () -> Result) -> Result {
        lock()
        defer { unlock() }
        return body()
    }
}
