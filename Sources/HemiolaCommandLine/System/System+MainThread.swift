internal import Glibc

extension System {
    /// The main thread as the executor of the command's task.
    ///
    /// An asynchronous `main` would start libdispatch: four threads, an epoll instance and the end of the main thread, for which
    /// glibc loads libgcc_s. That is a tenth of the processor time from start to first record.
    ///
    /// `@unchecked Sendable`, and raw memory, because a pthread object must never move; the job queue is touched only under the lock.
    final class MainThread: TaskExecutor, @unchecked Sendable {
        private let mutex: UnsafeMutablePointer<pthread_mutex_t>
        private let condition: UnsafeMutablePointer<pthread_cond_t>
        private var jobs: [UnownedJob] = []

        /// An executor without jobs. There is one per process, and it is never released.
        init() {
            mutex = .allocate(capacity: 1)
            mutex.initialize(to: pthread_mutex_t())
            pthread_mutex_init(mutex, nil)
            condition = .allocate(capacity: 1)
            condition.initialize(to: pthread_cond_t())
            pthread_cond_init(condition, nil)
        }

        /// Adds a job; from any thread.
        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            pthread_mutex_lock(mutex)
            jobs.append(job)
            pthread_mutex_unlock(mutex)
            pthread_cond_signal(condition)
        }

        /// Runs jobs on the calling thread, the main one, until a job ends the process.
        func run() -> Never {
            while true {
                pthread_mutex_lock(mutex)
                while jobs.isEmpty { pthread_cond_wait(condition, mutex) }
                let job = jobs.removeFirst()
                pthread_mutex_unlock(mutex)
                job.runSynchronously(on: asUnownedTaskExecutor())
            }
        }
    }
}
