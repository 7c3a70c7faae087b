internal import Hemiola

/// Sends the records of streams to a program, and starts it again in real time. Used by one thread at a time.
///
/// A call that failed with `Remedy.retry` continues where it stopped when it is repeated: each record is sent once.
struct ProgramFeed: ~Copyable {
    private let settings: ProgramSettings
    private var context = SinkContext(name: "exec")
    private var child: RunningProgram?
    private var delay = RetryDelay(longest: ProgramSettings.longestPause)
    private var encoder: RecordEncoder?
    /// The records of the current call.
    private var buffer = JSONBuffer(capacity: 1 << 16)
    /// Bytes of the buffer that the program's pipe has taken.
    private var sentCount = 0
    /// Whether the buffer holds the rest of a call that failed with `Remedy.retry`.
    private var isPending = false
    /// For the next byte, while the program does not read.
    private var limit: ProgramTimeLimit?

    /// When the lines of the program are read next, in seconds on the monotonic clock.
    private var nextReport = 0.0

    /// Seconds between two looks for lines that the program has printed.
    private static let reportInterval = 0.25
    /// Seconds of a write, after which, in real time, the engine looks whether the run has ended.
    private static let writeWait = 0.5
    /// Seconds that a program has to end after the end of its input in real time.
    private static let liveEnd = 2.0
    /// Seconds in which a program that has closed its input usually ends.
    private static let exitWait = 0.5

    init(_ settings: ProgramSettings) {
        self.settings = settings
    }

    // MARK: - Calls of the sink

    mutating func open(_ context: SinkContext) throws(Problem) {
        self.context = context
        buffer.removeAll()
        (sentCount, isPending, limit) = (0, false, nil)
        let now = context.timing.clock.now
        guard now >= delay.nextAttempt else {
            throw Problem("\(settings.name): failed, and is started again later", remedy: .reopen)
        }
        let name = settings.name
        // A program that fails again and again prints the same lines each time: they are counted as other warnings are.
        let relayStart = delay.nextAttempt > 0 ? now + RetryDelay.longRun : now
        do {
            child = try RunningProgram(
                settings.command, hasInput: true, output: context.records.mayUseStandardOutput ? .inherited : .log,
                report: { [context] in
                    (context.timing.clock.now < relayStart ? context.messages.warn : context.messages.relay)("\(name): \($0)")
                })
        } catch {
            throw Problem("\(name): cannot be started: \(error); check the command")
        }
        delay.noteStart(at: now)
    }

    mutating func begin(_ stream: StreamHeader) throws(Problem) {
        if !isPending {
            encoder = RecordEncoder(stream, selection: context.records.selection)
        }
        try send { encoder, buffer in encoder.encodeHeader(into: &buffer) }
    }

    /// Sends records.
    ///
    /// - Parameter encode: Writes the records into the buffer.
    mutating func send(_ encode: (RecordEncoder, inout JSONBuffer) -> Void) throws(Problem) {
        guard let encoder else { return }
        if !isPending {
            encode(encoder, &buffer)
            isPending = true
        }
        try flush()
        isPending = false
    }

    mutating func close() throws(Problem) {
        defer {
            child = nil
            encoder = nil
        }
        guard let child else { return }
        let seconds = context.timing.isLive ? min(settings.timeout, Self.liveEnd) : settings.timeout
        var limit = ProgramTimeLimit(seconds, isLive: context.timing.isLive)
        child.closeInput()
        while !child.waitForExit(within: 0.1) {
            guard limit.isExceeded(processorTime: child.processorTime) else { continue }
            child.stop()
            let message = "\(settings.name): had not ended \(text(seconds)) after the end of its input, and was ended"
            // A program that shows live sound has no result to complete.
            guard context.timing.isLive else { throw Problem(message) }
            return context.messages.warn(message)
        }
        // At the end of the run, there is nothing to start it again for.
        if child.exit?.isSuccess == false { throw Problem("\(settings.name): \(child.reasonForEnd)") }
    }

    // MARK: - Sending

    private mutating func flush() throws(Problem) {
        while sentCount < buffer.count {
            guard let child else { return discard() }
            let wait = min(Self.writeWait, settings.timeout)
            let start = sentCount
            // Unsafe: `write(2)` takes a pointer, which is valid inside the closure.
            switch buffer.withUnsafeBytes({ child.write(UnsafeRawBufferPointer(rebasing: $0[start...]), within: wait) }) {
            case .bytes(let count):
                sentCount += count
                limit = nil
            case .timeout:
                var limit = limit ?? ProgramTimeLimit(settings.timeout - wait, isLive: context.timing.isLive)
                defer { self.limit = limit }
                guard limit.isExceeded(processorTime: child.processorTime) else {
                    guard context.timing.isLive else { continue }
                    // The engine repeats the call, and gives up soon after the run has ended.
                    throw Problem("\(settings.name): does not read its input", remedy: .retry)
                }
                child.stop()
                try fail("has not read its input for \(text(settings.timeout)), and was ended")
            case .closed:
                // `head` ends when it has read enough: no failure, as in a pipe of the shell.
                guard child.waitForExit(within: Self.exitWait), child.exit?.isSuccess == false else {
                    discard()
                    throw Problem("\(settings.name): has closed its input", remedy: .finish)
                }
                try fail(child.reasonForEnd)
            }
        }
        discard()
        child?.reportLines()
        nextReport = context.timing.clock.now + Self.reportInterval
    }

    private mutating func discard() {
        buffer.removeAll()
        sentCount = 0
    }

    /// In real time, the program is started again, unless the engine is to go on without the sink.
    private mutating func fail(_ reason: String) throws(Problem) {
        child = nil
        discard()
        let message = "\(settings.name): \(reason)"
        if settings.policy == .skip { throw Problem(message) }
        guard context.timing.isLive else { throw Problem("\(message); run it in a shell to see why, or set on_error=skip") }
        isPending = false
        let pause = delay.noteFailure(at: context.timing.clock.now)
        context.messages.warn("\(message); starting it again in \(text(pause))")
        throw Problem(message, remedy: .reopen)
    }

    private func text(_ seconds: Double) -> String { "\(seconds.rounded(toPlaces: 1)) s" }
}
