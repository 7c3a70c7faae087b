internal import Hemiola

/// Produces a stream batch by batch, from the audio of a capture or from records, and passes full blocks on. Used by the analysis thread
/// only.
protocol StreamProducer: AnyObject {
    var header: StreamHeader { get }
    /// Seconds of stream time up to now.
    var seconds: Double { get }
    /// Whether no batch has been started: controls are applied then, and while the source pauses.
    var isBetweenBatches: Bool { get }

    /// Reads a part of the stream, and produces the batch that it completes.
    ///
    /// - Returns: What was read; `.idle` after at most 100 ms without anything.
    func advance() throws(Problem) -> ReadResult
    /// Applies a control at the next batch, which includes its record when it has taken effect.
    func apply(_ control: Control, from origin: String, preparations: ControlInbox.Preparations) -> ControlReply
    /// Adds the report of lost batches to the next batch.
    func report(_ drop: DropReport)
    /// Removes the events that are to be written without a batch, because the next one may come much later, or never.
    ///
    /// - Parameter isControlled: Whether controls were applied.
    func takeEventsOfPause(isControlled: Bool) -> [Event]
}

/// How a stream has ended.
enum StreamEnding {
    case over(StreamSummary.Reason)
    case failed(Problem)
    case newSource(StreamSource)
}

extension Pipeline {
    /// Begins a stream and advances it to its end, with the controls of clients.
    ///
    /// - Parameters:
    ///   - mayBegin: Called between two batches, before the controls are applied; false: the stream ends there.
    ///   - note: Receives what was read.
    func drive<Producer: StreamProducer>(
        _ producer: Producer, _ directors: [PipelineDirector], to receiver: any StreamReceiver, mayBegin: () -> Bool = { true },
        note: (ReadResult) throws(Problem) -> Void = { _ in }
    ) -> StreamEnding {
        for director in directors { director.director.prepare(producer.header) }
        receiver.receive(.begin(producer.header))
        while true {
            noteActivity()
            if shouldStop { return .over(.interrupted) }
            if producer.isBetweenBatches {
                if !receiver.hasReader { return .over(.interrupted) }
                if !mayBegin() { return .over(.endOfInput) }
                receiver.applyControls(to: producer)
            }
            do {
                let result = try reading { () throws(Problem) in try producer.advance() }
                try note(result)
                switch result {
                case .frames, .gap, .device: break
                case .idle:
                    // Another job may have ended the run, also within a batch.
                    if !receiver.hasReader { return .over(.interrupted) }
                    let isControlled = receiver.applyControls(to: producer)
                    let events = producer.takeEventsOfPause(isControlled: isControlled)
                    if isControlled || !events.isEmpty { receiver.receive(.events(events)) }
                case .format(let format):
                    var source = producer.header.source
                    source.format = format
                    source.duration = nil
                    return .newSource(source)
                case .source(let source): return .newSource(source)
                case .end: return .over(.endOfInput)
                }
            } catch {
                return error.remedy == .finish ? .over(.endOfInput) : .failed(error)
            }
        }
    }
}

/// Fills blocks with the batches of a stream, and passes them on when they are full.
///
/// It reuses storages: one is free when no sink has a reference to it.
final class BlockWriter {
    /// Values in the rows of a block at most.
    private static let longestRows = 1 << 20

    /// Whether batches have samples.
    let carriesSamples: Bool
    /// The block that is being filled.
    private(set) var block: BatchStorage
    private var storages: [BatchStorage]
    private let make: () -> BatchStorage
    private let receiver: any StreamReceiver

    /// A writer of blocks for the sinks of a pipeline: of one batch in real time.
    init(_ header: StreamHeader, of pipeline: Pipeline, to receiver: any StreamReceiver) {
        let (width, channelCount) = (header.layout.width, header.format.channelCount)
        let carriesSamples = pipeline.sinkEntries.contains { $0.needs.samples }
        let capacity = pipeline.isRealTime ? 1 : min(BatchBlock.capacity, max(1, Self.longestRows / max(1, width)))
        let samplesPerBatch = carriesSamples ? header.batching.batchFrames * channelCount : 0
        make = { BatchStorage(capacity: capacity, width: width, samplesPerBatch: samplesPerBatch, channelCount: channelCount) }
        self.carriesSamples = carriesSamples
        block = make()
        storages = [block]
        self.receiver = receiver
    }

    /// Passes on the block, full or not.
    func flush() {
        guard block.count > 0 else { return }
        receiver.receive(.batches(BatchBlock(block)))
        block = take()
    }

    private func take() -> BatchStorage {
        for index in storages.indices where isKnownUniquelyReferenced(&storages[index]) {
            storages[index].removeAll()
            return storages[index]
        }
        let storage = make()
        storages.append(storage)
        return storage
    }
}
