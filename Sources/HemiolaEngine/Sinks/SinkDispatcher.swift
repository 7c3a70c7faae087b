internal import Hemiola
internal import HemiolaRecords
internal import HemiolaSignal

/// Passes the streams to the sinks' queues and the sinks' controls to the stream, and counts losses.
final class SinkDispatcher: StreamReceiver {
    /// The shortest time between two reports of losses, in seconds of stream time.
    private static let lossInterval = 1.0

    private(set) var outcome = RunOutcome()
    private(set) var hasReader = true

    private let pipeline: Pipeline
    private let sinks: [SinkThread]
    private let inbox: ControlInbox

    /// The losses of each sink at the start of the stream and at the last report.
    private var lossesAtStart: [QueueLoss] = []
    private var reportedLosses: [QueueLoss] = []
    private var lastLossTime = 0.0
    /// The skipped sinks whose first losses of the stream were reported. The `end` record has the rest.
    private var reportedSkips: Set<Int> = []
    private var format = StreamFormat(sampleRate: 1, channelCount: 1)

    init(_ pipeline: Pipeline, sinks: [SinkThread], inbox: ControlInbox) {
        self.pipeline = pipeline
        self.sinks = sinks
        self.inbox = inbox
    }

    var inTurn: @Sendable (@escaping @Sendable () -> Void) -> Void { { $0() } }

    func receive(_ item: StreamItem) {
        var item = item
        switch item {
        case .begin(var header):
            header.number = outcome.streams
            item = .begin(header)
            outcome.streams += 1
            lossesAtStart = lossesNow
            reportedLosses = lossesAtStart
            lastLossTime = 0
            reportedSkips = []
            format = header.format
        case .batches(let block, _):
            pipeline.note(frame: block[block.count - 1].endFrame)
        case .events:
            break
        case .end(var summary):
            // The `end` record counts lost batches alone.
            for loss in takeLosses() where loss.events > 0 {
                summary.lateEvents.append(Event(at: format.seconds(at: summary.frames), loss))
            }
            item = .end(summary)
        case .inputEnd(let completion):
            if !completion.end.wasInterrupted { outcome.inputs += 1 }
            if completion.end.error != nil { noteFailedInput(isSkippable: completion.isSkippable) }
            if sinks.isEmpty { completion.sinkHasEnded() }
        }
        for sink in sinks where !sink.queue.put(item) {
            if case .inputEnd(let completion) = item, sink.queue.isSkipped { completion.sinkHasEnded() }
        }
        if case .batches = item { hasReader = sinks.isEmpty || sinks.contains { $0.queue.hasReader } }
    }

    func noteFailedInput(isSkippable: Bool = false) {
        if isSkippable { outcome.skippedInputs += 1 } else { outcome.failedInputs += 1 }
    }

    // MARK: - Controls and losses

    func applyControls(to stream: any ControllableStream, at frame: Int64?) {
        if pipeline.isLive, stream.seconds - lastLossTime >= Self.lossInterval {
            lastLossTime = stream.seconds
            for loss in takeLosses() { stream.report(loss) }
        }
        if inbox.isEmpty { return }
        let (entries, losses) = inbox.drain()
        for loss in losses { stream.report(loss) }
        let effect = frame.map { StreamPosition(stream: outcome.streams - 1, frame: $0) }
        for entry in entries {
            let answer = stream.apply(entry.control, from: entry.origin, preparations: entry.preparations)
            entry.reply?(answer, effect)
        }
    }

    /// Refuses all controls: streams that were analysed ahead cannot be changed.
    func refuseControls() {
        if inbox.isEmpty { return }
        for entry in inbox.drain().entries {
            entry.reply?(.refused("files are analysed in parallel; controls need one job (--jobs 1)"), nil)
        }
    }

    var losses: [(sink: String, batches: Int64)] {
        zip(sinks, lossesAtStart).compactMap { sink, before in
            let batches = sink.queue.loss.batches - before.batches
            return batches > 0 ? (sink.name, batches) : nil
        }
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
