internal import Hemiola
internal import HemiolaRecords
internal import HemiolaSignal
internal import Synchronization

/// Passes the streams to the sinks' mailboxes and the sinks' controls to the stream, and counts losses.
final class SinkDispatcher: StreamReceiver {
    /// The shortest time between two reports of losses, in seconds of stream time.
    private static let lossInterval = 1.0

    private(set) var outcome: RunOutcome
    private(set) var hasReaders = true
    /// Whether the input under way was taken to its end, or failed. The caller resets it for each input.
    var isInputDone = false

    private let pipeline: Pipeline
    private let sinks: [SinkThread]
    private let inbox: ControlInbox
    private let sendNotice: @Sendable (PipelineNotice) -> Void

    /// The losses of a sink so far.
    private struct LossCount {
        var batches: Int64
        var events: Int64
    }

    /// The losses of each sink at the start of the stream and at the last report.
    private var lossesAtStart: [LossCount] = []
    private var reportedLosses: [LossCount] = []
    private var lastLossTime = 0.0
    /// The skipped sinks whose first losses of the stream were reported. The `end` record has the rest.
    private var reportedSkips: Set<Int> = []
    private var format = StreamFormat(sampleRate: 1, channelCount: 1)
    /// Replies that wait for the next block, by sink.
    private var replies: [Int: [Mailbox.Reply]] = [:]

    init(
        _ pipeline: Pipeline, sinks: [SinkThread], inbox: ControlInbox, outcome: RunOutcome,
        report: @escaping @Sendable (PipelineNotice) -> Void
    ) {
        self.pipeline = pipeline
        self.sinks = sinks
        self.inbox = inbox
        self.outcome = outcome
        sendNotice = report
    }

    // MARK: - Streams

    func open(_ source: StreamSource, input: Int) {
        pipeline.note(source, index: input)
    }

    func begin(_ header: StreamHeader) {
        for sink in sinks { sink.mailbox.put(.begin(header)) }
        outcome.streams += 1
        lossesAtStart = lossesNow
        reportedLosses = lossesAtStart
        lastLossTime = 0
        reportedSkips = []
        format = header.format
    }

    func receive(_ block: BatchBlock) {
        hasReaders = sinks.isEmpty
        for index in sinks.indices {
            let mailbox = sinks[index].mailbox
            mailbox.put(.block(block, replies: takeReplies(forSink: index)))
            if !mailbox.hasNoReader { hasReaders = true }
        }
        pipeline.note(frame: block[block.count - 1].endFrame)
    }

    func receive(_ events: [Event]) {
        if events.isEmpty { return }
        for sink in sinks { sink.mailbox.put(.events(events)) }
    }

    func end(_ summary: StreamSummary) {
        var summary = summary
        // The `end` record counts lost batches alone.
        for loss in takeLosses() where loss.events > 0 {
            summary.lateEvents.append(Event(at: format.seconds(at: summary.frames), loss))
        }
        for sink in sinks { sink.mailbox.put(.end(summary)) }
        isInputDone = summary.reason != .interrupted
        sendReplies()
    }

    func end(_ input: InputEnd, of source: SourceInput?) {
        let completion = InputCompletion(input, sinks: max(1, sinks.count)) { [pipeline] end in
            if input.error == nil, end.error != nil { pipeline.noteLostResult() }
            if let source, let supply = pipeline.supply { supply.source.inputEnded(source, end) }
        }
        for sink in sinks { sink.mailbox.put(.inputEnd(input, completion)) }
        if sinks.isEmpty { completion.sinkHasEnded() }
    }

    var reporter: @Sendable (PipelineNotice) -> Void { sendNotice }

    func report(_ notice: PipelineNotice) {
        sendNotice(notice)
    }

    func fail(_ notice: PipelineNotice) {
        if case .inputSkipped = notice { outcome.skippedInputs += 1 } else { outcome.failedInputs += 1 }
        isInputDone = true
        sendNotice(notice)
    }

    // MARK: - Controls and losses

    func applyControls(to stream: any ControllableStream) {
        if pipeline.isLive, stream.seconds - lastLossTime >= Self.lossInterval {
            lastLossTime = stream.seconds
            for loss in takeLosses() { stream.report(loss) }
        }
        if inbox.isEmpty { return }
        let (entries, losses) = inbox.drain()
        for loss in losses { stream.report(loss) }
        for entry in entries {
            let answer = stream.apply(entry.control, from: entry.origin, preparations: entry.preparations)
            if let reply = entry.reply { replies[entry.sink, default: []].append { reply(answer) } }
        }
    }

    /// Sends the replies to applied controls whose batch is not written, or not before the device is back. Controls that still wait are
    /// for the next stream, if there is one.
    func sendReplies() {
        if replies.isEmpty { return }
        for reply in replies.values.joined() { reply() }
        replies.removeAll()
    }

    /// Refuses all controls: streams that were analysed ahead cannot be changed.
    func refuseControls() {
        if inbox.isEmpty { return }
        for entry in inbox.drain().entries {
            entry.reply?(.refused("files are analysed in parallel; controls need one job (--jobs 1)"))
        }
    }

    var losses: [(sink: String, batches: Int64)] {
        zip(zip(sinks, lossesNow), lossesAtStart).compactMap { sink, before in
            let batches = sink.1.batches - before.batches
            return batches > 0 ? (sink.0.name, batches) : nil
        }
    }

    private var lossesNow: [LossCount] {
        sinks.map {
            LossCount(
                batches: $0.mailbox.droppedBatches.load(ordering: .relaxed), events: $0.mailbox.droppedEvents.load(ordering: .relaxed))
        }
    }

    /// The losses of each sink since the last call; only sinks with losses.
    private func takeLosses() -> [DropReport] {
        var losses: [DropReport] = []
        for (index, count) in lossesNow.enumerated() {
            let before = reportedLosses[index]
            let (batches, events) = (count.batches - before.batches, count.events - before.events)
            guard batches > 0 || events > 0 else { continue }
            if sinks[index].mailbox.isSkipped, !reportedSkips.insert(index).inserted { continue }
            losses.append(DropReport(sink: sinks[index].name, batches: Int(batches), events: Int(events)))
            reportedLosses[index] = count
        }
        return losses
    }

    private func takeReplies(forSink index: Int) -> [Mailbox.Reply] {
        replies.isEmpty ? [] : replies.removeValue(forKey: index) ?? []
    }
}
