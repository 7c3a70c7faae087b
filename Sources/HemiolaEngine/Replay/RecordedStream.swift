internal import Hemiola

/// Produces a recorded stream: each batch when its audio has ended, or as fast as the sinks accept them, with the events of directors and
/// controls.
final class RecordedStream: StreamProducer {
    /// A batch with its events, or events without the record of a batch.
    private struct Batch {
        var number: Int64
        var frame: Int64
        var frameCount: Int
        var isPartial = false
        /// The values; nil: no batch was recorded.
        var row: [Float]?
        /// In the order of their records.
        var events: [Event] = []
        /// The length of the events' lines.
        var byteCount = 0

        /// The frame after its last.
        var end: Int64 { frame + Int64(frameCount) }
    }

    /// Length of the events' lines from which on further events get a batch of their own, and a block is passed on.
    private static let longestEvents = 1 << 18
    /// Days without records from which on no samples are sent for them: those of a damaged recording would never end.
    private static let mostSilentDays = 30

    let header: StreamHeader
    private let reader: RecordingReader
    /// The samples; nil: they are silence.
    private let audio: RecordedAudio?
    private let blocks: BlockWriter
    private let player: RecordingPlayer
    private var pace: RealTimePace

    /// The batch that further events may belong to, and whether its length is known.
    private var pending: Batch?
    private var hasLength = true
    /// The batch that is complete, and produced when it is due.
    private var ready: Batch?
    /// The end after it; nil: it was not read. Without a summary, the recording has no record of it.
    private var ending: Result<StreamSummary?, Problem>?

    /// The end of the last batch that was produced.
    private var position: Int64 = 0
    /// The records of batches that were produced.
    private var batchCount: Int64 = 0
    /// The length of the events' lines in the block that is being filled.
    private var blockBytes = 0
    /// The last gap.
    private var lastGap = 0..<Int64(0)
    /// Whether a notice said that the audio has ended.
    private var isEndReported = false
    /// The events of controls for the next batch.
    private var events = EventList()
    /// That of the recording; nil: its end was not reached.
    private var summary: StreamSummary?

    init(_ header: StreamHeader, from reader: RecordingReader, audio: RecordedAudio?, blocks: BlockWriter, of player: RecordingPlayer) {
        self.header = header
        self.reader = reader
        self.audio = audio
        self.blocks = blocks
        self.player = player
        pace = RealTimePace(start: player.pipeline.clock.now)
    }

    var seconds: Double { header.format.seconds(at: position) }
    var isBetweenBatches: Bool { true }

    func apply(_ control: Control, from origin: String, preparations: ControlInbox.Preparations) -> ControlReply {
        let stamped = StampedControl(control, at: position, from: origin)
        let reply = player.directors.handle(stamped, preparations)
        events.append(stamped, after: reply, at: seconds)
        return reply ?? .refused("nothing in a replay handles \(control.name)")
    }

    func report(_ drop: DropReport) {
        events.append(drop, at: seconds)
    }

    func takeEventsOfPause(isControlled: Bool) -> [Event] {
        if isControlled { player.directors.directPause(into: &events) }
        return takeEvents()
    }

    private func takeEvents() -> [Event] {
        flush()
        var waiting: [Event] = []
        events.drain(into: &waiting)
        return waiting
    }

    private func flush() {
        blocks.flush()
        blockBytes = 0
    }

    func advance() throws(Problem) -> ReadResult {
        while ready == nil, ending == nil {
            do {
                guard try read() else { return .idle }
            } catch {
                end(.failure(error))
            }
        }
        if let ready { return try produce(ready) }
        let recorded = try ending?.get() ?? StreamSummary(frames: position, batches: batchCount, reason: .endOfInput)
        let end = end(of: recorded)
        let missing = try missingFrames(before: end)
        if missing > 0 { return try addMissing(missing) }
        guard isDue(end) else { return .idle }
        if let audio, !isEndReported, try audio.hasMore() {
            warn("\(audio.name): is longer than the recording, which ends at \(text(recorded.frames)) s")
        }
        summary = recorded
        return .end
    }

