internal import Hemiola

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The monotonic clock.
enum MonotonicClock {
    /// Seconds since an arbitrary point in time.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }
}

/// A thread that sends what is due at its time. It sleeps until an absolute time of the monotonic clock, so that delays do not add up.
///
/// `@unchecked Sendable`, and raw memory: the output is touched only under the lock, and a pthread object must never move. No method waits
/// for the receiver.
final class ClockThread: @unchecked Sendable {
    /// Time for which messages may wait for the receiver when the thread ends, in seconds.
    private static let drainTime = 0.2

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let variable: UnsafeMutablePointer<pthread_cond_t>
    private var output: MIDIOutput
    /// The time until which the thread sleeps.
    private var wakeTime = 0.0
    private var isStopping = false
    private var thread: pthread_t?

    init(_ output: MIDIOutput) {
        self.output = output
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

    /// Starts the thread. Called once, before all other methods.
    ///
    /// - Returns: 0, or the error number of `pthread_create`.
    func start() -> Int32 {
        let result = startJoinableThread { [self] in run() }
        thread = result.thread
        return result.errorNumber
    }

    /// Changes the output, and wakes the thread if something is due earlier than before.
    func withOutput<Result>(_ body: (inout MIDIOutput) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { unlock() }
        return body(&output)
    }

    /// As `withOutput`, if the lock is free; else nil.
    func withOutputIfFree<Result>(_ body: (inout MIDIOutput) -> Result) -> Result? {
        guard pthread_mutex_trylock(mutex) == 0 else { return nil }
        defer { unlock() }
        return body(&output)
    }

    private func unlock() {
        let isEarlier = output.next < wakeTime
        pthread_mutex_unlock(mutex)
        if isEarlier { pthread_cond_signal(variable) }
    }

    /// Stops clock and notes, closes the port, and ends the thread. Waits at most 0.2 s for the receiver.
    func stop() {
        pthread_mutex_lock(mutex)
        isStopping = true
        pthread_mutex_unlock(mutex)
        pthread_cond_signal(variable)
        if let thread { pthread_join(thread, nil) }
        thread = nil
    }

    // MARK: - The thread

    private func run() {
        // A named pipe without a reader must not end the process.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        pthread_mutex_lock(mutex)
        while !isStopping {
            let now = MonotonicClock.now
            if output.next <= now { output.advance(to: now) }
            sleep(until: output.next)
        }
        let end = MonotonicClock.now + Self.drainTime
        output.stopSong()
        output.advance(to: MonotonicClock.now)
        while !output.isDrained, MonotonicClock.now < end {
            sleep(until: min(end, output.next))
            output.advance(to: MonotonicClock.now)
        }
        output.disconnect()
        pthread_mutex_unlock(mutex)
    }

    /// Releases the lock until that time, or until the output has changed.
    private func sleep(until time: Double) {
        wakeTime = time
        if time == .infinity {
            pthread_cond_wait(variable, mutex)
        } else if time > MonotonicClock.now {
            let seconds = time.rounded(.down)
            var deadline = timespec(tv_sec: Int(seconds), tv_nsec: Int((time - seconds) * 1e9))
            pthread_cond_timedwait(variable, mutex, &deadline)
        }
        wakeTime = 0
    }
}
