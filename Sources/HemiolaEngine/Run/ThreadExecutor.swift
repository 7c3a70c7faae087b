internal import Glibc
internal import Hemiola
internal import HemiolaSystem

/// Lowers the priority of the calling thread (nice 10), so that other threads run first when processors are busy.
func yieldToOtherThreads() {
    // On Linux 0 is the calling thread, not the process.
    _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 10)
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
