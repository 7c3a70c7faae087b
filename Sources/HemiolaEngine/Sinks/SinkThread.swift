internal import Hemiola

/// A sink on its own thread, as the analysis thread knows it.
struct SinkThread: Sendable {
    let name: String
    let queue: BoundedQueue
    private let thread: WorkerThread<SinkRunner.Outcome>

    /// Starts the thread.
    ///
    /// - Parameter whenClosed: Called by the thread when it has closed the sink.
    /// - Throws: The system denies a thread. The sink is closed.
    init(_ runner: sending SinkRunner, whenClosed: @escaping @Sendable () -> Void) throws(Problem) {
        name = runner.context.name
        queue = runner.queue
        // Safe: the thread has the runner, or there is no thread and its closure was released.
        nonisolated(unsafe) let runner = runner
        do {
            thread = try WorkerThread(for: "the sink \(name)") {
                defer { whenClosed() }
                return runner.run()
            }
        } catch {
            try? runner.close()
            throw error
        }
    }

    /// Waits until the sink is closed.
    func join() -> SinkRunner.Outcome { thread.join() }
}

/// Runs one sink: takes items from its queue, retries failed calls, and closes the sink at the end. Has one owner, as the sink: the thread
/// that opens it, then the sink's own.
final class SinkRunner {
    /// The result of running a sink.
    enum Outcome: Sendable {
        case done
        /// The reader has closed the output, which is not an error.
        case readerIsGone
        case failed
        /// It has failed because of one of its settings, such as a field map that names what the stream does not have.
        case misconfigured
        /// It has failed, and the run goes on without it.
        case skipped
    }

    /// Attempts before a sink fails. From files, the analysis waits meanwhile. Live there is no limit until the run ends: the queue
    /// drops the oldest batches. Of a paced file the other sinks would fall behind.
    private static let offlineAttempts = 10
    private static let pacedAttempts = 3
    private static let lastAttempts = 3
    /// Failed attempts after which the trouble is reported: after 0.8 s.
    private static let silentAttempts = 3

    private let sink: any Sink
    fileprivate let queue: BoundedQueue
    fileprivate let context: SinkContext
    private let policy: FailurePolicy
    /// Whether each input has files of its own, so that one which cannot be written does not concern the others.
    private let hasFilePerInput: Bool
    private let report: @Sendable (PipelineNotice) -> Void
    /// nil: all events are delivered as soon as they are detected.
    private var schedule: EventSchedule?
    private var header: StreamHeader?
    /// A sink whose `open` failed is not closed.
    private var isOpen = false
    /// Why the result of the current input cannot be written: the rest of the input is passed over.
    private var inputError: Problem?

    init(
        _ sink: any Sink, of entry: Pipeline.SinkEntry, context: SinkContext, hasFilePerInput: Bool, queue: BoundedQueue,
        report: @escaping @Sendable (PipelineNotice) -> Void
    ) {
        self.sink = sink
        self.context = context
        policy = entry.policy
        self.hasFilePerInput = hasFilePerInput
        self.queue = queue
        self.report = report
        let events = entry.selection.adding(types: entry.needs.events.map(\.name))
        let lead = entry.needs.schedulesEvents ? nil : entry.lead
        schedule = lead == nil && events.isAll ? nil : EventSchedule(lead: lead, selection: events)
    }

    /// Opens the sink before the run, and makes its director. Where either fails, the policy says whether the run goes on without the sink.
    ///
    /// - Returns: The director of the sink; nil: it has none, or is skipped.
    func open() throws(Problem) -> sending (any Director)? {
        do {
            try sink.open(context)
            isOpen = true
            guard let directing = sink as? any DirectingSink else { return nil }
            return try directing.makeDirector()
        } catch {
            try? close()
            guard policy == .skip else { throw error }
            report(.warning("\(error.messages); the run goes on without it"))
            queue.abandon(countsRest: true)
            return nil
        }
    }

