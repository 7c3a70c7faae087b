internal import Hemiola

/// A thread that sends what is due at its time. It sleeps until an absolute time of the given clock, so that delays do not add up.
///
/// `@unchecked Sendable`: the output is touched only under the lock. No method waits for the receiver.
final class ClockThread: @unchecked Sendable {
    /// Time for which messages may wait for the receiver when the thread ends, in seconds.
    private static let drainTime = 0.2

    private let clock: any MonotonicClock
    private let condition = Condition()
    private var output: MIDIOutput
    /// The time until which the thread sleeps.
    private var wakeTime = 0.0
    private var isStopping = false
    private var thread: WorkerThread<Void>?

    init(_ output: MIDIOutput, by clock: any MonotonicClock) {
        (self.output, self.clock) = (output, clock)
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
        blockBrokenPipeSignal()
        condition.lock()
        while !isStopping {
            let now = clock.now
            if output.next <= now { output.advance(to: now) }
            wakeTime = output.next
            condition.wait(within: wakeTime - clock.now)
            wakeTime = 0
        }
        let deadline = Deadline(after: Self.drainTime)
        output.stopSong()
        output.advance(to: clock.now)
        while !output.isDrained, !deadline.hasPassed {
            condition.wait(within: min(deadline.rest, output.next - clock.now))
            output.advance(to: clock.now)
        }
        output.disconnect()
        condition.unlock()
    }
}