    /// Passes on the last block.
    ///
    /// - Parameter reason: Why the stream ends before the end of the recording.
    /// - Returns: The recorded summary, with the events of controls that came after the last batch.
    func finish(_ reason: StreamSummary.Reason) -> StreamSummary {
        var summary = summary ?? StreamSummary(frames: position, batches: batchCount, reason: reason)
        summary.lateEvents = takeEvents()
        return summary
    }

    private func warn(_ text: String) {
        player.report(.warning(text))
    }

    // MARK: - Records

    /// Reads a record.
    ///
    /// - Returns: Whether one was there.
    private func read() throws(Problem) -> Bool {
        switch try reader.next(warn: warn) {
        case .idle: return false
        case .end:
            warn("\(reader.name): the last stream has no end record; the recording is incomplete, or its selection left it out")
            end(.success(nil))
        case .record(.header(let next), _):
            warn(reader.message("the stream before this header has no end record"))
            reader.putBack(next)
            end(.success(nil))
        case .record(.batch(let record), _):
            completeBatch(before: record.frame)
            guard record.frame >= readEnd else {
                throw Problem(reader.message("the batch begins before the end of the batch before"))
            }
            pending = Batch(
                number: record.number, frame: record.frame, frameCount: header.batching.batchFrames, isPartial: record.isPartial,
                row: record.row)
            hasLength = !record.isPartial
        case .record(.event(let event, let emitted), let byteCount):
            add(event, emitted: emitted.map(header.format.frame), byteCount: byteCount)
        case .record(.end(let summary), _): end(.success(summary), at: summary.frames)
        case .record(.failure, _): break
        }
        return true
    }

    /// Adds an event to the batch after whose record it was written: the one that ends at its `emitted_t`.
    private func add(_ event: Event, emitted: Int64?, byteCount: Int) {
        let time = header.format.frame(at: event.time)
        if !hasLength, let start = pending?.frame {
            // A gap, and the loss of a device, come at the end of a partial batch.
            let end = emitted ?? (event.type == .gap || event.type == .device ? time : nil)
            if let end, (1...Int64(header.batching.batchFrames)).contains(end - start) {
                pending?.frameCount = Int(end - start)
                hasLength = true
            }
        }
        let limit = pending.map { hasLength ? $0.end : $0.frame } ?? position
        // Without batches, events are the only ones to have a time.
        let end = max(limit, emitted ?? (batchCount > 0 || pending?.row != nil ? limit : time))
        let isFull = pending.map { $0.byteCount + byteCount > Self.longestEvents && !$0.events.isEmpty } ?? true
        if isFull || end > limit && hasLength {
            completeBatch()
            pending = Batch(number: batchCount + (ready?.row == nil ? 0 : 1), frame: max(readEnd, end), frameCount: 0)
            hasLength = true
        }
        pending?.events.append(event)
        pending?.byteCount += byteCount
    }

    /// Completes the batch that waits for further events.
    ///
    /// - Parameter next: The frame at which the records continue; nil: unknown.
    private func completeBatch(before next: Int64? = nil) {
        guard var batch = pending.take() else { return }
        if !hasLength, let next, next > batch.frame { batch.frameCount = Int(min(Int64(batch.frameCount), next - batch.frame)) }
        ready = batch
    }

    private func end(_ ending: Result<StreamSummary?, Problem>, at frame: Int64? = nil) {
        completeBatch(before: frame)
        self.ending = ending
    }

    /// The end of the last batch that was read.
    private var readEnd: Int64 { ready?.end ?? position }

    // MARK: - Time

    /// Where a stream ends. In real time there is nothing to wait for where the input was cut off.
    private func end(of summary: StreamSummary) -> Int64 {
        player.pipeline.isPaced && lastGap.upperBound >= summary.frames ? max(position, lastGap.lowerBound) : summary.frames
    }

    /// Waits until the audio before a frame has ended, if the replay is paced, but not for long.
    ///
    /// - Returns: Whether it has ended.
    private func isDue(_ frame: Int64) -> Bool {
        guard player.pipeline.isPaced else { return true }
        let (time, clock) = (header.format.seconds(at: frame), player.pipeline.clock)
        if let pause = pace.note(time, now: clock.now) {
            player.report(.captureWarning(input: reader.name, "\(reader.name): \(pause)"))
        }
        return pace.wait(for: time, clock)
    }