    /// Runs until the queue is finished or the sink has failed.
    func run() -> Outcome {
        var outcome = queue.isSkipped ? Outcome.skipped : .done
        while outcome == .done, let (next, replies) = queue.next() {
            // Once per item, not per attempt: the schedule delivers each event only once.
            let item = schedule?.apply(to: next) ?? next
            do {
                try deliver(item)
            } catch {
                outcome = retry(item, after: error)
                if outcome != .done { abandon(item, isSkipped: outcome == .skipped) }
            }
            for reply in replies { reply() }
        }
        do {
            try close()
        } catch {
            if outcome == .done { outcome = outcomeReporting(error) }
        }
        return outcome
    }

    /// Discards what waits and follows. The inputs of a skipped sink are complete without it.
    private func abandon(_ item: StreamItem, isSkipped: Bool) {
        for case .inputEnd(let completion) in queue.abandon(countsRest: isSkipped, at: item) where isSkipped { completion.sinkHasEnded() }
    }

    private func deliver(_ item: StreamItem) throws(Problem) {
        if let inputError { return passOver(item, because: inputError) }
        switch item {
        case .begin(let header):
            self.header = header
            try sink.begin(header)
        case .batches(let block):
            try sink.write(block)
            block.storage.noteUse()
        case .events(let events):
            if !events.isEmpty { try sink.write(events) }
        case .end(let summary):
            try sink.end(summary)
        case .inputEnd(let completion):
            try sink.end(completion.end)
            completion.sinkHasEnded()
        }
    }

    /// Passes over an item of an input whose result cannot be written.
    private func passOver(_ item: StreamItem, because error: Problem) {
        if case .batches(let block) = item { block.storage.noteUse() }
        guard case .inputEnd(let completion) = item else { return }
        let notice = PipelineNotice.inputFailed(input: completion.end.file, error)
        report(notice)
        completion.sinkHasEnded(notice.text)
        inputError = nil
    }

    /// Gives up the result of the current input: opens the sink again, for the next one.
    private func giveUpInput(at item: StreamItem, because error: Problem) -> Outcome {
        inputError = error
        try? close()
        do {
            try sink.open(context)
            isOpen = true
        } catch {
            return outcomeReporting(error)
        }
        passOver(item, because: error)
        return .done
    }

    /// Does what the error's remedy says.
    ///
    /// - Parameter item: The item whose delivery failed.
    /// - Returns: `.done` when the sink goes on.
    private func retry(_ item: StreamItem, after error: Problem) -> Outcome {
        var error = error
        var attempt = 0
        var isReported = false
        while error.remedy == .retry || error.remedy == .reopen, attempt < attemptLimit {
            attempt += 1
            context.timing.clock.sleep(for: RetryDelay.seconds(after: attempt))
            do {
                if error.remedy == .reopen {
                    try? close()
                    try sink.open(context)
                    isOpen = true
                    if case .begin = item {} else if let header { try sink.begin(header) }
                }
                try deliver(item)
                if isReported { report(.sinkWarning(sink: context.name, "\(context.name): recovered")) }
                return .done
            } catch let again {
                error = again
                // A call cannot be repeated before the sink is open.
                if !isOpen, error.remedy == .retry { error.remedy = .reopen }
            }
            if !isReported, attempt == Self.silentAttempts, attempt < attemptLimit, error.remedy == .retry || error.remedy == .reopen {
                report(.sinkWarning(sink: context.name, "\(error.messages); retrying"))
                isReported = true
            }
        }
        if error.remedy == .nextInput, hasFilePerInput, policy != .skip { return giveUpInput(at: item, because: error) }
        return outcomeReporting(error)
    }

    fileprivate func close() throws(Problem) {
        guard isOpen else { return }
        isOpen = false
        try sink.close()
    }

    private var attemptLimit: Int {
        if queue.policy == .wait { return context.timing.isLive ? Self.pacedAttempts : Self.offlineAttempts }
        return queue.isClosing ? Self.lastAttempts : .max
    }

    /// The outcome for an error. Reports the error unless the reader has closed the output.
    private func outcomeReporting(_ error: Problem) -> Outcome {
        if error.remedy == .finish { return .readerIsGone }
        if policy == .skip {
            report(.warning("\(error.messages); the run goes on without it"))
            return .skipped
        }
        report(.sinkFailed(sink: context.name, error))
        return error.place == nil ? .failed : .misconfigured
    }
}
