internal import Hemiola
internal import HemiolaRecords
internal import HemiolaSystem

/// Runs one sink: takes items from the mailbox, retries failed calls, and closes the sink at the end. Has one owner, as the sink: the thread
/// that opens it, then the sink's own.
final class SinkRunner {
    /// The result of running a sink.
    enum Outcome: Sendable {
        case done
        /// The reader has closed the output, which is not an error.
        case readerIsGone
        case failed
        /// It has failed, and the run goes on without it.
        case skipped
    }

    /// Attempts before a sink fails. From files, the analysis waits meanwhile. Live there is no limit until the run ends: the mailbox
    /// drops the oldest batches. Of a paced file the other sinks would fall behind.
    private static let offlineAttempts = 10
    private static let pacedAttempts = 3
    private static let lastAttempts = 3
    /// Failed attempts after which the trouble is reported: after 0.8 s.
    private static let silentAttempts = 3

    private let sink: any Sink
    private let mailbox: Mailbox
    private let context: SinkContext
    private let policy: ErrorPolicy
    /// Whether each input has files of its own, so that one which cannot be written does not concern the others.
    private let hasFilePerInput: Bool
    private let report: @Sendable (PipelineNotice) -> Void
    private var schedule: EventSchedule
    private var header: StreamHeader?
    /// A sink whose `open` failed is not closed.
    private var isOpen = false
    /// Why the result of the current input cannot be written: the rest of the input is passed over.
    private var inputError: Problem?
    /// Why the first opening failed, where the run goes on all the same.
    private var openError: Problem?

    init(
        _ sink: any Sink, context: SinkContext, events: Selection, lead: Double?, policy: ErrorPolicy, hasFilePerInput: Bool,
        mailbox: Mailbox, report: @escaping @Sendable (PipelineNotice) -> Void
    ) {
        self.sink = sink
        self.context = context
        self.policy = policy
        self.hasFilePerInput = hasFilePerInput
        self.mailbox = mailbox
        self.report = report
        schedule = EventSchedule(lead: lead, selection: events)
    }

    /// Opens the sink before the run. Where the policy allows it, the run goes on without the sink, or `run` opens it again.
    func open() throws(Problem) {
        do throws(Problem) {
            try sink.open(context)
            isOpen = true
        } catch {
            // A director is made before the run, by the open sink.
            guard policy.onError == .skip || policy.onError == .retry && !(sink is any DirectingSink) else { throw error }
            openError = error
            if policy.onError == .skip {
                report(.sinkSkipped(sink: context.name, error))
                mailbox.abandon(isSkipped: true)
            } else {
                report(.sinkTrouble(sink: context.name, error))
            }
        }
    }

    /// The director of the sink; nil: it has none, or could not be opened and is skipped. Call after `open`.
    func makeDirector() throws(Problem) -> sending (any Director)? {
        guard isOpen, let sink = sink as? any DirectingSink else { return nil }
        return try sink.makeDirector()
    }

    /// Runs until the mailbox is finished or the sink has failed.
    func run() -> Outcome {
        var outcome = Outcome.done
        if let openError {
            // Without a reader the run ends before it begins: another sink could not be opened.
            if mailbox.hasNoReader { outcome = mailbox.isSkipped ? .skipped : .failed } else { outcome = retry(nil, after: openError) }
            if outcome != .done, !mailbox.isSkipped { mailbox.abandon() }
        }
        while outcome == .done, let next = mailbox.next() {
            // Once per item, not per attempt: the schedule delivers each event only once.
            let item = scheduled(next)
            do throws(Problem) {
                try deliver(item)
            } catch {
                outcome = retry(item, after: error)
                if outcome != .done { mailbox.abandon(isSkipped: outcome == .skipped, at: item) }
            }
        }
        do throws(Problem) {
            try close()
        } catch {
            if outcome == .done { outcome = outcomeReporting(error) }
        }
        return outcome
    }

    /// The item with the selected and due events of this sink.
    private func scheduled(_ item: Mailbox.Item) -> Mailbox.Item {
        if schedule.isTransparent { return item }
        switch item {
        case .begin(let header):
            schedule.begin(header)
            return item
        case .block(let block, let replies):
            return .block(schedule.apply(to: block), replies: replies)
        case .events(let events):
            return .events(schedule.apply(to: events))
        case .end(let summary):
            return .end(schedule.apply(to: summary))
        case .inputEnd:
            return item
        }
    }

