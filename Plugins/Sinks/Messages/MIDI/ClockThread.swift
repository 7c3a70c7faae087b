internal import Glibc
internal import Hemiola

/// A thread that sends what is due at its time. It sleeps until an absolute time of the monotonic clock, so that delays do not add up.
///
/// `@unchecked Sendable`: the output is touched only under the lock. No method waits for the receiver.
final class ClockThread: @unchecked Sendable {
    /// Time for which messages may wait for the receiver when the thread ends, in seconds.
    private static let drainTime = 0.2

    private let condition = Condition()
    private var output: MIDIOutput
    /// The time until which the thread sleeps.
    private var wakeTime = 0.0
    private var isStopping = false
    private var thread: WorkerThread<Void>?

    init(_ output: MIDIOutput) {
        self.output = output
    }

    /// Starts the thread. Called once, before all other methods but `withOutput`.
    ///
    /// - Parameter sink: The name of the sink.
    /// - Throws: The system denies a thread.
    func start(for sink: String) throws(Problem) {
        thread = try WorkerThread<Void>(for: "the sink \(sink)") { [self] in run() }
    }

    /// Changes the output, and wakes the thread if something is due earlier than before.
    func withOutput<Result>(_ body: (inout MIDIOutput) -> Result) -> Result {
        condition.lock()
        defer {
            let isEarlier = output.next < wakeTime
            condition.unlock()
            if isEarlier { condition.signal() }
        }
        return body(&output)
    }

    /// Stops clock and notes, closes the port, and ends the thread. Waits at most 0.2 s for the receiver.
    func stop() {
        condition.lock()
        isStopping = true
        condition.unlock()
        condition.signal()
        thread?.join()
        thread = nil
    }

    // MARK: - The thread

    private func run() {
        // A named pipe without a reader must not end the process.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        condition.lock()
        while !isStopping {
            let now = MonotonicTime.now
            if output.next <= now { output.advance(to: now) }
            sleep(until: output.next)
        }
        let end = MonotonicTime.now + Self.drainTime
        output.stopSong()
        output.advance(to: MonotonicTime.now)
        while !output.isDrained, MonotonicTime.now < end {
            sleep(until: min(end, output.next))
            output.advance(to: MonotonicTime.now)
        }
        output.disconnect()
        condition.unlock()
    }

    /// Releases the lock until that time, or until the output has changed.
    private func sleep(until time: Double) {
        wakeTime = time
        if time == .infinity {
            condition.wait()
        } else if time > MonotonicTime.now {
            condition.wait(within: time - MonotonicTime.now)
        }
        wakeTime = 0
    }
}
