internal import Hemiola

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Lowers the priority of the calling thread (nice 10), so that other threads run first when processors are busy.
func yieldToOtherThreads() {
    // On Linux 0 is the calling thread, not the process.
    #if canImport(Glibc)
        _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
    #else
        _ = setpriority(Int32(PRIO_PROCESS), 0, 10)
    #endif
}

/// A serial executor with its own thread: an actor on it may block without delaying other actors.
///
/// `@unchecked Sendable`: the job queue is touched only under the lock.
final class ThreadExecutor: SerialExecutor, @unchecked Sendable {
    private let condition = Condition()
    private var jobs: [UnownedJob] = []
    private var isStopped = false

    init() {
        jobs.reserveCapacity(64)
        startThread { [self] in work() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        condition.locked { jobs.append(job) }
        condition.signal()
    }

    /// Ends the thread when its queue is empty.
    func stop() {
        condition.locked { isStopped = true }
        condition.signal()
    }

    private func work() {
        while true {
            condition.lock()
            while jobs.isEmpty && !isStopped { condition.wait() }
            guard !jobs.isEmpty else {
                condition.unlock()
                return
            }
            let job = jobs.removeFirst()
            condition.unlock()
            job.runSynchronously(on: asUnownedSerialExecutor())
        }
    }
}

/// A mutex and its condition variable, which the standard library does not have together.
///
/// `@unchecked Sendable`, and raw memory, because a pthread object must never move.
final class Condition: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let variable: UnsafeMutablePointer<pthread_cond_t>

    init() {
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

    func lock() { pthread_mutex_lock(mutex) }
    func unlock() { pthread_mutex_unlock(mutex) }
    func wait() { pthread_cond_wait(variable, mutex) }
    func signal() { pthread_cond_signal(variable) }
    func broadcast() { pthread_cond_broadcast(variable) }

    func locked<Result>(_ body: () -> Result) -> Result {
        lock()
        defer { unlock() }
        return body()
    }
}