    private func deliver(_ item: Mailbox.Item) throws(Problem) {
        if let inputError { return passOver(item, because: inputError) }
        switch item {
        case .begin(let header):
            self.header = header
            try sink.begin(header)
        case .block(let block, let replies):
            try sink.write(block)
            finish(block, replies)
        case .events(let events):
            if !events.isEmpty { try sink.write(events) }
        case .end(let summary):
            try sink.end(summary)
        case .inputEnd(let input, let completion):
            try sink.end(input)
            completion?.sinkHasEnded()
        }
    }

    /// Passes over an item of an input whose result cannot be written.
    private func passOver(_ item: Mailbox.Item, because error: Problem) {
        switch item {
        case .begin, .events, .end: break
        case .block(let block, let replies): finish(block, replies)
        case .inputEnd(let input, let completion):
            let notice = PipelineNotice.resultFailed(input: input.file, error)
            report(notice)
            completion?.sinkHasEnded(notice.text)
            inputError = nil
        }
    }

    /// Gives up the result of the current input: opens the sink again, for the next one.
    private func giveUpInput(at item: Mailbox.Item, because error: Problem) -> Outcome {
        inputError = error
        try? close()
        do throws(Problem) {
            try sink.open(context)
            isOpen = true
        } catch {
            return outcomeReporting(error)
        }
        passOver(item, because: error)
        return .done
    }

    private func finish(_ block: BatchBlock, _ replies: [Mailbox.Reply]) {
        block.storage.noteUse()
        for reply in replies { reply() }
    }

    /// Retries as the policy and the error's remedy require.
    ///
    /// - Parameter item: The item whose delivery failed; nil: the sink could not be opened.
    /// - Returns: `.done` when a retry has delivered the item.
    private func retry(_ item: Mailbox.Item?, after error: Problem) -> Outcome {
        var error = underPolicy(error)
        if item == nil { error.remedy = .reopen }
        var attempt = 0
        var isReported = item == nil
        while error.remedy == .retry || error.remedy == .reopen {
            if attempt >= attemptLimit { break }
            attempt += 1
            MonotonicTime.sleep(for: RetryDelay.seconds(after: attempt))
            do throws(Problem) {
                if error.remedy == .reopen {
                    try? close()
                    try sink.open(context)
                    isOpen = true
                    if let header, item?.isBegin != true { try sink.begin(header) }
                }
                if let item { try deliver(item) }
                if isReported { report(.sinkRecovered(sink: context.name)) }
                return .done
            } catch let again {
                error = underPolicy(again)
                // A call cannot be repeated before the sink is open.
                if !isOpen, error.remedy == .retry || item == nil && error.remedy == .giveUp { error.remedy = .reopen }
            }
            if !isReported, attempt == Self.silentAttempts, attempt < attemptLimit, error.remedy == .retry || error.remedy == .reopen {
                report(.sinkTrouble(sink: context.name, error))
                isReported = true
            }
        }
        if error.remedy == .nextInput, let item { return giveUpInput(at: item, because: error) }
        return outcomeReporting(error)
    }

    /// The error with the remedy that the policy requires. That of a plugin which declares `on_error` is final.
    private func underPolicy(_ error: Problem) -> Problem {
        var error = error
        if error.remedy == .nextInput, !hasFilePerInput { error.remedy = .giveUp }
        if policy.isOfPlugin || error.remedy == .finish { return error }
        switch policy.onError {
        case .auto: break
        case .fail, .skip: error.remedy = .giveUp
        case .retry: if error.remedy == .giveUp { error.remedy = .reopen }
        }
        return error
    }

    private func close() throws(Problem) {
        guard isOpen else { return }
        isOpen = false
        try sink.close()
    }

    private var attemptLimit: Int {
        if mailbox.isLossless { return context.isLive && policy.onError != .retry ? Self.pacedAttempts : Self.offlineAttempts }
        return mailbox.isClosing ? Self.lastAttempts : .max
    }

    /// The outcome for an error. Reports the error unless the reader has closed the output.
    private func outcomeReporting(_ error: Problem) -> Outcome {
        if error.remedy == .finish { return .readerIsGone }
        if policy.onError == .skip {
            report(.sinkSkipped(sink: context.name, error))
            return .skipped
        }
        report(.sinkFailed(sink: context.name, error))
        return .failed
    }
}

extension Mailbox.Item {
    fileprivate var isBegin: Bool {
        if case .begin = self { true } else { false }
    }
}
