internal import Hemiola
internal import HemiolaSignal

/// Drives one sink on a thread of its own: takes from the mailbox, mends what can be mended, closes in the end.
actor SinkRunner {
    /// How it went with a sink.
    enum Outcome: Sendable {
        case done
        /// Its reader has gone; nothing is wrong.
        case readerIsGone
        case failed
    }

    /// Pauses between attempts, in nanoseconds; the last one repeats.
    private static let pauses: [UInt64] = [100_000_000, 200_000_000, 500_000_000, 1_000_000_000, 2_000_000_000]
    /// Attempts before a sink is given up when the source waits for it. Live there is no limit: the newest wins meanwhile.
    private static let offlineAttempts = 10

    nonisolated let sink: any Sink
    nonisolated let mailbox: Mailbox
    nonisolated let context: SinkContext
    private let executor: ThreadExecutor
    private let report: @Sendable (PipelineNotice) -> Void
    private var schedule: EventSchedule
    private var header: StreamHeader?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(
        _ sink: any Sink, context: SinkContext, lead: Double?, mailbox: Mailbox,
        report: @escaping @Sendable (PipelineNotice) -> Void
    ) {
        self.sink = sink
        self.context = context
        self.mailbox = mailbox
        self.report = report
        executor = ThreadExecutor()
        schedule = EventSchedule(lead: lead, selection: context.selection)
    }

    /// - Returns: nil when all is well.
    func open() async -> SinkError? {
        do {
            try await sink.open(context)
            return nil
        } catch {
            return error
        }
    }

    /// Closes a sink whose pipeline never ran.
    func closeUnused() async {
        try? await sink.close()
        executor.stop()
    }

    /// Runs until the mailbox is finished or the sink is.
    func run() async -> Outcome {
        var outcome = Outcome.done
        while let item = await mailbox.next() {
            do throws(SinkError) {
                try await deliver(item)
            } catch {
                outcome = await mend(error, item)
                if case .done = outcome { continue }
                mailbox.abandon()
                break
            }
        }
        do throws(SinkError) {
            try await sink.close()
        } catch {
            if case .done = outcome { outcome = judge(error) }
        }
        executor.stop()
        return outcome
    }

    private func deliver(_ item: Mailbox.Item) async throws(SinkError) {
        switch item {
        case .begin(let header):
            self.header = header
            schedule.begin(header)
            try await sink.begin(header)
        case .block(let block, let replies):
            try await sink.write(schedule.isTransparent ? block : schedule.apply(to: block))
            for reply in replies { reply() }
        case .end(let summary):
            try await sink.end(schedule.isTransparent ? summary : schedule.apply(to: summary))
        }
    }

    /// Tries again as the error advises. `.done`: the item is delivered after all.
    private func mend(_ error: SinkError, _ item: Mailbox.Item) async -> Outcome {
        var error = error
        var attempt = 0
        var isTold = false
        while error.remedy == .retry || error.remedy == .reopen {
            if !context.isLive && attempt >= Self.offlineAttempts { break }
            try? await Task.sleep(nanoseconds: Self.pauses[min(attempt, Self.pauses.count - 1)])
            attempt += 1
            if !isTold {
                report(.sinkTrouble(sink: context.name, error))
                isTold = true
            }
            do throws(SinkError) {
                if error.remedy == .reopen {
                    try? await sink.close()
                    try await sink.open(context)
                    if let header, !item.isBegin { try await sink.begin(header) }
                }
                try await deliver(item)
                report(.sinkReopened(sink: context.name))
                return .done
            } catch let again {
                error = again
            }
        }
        return judge(error)
    }

    private func judge(_ error: SinkError) -> Outcome {
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
