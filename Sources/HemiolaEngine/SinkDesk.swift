internal import Hemiola
internal import HemiolaSignal
internal import Synchronization

/// Hands the streams to the sinks' mailboxes, brings their wishes to the stream, and keeps the count.
final class SinkDesk: StreamReceiver {
    /// Losses are told at most this often, in seconds of stream time.
    private static let lossInterval = 1.0

    private(set) var outcome: RunOutcome
    private(set) var isHeard = true
    /// Whether the input under way was taken to its end, or failed. The caller resets it for each input.
    var isInputDone = false

    private let pipeline: Pipeline
    private let runners: [SinkRunner]
    private let inbox: ControlInbox
    private let tell: @Sendable (PipelineNotice) -> Void

    /// Batches that each sink had lost, at the stream's start and when it was last told.
    private var lossesAtStart: [Int64] = []
    private var lossesTold: [Int64] = []
    private var lastLossTime = 0.0
    /// Answers that wait for the next block, by sink.
    private var replies: [Int: [Mailbox.Reply]] = [:]

    init(
        _ pipeline: Pipeline, runners: [SinkRunner], inbox: ControlInbox, outcome: RunOutcome,
        report: @escaping @Sendable (PipelineNotice) -> Void
    ) {
        self.pipeline = pipeline
        self.runners = runners
        self.inbox = inbox
        self.outcome = outcome
        tell = report
    }

    /// The directors among the sinks.
    ///
    /// - Returns: nil when one cannot be made: nothing can be run then.
    func makeDirectors() -> [any Director]? {
        var directors: [any Director] = []
        for runner in runners {
            guard let sink = runner.sink as? any DirectingSink else { continue }
            do {
                directors.append(try sink.makeDirector())
            } catch {
                report(.sinkFailed(sink: runner.context.name, error))
                outcome.failedSinks += 1
                return nil
            }
        }
        return directors
    }

    // MARK: - Streams

    func open(_ source: StreamSource, input: Int) {
        pipeline.note(source, index: input)
    }

    func begin(_ header: StreamHeader) {
        for runner in runners { runner.mailbox.put(.begin(header)) }
        outcome.streams += 1
        lossesAtStart = lossesNow
        lossesTold = lossesAtStart
        lastLossTime = 0
    }

    func receive(_ block: BatchBlock) {
        isHeard = runners.isEmpty
        for index in runners.indices {
            let runner = runners[index]
            runner.put(block, replies: takeReplies(forSink: index))
            if !runner.mailbox.hasNoReader { isHeard = true }
        }
        pipeline.note(frame: block[block.count - 1].endFrame)
    }

    func receive(_ events: [Event]) {
        if events.isEmpty { return }
        for runner in runners { runner.mailbox.put(.events(events)) }
    }

    func end(_ summary: StreamSummary) {
        for runner in runners { runner.mailbox.put(.end(summary)) }
        isInputDone = summary.reason != .interrupted
        answerRest()
    }

    var reporter: @Sendable (PipelineNotice) -> Void { tell }

    func report(_ notice: PipelineNotice) {
        tell(notice)
    }

    func fail(_ notice: PipelineNotice) {
        outcome.failedInputs += 1
        isInputDone = true
        tell(notice)
    }

    // MARK: - Wishes and losses

    func visit(_ stream: StreamAnalysis) {
        if pipeline.isLive { tellLosses(stream) }
        if inbox.isEmpty { return }
        let (wishes, losses) = inbox.drain()
        for loss in losses { stream.tell(loss) }
        for wish in wishes {
            let answer = stream.obey(wish.control, from: wish.origin)
            if let reply = wish.reply { replies[wish.sink, default: []].append { reply(answer) } }
        }
    }

    /// Refuses whatever was wished: nothing can be changed in streams that were analysed ahead.
    func turnAway() {
        if inbox.isEmpty { return }
        for wish in inbox.drain().wishes {
            wish.reply?(.refused("several files are analysed at a time; controls need one job"))
        }
    }

    var losses: [(sink: String, batches: Int64)] {
        zip(zip(runners, lossesNow), lossesAtStart).compactMap { sink, before in
            sink.1 > before ? (sink.0.context.name, sink.1 - before) : nil
        }
    }

    private var lossesNow: [Int64] {
        runners.map { $0.mailbox.droppedBatches.load(ordering: .relaxed) }
    }

    private func tellLosses(_ stream: StreamAnalysis) {
        guard stream.seconds - lastLossTime >= Self.lossInterval else { return }
        lastLossTime = stream.seconds
        for (index, runner) in runners.enumerated() {
            let count = runner.mailbox.droppedBatches.load(ordering: .relaxed)
            guard count > lossesTold[index] else { continue }
            stream.tell(Loss(sink: runner.context.name, batches: Int(count - lossesTold[index])))
            lossesTold[index] = count
        }
    }

    private func takeReplies(forSink index: Int) -> [Mailbox.Reply] {
        replies.isEmpty ? [] : replies.removeValue(forKey: index) ?? []
    }

    /// Wishes that were obeyed and whose batch never came are answered all the same. Those that still wait are the next
    /// stream's, if there is one.
    private func answerRest() {
        for reply in replies.values.joined() { reply() }
        replies.removeAll()
    }
}
