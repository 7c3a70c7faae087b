internal import Hemiola

/// Passes the streams to the sinks' queues and the sinks' controls to the stream, and counts losses.
final class SinkDispatcher: StreamReceiver {
    /// The shortest time between two reports of losses, in seconds of stream time.
    private static let lossInterval = 1.0

    private(set) var outcome = RunOutcome()
    private(set) var hasReader = true
    /// Whether an input was not taken to its end, although it did not fail.
    private var wasInterrupted = false

    private let pipeline: Pipeline
    private let sinks: [SinkThread]
    private let inbox: ControlInbox

    /// The losses of each sink at the last report.
    private var reportedLosses: [QueueLoss] = []
    /// The sums of the `dropped` records of the stream, by the name of the sink.
    private var recordedLosses: [String: Int64] = [:]
    private var lastLossTime = 0.0
    /// The skipped sinks whose first losses of the stream were reported. The `end` record has the rest.
    private var reportedSkips: Set<Int> = []
    private var format = StreamFormat(sampleRate: 1, channelCount: 1)
    /// The replies to controls that were handled since the last batch, for the sinks that have submitted them.
    private var replies: [Int: [BoundedQueue.Reply]] = [:]
    /// Whether a control was handled since the last batch.
    private var hasHandledControls = false

    init(_ pipeline: Pipeline, sinks: [SinkThread], inbox: ControlInbox) {
        self.pipeline = pipeline
        self.sinks = sinks
        self.inbox = inbox
    }

    /// Whether no further input is analysed.
    var isOver: Bool { pipeline.shouldStop || wasInterrupted || !hasReader }

    var inTurn: @Sendable (@escaping @Sendable () -> Void) -> Void { { $0() } }

    func receive(_ item: StreamItem) {
        var item = item
        switch item {
        case .begin(var header):
            header.number = outcome.streams
            item = .begin(header)
            outcome.streams += 1
            reportedLosses = lossesNow
            recordedLosses = [:]
            lastLossTime = 0
            reportedSkips = []
            format = header.format
        case .batches(let block):
            pipeline.note(seconds: format.seconds(at: block[block.count - 1].endFrame))
            for index in 0..<block.count { add(lossesIn: block[index].events) }
        case .events(let events):
            add(lossesIn: events.span)
        case .end(var summary):
            sendReplies()
            for loss in takeLosses() + inbox.takeLosses() {
                summary.lateEvents.append(Event(at: format.seconds(at: summary.frames), loss))
            }
            add(lossesIn: summary.lateEvents.span)
            summary.dropped = sums(with: summary.dropped)
            item = .end(summary)
        case .inputEnd(let completion):
            if completion.end.wasInterrupted { wasInterrupted = true } else { outcome.inputs += 1 }
            if completion.end.error != nil { noteFailedInput(isSkippable: completion.isSkippable) }
            if sinks.isEmpty { completion.sinkHasEnded() }
        }
        for sink in sinks where !sink.queue.put(item) {
            if case .inputEnd(let completion) = item, sink.queue.isSkipped { completion.sinkHasEnded() }
        }
        switch item {
        case .batches, .events: sendReplies()
        case .begin, .end, .inputEnd: break
        }
        if case .batches = item { hasReader = sinks.isEmpty || sinks.contains { $0.queue.hasReader } }
    }

    func noteFailedInput(isSkippable: Bool = false) {
        if isSkippable { outcome.skippedInputs += 1 } else { outcome.failedInputs += 1 }
    }

    // MARK: - Controls and losses

    @discardableResult func applyControls(to stream: any StreamProducer) -> Bool {
        if pipeline.isLive, stream.seconds - lastLossTime >= Self.lossInterval {
            lastLossTime = stream.seconds
            for loss in takeLosses() { stream.report(loss) }
        }
        if inbox.isEmpty { return hasHandledControls }
        let (entries, losses) = inbox.drain()
        for loss in losses { stream.report(loss) }
        for entry in entries {
            hasHandledControls = true
            let answer = stream.apply(entry.control, from: entry.origin, preparations: entry.preparations)
            if let reply = entry.reply { replies[entry.sink, default: []].append { reply(answer) } }
        }
        return hasHandledControls
    }

    /// Sends the sinks the replies to their controls, behind what the controls have changed.
    private func sendReplies() {
        hasHandledControls = false
        if replies.isEmpty { return }
        for (sink, own) in replies { sinks[sink].queue.put(own) }
        replies.removeAll()
    }

    /// Refuses all controls: streams that were analysed ahead cannot be changed.
    func refuseControls() {
        if inbox.isEmpty { return }
        for entry in inbox.drain().entries {
            entry.reply?(.refused("files are analysed in parallel; controls need one job (--jobs 1)"))
        }
    }

    private func add(lossesIn events: borrowing Span<Event>) {
        for index in events.indices {
            guard let loss = DropReport(events[index]) else { continue }
            recordedLosses[loss.sink, default: 0] += Int64(loss.batches) + Int64(loss.events)
        }
    }

    /// What each sink lost in the stream.
    ///
    /// - Parameter known: The sums of a recording, which can lack records.
    private func sums(with known: [(sink: String, batches: Int64)]) -> [(sink: String, batches: Int64)] {
        var sums = recordedLosses
        for (index, loss) in lossesNow.enumerated() where sinks[index].queue.isSkipped {
            // Of a skipped sink only the first losses have a record.
            let rest = loss - reportedLosses[index]
            sums[sinks[index].name, default: 0] += rest.batches + rest.events
        }
        for loss in known { sums[loss.sink] = max(sums[loss.sink] ?? 0, loss.batches) }
        return sums.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private var lossesNow: [QueueLoss] { sinks.map(\.queue.loss) }

    /// The losses of each sink since the last call; only sinks with losses.
    private func takeLosses() -> [DropReport] {
        var losses: [DropReport] = []
        for (index, count) in lossesNow.enumerated() {
            let new = count - reportedLosses[index]
            guard new != QueueLoss() else { continue }
            if sinks[index].queue.isSkipped, !reportedSkips.insert(index).inserted { continue }
            losses.append(DropReport(sink: sinks[index].name, batches: Int(new.batches), events: Int(new.events)))
            reportedLosses[index] = count
        }
        return losses
    }
}
