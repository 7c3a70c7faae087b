internal import Hemiola
internal import HemiolaSignal

/// Runs one sink on its own thread: takes items from the mailbox, retries failed calls, and closes the sink at the end.
actor SinkRunner {
    /// The result of running a sink.
    enum Outcome: Sendable {
        case done
        /// The reader has closed the output, which is not an error.
        case readerIsGone
        case failed
    }

    /// Attempts before a sink fails. From files, the analysis waits meanwhile. Live there is no limit until the run ends: the mailbox
    /// drops the oldest batches. Of a paced file the other sinks would fall behind.
    private static let offlineAttempts = 10
    private static let pacedAttempts = 3
    private static let lastAttempts = 3
    /// Failed attempts after which the trouble is reported: after 0.8 s.
    private static let silentAttempts = 3

    nonisolated let sink: any Sink
    nonisolated let mailbox: Mailbox
    nonisolated let context: SinkContext
    /// Writes on the analysis thread; nil when the sink does not support it. A function, which costs less to store than a sink.
    private nonisolated let writeIfReady: (@Sendable (BatchBlock) -> Bool)?
    private let executor: ThreadExecutor
    private let report: @Sendable (PipelineNotice) -> Void
    private var schedule: EventSchedule
    private var header: StreamHeader?
    /// A sink whose `open` failed is not closed.
    private var isOpen = false

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(
        _ sink: any Sink, context: SinkContext, events: Selection, lead: Double?, mailbox: Mailbox,
        report: @escaping @Sendable (PipelineNotice) -> Void
    ) {
        self.sink = sink
        self.context = context
        self.mailbox = mailbox
        self.report = report
        executor = ThreadExecutor()
        let schedule = EventSchedule(lead: lead, selection: events)
        if schedule.isTransparent, context.isLive, let sink = sink as? any NonBlockingSink {
            writeIfReady = { block in sink.writeIfReady(block) }
        } else {
            writeIfReady = nil
        }
        self.schedule = schedule
    }

    /// - Returns: nil on success.
    func open() async -> SinkError? {
        do {
            try await sink.open(context)
            isOpen = true
            return nil
        } catch {
            return error
        }
    }

    /// Closes a sink whose pipeline never ran.
    func closeUnused() async {
        try? await sink.close()
        dismiss()
    }

    /// Ends the thread of a sink that was never opened.
    nonisolated func dismiss() {
        executor.stop()
    }

    /// Passes on batches, and the replies to send when they are written. Called on the analysis thread.
    nonisolated func put(_ block: BatchBlock, replies: [Mailbox.Reply]) {
        guard let writeIfReady, mailbox.performIfIdle({ writeIfReady(block) }) else {
            return mailbox.put(.block(block, replies: replies))
        }
        finish(block, replies)
    }

    /// Runs until the mailbox is finished or the sink has failed.
    func run() async -> Outcome {
        var outcome = Outcome.done
        while let next = mailbox.next() {
            // Once per item, not per attempt: the schedule delivers each event only once.
            let item = scheduled(next)
            do throws(SinkError) {
                try await deliver(item)
            } catch {
                outcome = await retry(item, after: error)
                if case .done = outcome { continue }
                mailbox.abandon()
                break
            }
        }
        do throws(SinkError) {
            try await close()
        } catch {
            if case .done = outcome { outcome = outcomeReporting(error) }
        }
        executor.stop()
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

    private func deliver(_ item: Mailbox.Item) async throws(SinkError) {
        switch item {
        case .begin(let header):
            self.header = header
            try await sink.begin(header)
        case .block(let block, let replies):
            try await sink.write(block)
            finish(block, replies)
        case .events(let events):
            if !events.isEmpty { try await sink.write(events) }
        case .end(let summary):
            try await sink.end(summary)
        case .inputEnd(let input):
            try await sink.end(input)
        }
    }

    private nonisolated func finish(_ block: BatchBlock, _ replies: [Mailbox.Reply]) {
        block.storage.noteUse()
        for reply in replies { reply() }
    }

    /// Retries as the error's remedy requires.
    ///
    /// - Returns: `.done` when a retry has delivered the item.
    private func retry(_ item: Mailbox.Item, after error: SinkError) async -> Outcome {
        var error = error
        var attempt = 0
        var isReported = false
        while error.remedy == .retry || error.remedy == .reopen {
            if attempt >= attemptLimit { break }
            attempt += 1
            try? await Task.sleep(nanoseconds: UInt64(RetryDelay.seconds(after: attempt) * 1e9))
            do throws(SinkError) {
                if error.remedy == .reopen {
                    try? await close()
                    try await sink.open(context)
                    isOpen = true
                    if let header, !item.isBegin { try await sink.begin(header) }
                }
                try await deliver(item)
                if isReported { report(.sinkRecovered(sink: context.name)) }
                return .done
            } catch let again {
                error = again
            }
            if attempt == Self.silentAttempts, attempt < attemptLimit, error.remedy == .retry || error.remedy == .reopen {
                report(.sinkTrouble(sink: context.name, error))
                isReported = true
            }
        }
        return outcomeReporting(error)
    }

    private func close() async throws(SinkError) {
        guard isOpen else { return }
        isOpen = false
        try await sink.close()
    }

    private var attemptLimit: Int {
        if mailbox.isLossless { return context.isLive ? Self.pacedAttempts : Self.offlineAttempts }
        return mailbox.isClosing ? Self.lastAttempts : .max
    }

    /// The outcome for an error. Reports the error unless the reader has closed the output.
    private func outcomeReporting(_ error: SinkError) -> Outcome {
        if error.remedy == .finish { return .readerIsGone }
        report(.sinkFailed(sink: context.name, error))
        return .failed
    }
}

extension Mailbox.Item {
    fileprivate var isBegin: Bool {
        if case .begin = self { true } else { false }
    }
}
