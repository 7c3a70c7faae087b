internal import Glibc

/// A mutex and its condition variable, which the standard library does not have together: threads wait until another one has changed what
/// they share. A thread that waits for a descriptor uses a ``WakeUp``.
///
///     condition.locked { condition.wait(within: 2) { queue.isEmpty } }
///
/// A wait can end without a signal, so what is waited for is checked again, as here. The lock is not recursive: a thread that has it must
/// not take it.
///
/// `@unchecked Sendable`, and raw memory, because a pthread object must never move.
public final class Condition: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let variable: UnsafeMutablePointer<pthread_cond_t>

    /// Unlocked, and nobody waits.
    public init() {
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

    /// Takes the lock. Waits until no other thread has it.
    public func lock() { pthread_mutex_lock(mutex) }

    /// Releases the lock, which this thread has.
    public func unlock() { pthread_mutex_unlock(mutex) }

    /// Waits until a signal or a broadcast. This thread has the lock before and after, and not while it waits.
    public func wait() { pthread_cond_wait(variable, mutex) }

    /// Wakes one of the threads that wait. With or without the lock.
    public func signal() { pthread_cond_signal(variable) }

    /// Wakes all threads that wait. With or without the lock.
    public func broadcast() { pthread_cond_broadcast(variable) }

    /// Waits as ``wait()``, for some seconds at most.
    ///
    /// - Returns: Whether there was a signal.
    @discardableResult
    public func wait(within seconds: Double) -> Bool {
        // Of an infinite wait a number that fits.
        let time = min(max(0, MonotonicTime.now + seconds), Double(Int32.max))
        var limit = timespec(tv_sec: Int(time), tv_nsec: Int(time.truncatingRemainder(dividingBy: 1) * 1e9))
        return pthread_cond_timedwait(variable, mutex, &limit) != ETIMEDOUT
    }

    /// Waits while a condition is met, for some seconds at most.
    ///
    /// - Returns: Whether it is met no more.
    @discardableResult
    public func wait(within seconds: Double, while isMet: () -> Bool) -> Bool {
        let deadline = Deadline(after: seconds)
        while isMet(), wait(within: deadline.rest) {}
        return !isMet()
    }

    /// Takes the lock for a closure.
    public func locked<Result>(_ body: () -> Result) -> Result {
        lock()
        defer { unlock() }
        return body()
    }
}