    /// The time of a frame, for messages.
    private func text(_ frame: Int64) -> String {
        let milliseconds = Int(header.format.seconds(at: frame) * 1000)
        let rest = String(milliseconds % 1000)
        return "\(milliseconds / 1000).\(String(repeating: "0", count: 3 - rest.count))\(rest)"
    }

    // MARK: - Batches

    private func produce(_ recorded: Batch) throws(Problem) -> ReadResult {
        var batch = recorded
        let missing = batch.row == nil ? try missingFrames(before: batch.end) : 0
        if missing > header.batching.batchFrames { return try addMissing(missing) }
        // The events become part of the batch that ends with them.
        if missing > 0 { (batch.frame, batch.frameCount) = (position, Int(missing)) }
        let result = try add(batch)
        if result != .idle { ready = nil }
        return result
    }

    /// Frames up to another for which a recording without batches has none, where sinks need samples.
    private func missingFrames(before end: Int64) throws(Problem) -> Int64 {
        guard blocks.carriesSamples, batchCount == 0, end > position else { return 0 }
        guard end - position <= Int64(Self.mostSilentDays) * 86_400 * Int64(header.format.sampleRate) else {
            throw Problem(
                "\(reader.name): has no records for more than \(Self.mostSilentDays) days after \(text(position)) s; "
                    + "replay it to sinks that read no audio")
        }
        return end - position
    }

    /// Adds a batch without values, which carries the samples of missing frames.
    private func addMissing(_ frames: Int64) throws(Problem) -> ReadResult {
        let length = Int64(header.batching.batchFrames)
        return try add(
            Batch(number: position / length, frame: position, frameCount: Int(min(length, frames)), isPartial: frames < length))
    }

    /// Adds a batch when it is due.
    private func add(_ batch: Batch) throws(Problem) -> ReadResult {
        guard isDue(batch.end) else { return .idle }
        let row = blocks.block.openRow
        if let values = batch.row {
            for index in row.indices { row[index] = values[index] }
        } else {
            row.update(repeating: .nan)
        }
        if blocks.carriesSamples, batch.frameCount > 0 {
            let samples = UnsafeMutableBufferPointer(
                rebasing: blocks.block.openSamples[..<(batch.frameCount * header.format.channelCount)])
            samples.update(repeating: 0)
            var span = samples.mutableSpan
            try audio?.read(at: batch.frame, into: &span)
        }
        blocks.block.complete(
            BatchStorage.Info(
                number: batch.number, frame: batch.frame, frameCount: batch.frameCount, isPartial: batch.isPartial,
                hasValues: batch.row != nil),
            events: direct(batch, row))
        position = max(position, batch.end)
        if batch.row != nil { batchCount += 1 }
        blockBytes += batch.byteCount
        if blocks.block.isFull || blockBytes > Self.longestEvents { flush() }
        if let audio, audio.isAtEnd, audio.position < batch.end, !isEndReported {
            isEndReported = true
            warn("\(audio.name): ends at \(text(audio.position)) s, before the recording; the samples after it are silence")
        }
        return .frames(batch.frameCount)
    }

    /// The events of a batch: the recorded ones in their order, then, in order of time, those of controls and directors.
    private func direct(_ batch: Batch, _ row: UnsafeMutableBufferPointer<Float>) -> [Event] {
        let (directors, derivedTypes) = (player.directors, player.setup.derivedTypes)
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
        var list = EventList(capacity: recorded.count)
        for event in recorded + events.events { list.append(event) }
        events = EventList()
        // Events alone are part of a batch that was directed before, unless the recording has no batches.
        if batch.row != nil || batchCount == 0 {
            let moment = BatchMoment(number: batch.number, frame: batch.frame, frameCount: batch.frameCount, format: header.format)
            let view = FeatureRow(row.mutableSpan)
            for director in directors { director.director.direct(moment, view, into: &list) }
        }
        for event in batch.events where event.type == .gap {
            guard let gap = Gap(event) else { continue }
            let start = header.format.frame(at: event.time)
            lastGap = start..<start + gap.frames
            if gap.frames > 0 { for director in directors { director.director.skip(gap) } }
        }
        if list.count == recorded.count { return recorded }
        var sorted: [Event] = []
        list.drain(into: &sorted)
        return sorted
    }
}
