internal import Glibc
internal import Synchronization

/// Handles SIGINT, SIGTERM, SIGHUP, and SIGUSR1 and SIGUSR2, which batch systems send before the end of a job. A SIGHUP that the
/// caller ignores (`nohup`) stays ignored. An ignored SIGINT is handled: background jobs of a script start with it, and `kill -INT`
/// must end them in order.
///
/// The signal handler runs on any thread and wakes the one that waits in `next(timeout:)`. `sigwait` with all signals blocked is
/// not reliable, because threads of libraries may unblock signals. A second signal ends the process at once.
package struct SignalListener: Sendable {
    /// The result of waiting.
    package enum Message: Sendable {
        case signal(Int32)
        /// `finish` was called.
        case finish
        case nothing
    }

    /// Create at most one per process.
    package init() {
        firstSignal.store(0, ordering: .relaxed)
        isSignalNew.store(false, ordering: .relaxed)
        isFinishNew.store(false, ordering: .relaxed)
        // The signal handler must not be the first to use it: it would create it.
        _ = signalWakeUp
        for number in [SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2] {
            var action = sigaction()
            sigaction(number, nil, &action)
            if number == SIGHUP && action.isIgnored { continue }
            action = .listening
            sigaction(number, &action, nil)
        }
    }

    /// Waits for a signal or `finish`.
    package func next(timeout seconds: Double) -> Message {
        if let message = newMessage { return message }
        signalWakeUp.wait(seconds: seconds)
        return newMessage ?? .nothing
    }

    private var newMessage: Message? {
        if isSignalNew.exchange(false, ordering: .acquiringAndReleasing) { return .signal(firstSignal.load(ordering: .acquiring)) }
        return isFinishNew.exchange(false, ordering: .acquiringAndReleasing) ? .finish : nil
    }

    /// Ends `next(timeout:)` on the waiting thread.
    package func finish() {
        isFinishNew.store(true, ordering: .releasing)
        signalWakeUp.signal()
    }

    /// The first signal; nil when none was received.
    package var signal: Int32? {
        let number = firstSignal.load(ordering: .acquiring)
        return number == 0 ? nil : number
    }
}

/// The first signal, 0 for none. Global, because a signal handler has no context; atomic, because a signal handler must not use locks.
private let firstSignal = Atomic<Int32>(0)

/// Whether `next(timeout:)` has not returned the signal or the end yet.
private let isSignalNew = Atomic<Bool>(false)
private let isFinishNew = Atomic<Bool>(false)

/// Wakes the thread in `next(timeout:)`.
private let signalWakeUp: WakeUp = {
    do throws(SystemCallError) { return try WakeUp() } catch { exitForLack(of: "further file", error, limits: "ulimit -n") }
}()

/// The time of the first signal, in milliseconds of the monotonic clock.
private let firstSignalTime = Atomic<Int>(0)

/// Milliseconds within which a second signal is ignored: timeout(1) sends each signal twice, to the process and to its group.
private let duplicateSignalTime = 200

/// The signal handler. Only async-signal-safe calls: atomics, the clock, `WakeUp.signal`, tcsetattr(3) and _exit(2).
private func handleSignal(_ number: Int32) {
    let now = Int(MonotonicTime.nanoseconds / 1_000_000)
    if firstSignal.compareExchange(expected: 0, desired: number, ordering: .acquiringAndReleasing).exchanged {
        firstSignalTime.store(now, ordering: .releasing)
        isSignalNew.store(true, ordering: .releasing)
        signalWakeUp.signal()
    } else {
        let first = firstSignalTime.load(ordering: .acquiring)
        if first > 0, now - first > duplicateSignalTime {
            Terminal.restore()
            _exit(128 + number)
        }
    }
}

extension sigaction {
    fileprivate static var listening: sigaction {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = handleSignal
        action.sa_flags = Int32(SA_RESTART)
        sigemptyset(&action.sa_mask)
        return action
    }

    var isIgnored: Bool {
        unsafeBitCast(__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
