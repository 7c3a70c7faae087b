internal import Hemiola

/// Passes the batches of one recorded stream to the sinks, with the events of directors and controls. Used by the analysis thread only.
final class RecordedStream: ControllableStream {
    /// Length of the events' lines in a block from which on it is passed on.
    private static let longestBlock = 4 << 20
    /// Values in the rows of a block at most.
    private static let blockValues = 1 << 20

    let header: StreamHeader
    /// The end of the last batch.
    private(set) var position: Int64 = 0
    private(set) var batchCount: Int64 = 0
    /// Whether the stream has records of batches.
    private(set) var hasRows = false
    /// The samples; nil: they are silence.
    let audio: RecordedAudio?
    /// The last gap.
    private(set) var lastGap: Range<Int64>?
    /// Whether a notice said that the audio has ended.
    var isEndReported = false

    private let directors: [PipelineDirector]
    /// Types whose recorded events are left out.
    private let derivedTypes: Set<String>
    private let publish: (BatchBlock) -> Void
    private let pool: BlockPool
    private var block: BatchStorage
    private var byteCount = 0
    /// The events of controls for the next batch.
    private var events = EventList()

    /// - Parameters:
    ///   - audio: The samples; nil: they are silence.
    ///   - batchesPerBlock: The most batches in a block.
    ///   - carriesSamples: Whether batches have samples.
    ///   - publish: Receives each full block.
    init(
        _ header: StreamHeader, audio: RecordedAudio?, directors: [PipelineDirector], derivedTypes: Set<String>, batchesPerBlock: Int,
        carriesSamples: Bool, publish: @escaping (BatchBlock) -> Void
    ) {
        self.header = header
        self.audio = audio
        self.directors = directors
        self.derivedTypes = derivedTypes
        self.publish = publish
        let channelCount = header.format.channelCount
        pool = BlockPool(
            capacity: min(batchesPerBlock, max(1, Self.blockValues / max(1, header.layout.width))), width: header.layout.width,
            samplesPerBatch: carriesSamples ? header.batching.batchFrames * channelCount : 0, channelCount: channelCount)
        block = pool.take()
    }

    var seconds: Double { header.format.seconds(at: position) }

    func apply(_ control: Control, from origin: String, preparations: [ControlInbox.Preparation]) -> ControlReply {
        let stamped = StampedControl(control, at: position, from: origin)
        let reply = directors.handle(stamped, preparations)
        events.append(stamped, after: reply, at: seconds)
        return reply ?? .refused("nothing in a replay handles \(control.name)")
    }

    func report(_ drop: DropReport) {
        events.append(drop, at: seconds)
    }

    /// Removes the events that wait for a batch, because the next batch comes much later.
    ///
    /// - Parameter isControlled: Whether controls were applied.
    func takeEventsOfPause(isControlled: Bool) -> [Event] {
        if isControlled { directors.directPause(into: &events) }
        return takeEvents()
    }

    private func takeEvents() -> [Event] {
        publishBlock()
        var waiting: [Event] = []
        events.drain(into: &waiting)
        return waiting
    }

    /// Adds a batch.
    ///
    /// - Parameter batch: The batch, with a known length.
    func add(_ batch: RecordingReader.Batch, shouldStop: () -> Bool) throws(Problem) {
        for event in batch.events where event.type == .gap {
            let start = header.format.frame(at: event.time)
            if let gap = Gap(event) { lastGap = start..<start + gap.frames }
        }
        let frameCount = batch.frameCount ?? 0
        let row = block.openRow
        if let values = batch.row {
            for index in row.indices { row[index] = values[index] }
            hasRows = true
        } else {
            row.update(repeating: .nan)
        }
        if block.samplesPerBatch > 0, frameCount > 0 {
            let samples = UnsafeMutableBufferPointer(rebasing: block.openSamples[..<(frameCount * header.format.channelCount)])
            samples.update(repeating: 0)
            var span = samples.mutableSpan
            try audio?.read(at: batch.frame, into: &span, shouldStop: shouldStop)
        }
        block.complete(
            BatchStorage.Info(
                number: batch.number, frame: batch.frame, frameCount: frameCount, isPartial: batch.isPartial,
                hasValues: batch.row != nil),
            events: direct(batch, row))
        position = max(position, batch.frame + Int64(frameCount))
        if batch.row != nil { batchCount += 1 }
        byteCount += batch.byteCount
        if block.isFull || byteCount > Self.longestBlock { publishBlock() }
    }

    /// The events of a batch: the recorded ones in their order, then, in order of time, those of controls and directors.
    private func direct(_ batch: RecordingReader.Batch, _ row: UnsafeMutableBufferPointer<Float>) -> [Event] {
        var recorded = batch.events
        if !derivedTypes.isEmpty {
            recorded.removeAll { derivedTypes.contains($0.type.name) }
            for index in recorded.indices {
                guard var control = recorded[index].control else { continue }
                for director in directors where director.controls.contains(control.control.name) {
                    control = control.after(director.handle(control, nil))
                }
                recorded[index] = Event(at: recorded[index].time, control)
            }
        }
        if directors.isEmpty, events.isEmpty { return recorded }
        var list = EventList(capacity: recorded.count)
        for event in recorded { list.append(event) }
        for event in events.events { list.append(event) }
        events = EventList()
        // Events alone are part of a batch that was directed before, unless the recording has no batches.
        if batch.row != nil || !hasRows {
            let moment = BatchMoment(
                number: batch.number, frame: batch.frame, frameCount: batch.frameCount ?? 0, format: header.format)
            let view = FeatureRow(row.mutableSpan)
            for director in directors { director.director.direct(moment, view, into: &list) }
        }
        for event in recorded where event.type == .gap {
            if let gap = Gap(event), gap.frames > 0 { for director in directors { director.director.skip(gap) } }
        }
        if list.count == recorded.count { return recorded }
        var sorted: [Event] = []
        list.drain(into: &sorted)
        return sorted
    }

    /// Passes on the last block.
    ///
    /// - Returns: The events of controls that came after the last batch.
    func finish() -> [Event] {
        takeEvents()
    }

    private func publishBlock() {
        byteCount = 0
        guard block.count > 0 else { return }
        publish(BatchBlock(block))
        block = pool.take()
    }
}
