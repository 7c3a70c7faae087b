internal import Hemiola

/// The hot path of one stream: from hops to completed batches.
///
/// Used by the analysis thread only. After the first batch it does not allocate or lock, except when it passes a full block to the
/// queues of the sinks. Uses raw buffers, because every access to an array of a class is checked for exclusivity.
final class BatchProducer: StreamProducer {
    let header: StreamHeader
    /// The frame after the last analysed or lost one.
    private(set) var clock: Int64 = 0
    private(set) var batchCount: Int64 = 0
    private(set) var nonFinite: Int64 = 0

    /// The analyzers that have not refused the stream.
    let slots: [AnalyzerSlot]
    private let directors: [PipelineDirector]
    private let bank: SpectrumBank
    private let aggregator: HopAggregator
    private let capture: any Capture
    /// nil where silence is not reported.
    private let silence: SilenceDetector?
    private let blocks: BlockWriter

    private let channelCount: Int
    private let channelMix: ChannelMix
    private var polarity: PolarityDetector
    private let hopFrames: Int
    private let hopsPerBatch: Int
    /// One hop, interleaved.
    private let samples: UnsafeMutablePointer<Float>
    private let mono: UnsafeMutablePointer<Float>
    /// Frames in `samples`.
    private var filled = 0
    /// Hops and frames of the batch under way.
    private var hopsInBatch = 0
    private var framesInBatch = 0
    private var events = EventList()
    /// Events of controls that came while the source paused within a batch.
    private var eventsOfPause = EventList()
    /// The silence at either end of a gap that the first pass analyses, in seconds. After twice this time, no analyzer's state depends on the
    /// sound before it.
    private static let analyzedGapEnd = 30.0
    /// Whether a device event waits for the end of a batch, and whether the last one was that the device was lost.
    private var hasDeviceEvent = false
    private(set) var isLost = false

    init(
        _ preparation: AnalysisJob.Preparation, from capture: any Capture, directors: [PipelineDirector], silence: SilenceDetector?,
        blocks: BlockWriter
    ) {
        header = preparation.header
        slots = preparation.slots
        bank = preparation.bank
        self.capture = capture
        self.directors = directors
        self.blocks = blocks
        self.silence = silence
        channelCount = header.format.channelCount
        channelMix = ChannelMix(header.format)
        polarity = PolarityDetector(sampleRate: header.format.sampleRate, hopFrames: header.batching.hopFrames)
        hopFrames = header.batching.hopFrames
        hopsPerBatch = header.batching.hopsPerBatch
        aggregator = HopAggregator(header.layout, hopsPerBatch: hopsPerBatch)
        samples = .allocate(capacity: hopFrames * channelCount)
        samples.initialize(repeating: 0, count: hopFrames * channelCount)
        mono = .allocate(capacity: hopFrames)
        mono.initialize(repeating: 0, count: hopFrames)
        bank.clear()
    }

    deinit {
        samples.deallocate()
        mono.deallocate()
    }

    var isBetweenBatches: Bool { hopsInBatch == 0 && filled == 0 }

    /// Whether the two channels have opposite polarity, so that their difference is analysed.
    var hasOppositePolarity: Bool { polarity.isOpposite }

    var seconds: Double { header.format.seconds(at: clock) }

    /// Reads the rest of the hop from the capture and analyses the hop when it is complete.
    func advance() throws(Problem) -> ReadResult {
        let delivery = try read(capture)
        switch delivery {
        case .frames:
            if filled == hopFrames { analyse(isLast: hopsInBatch == hopsPerBatch - 1) }
        case .gap(let gap):
            skip(gap)
        case .device(let notice):
            events.append(notice, at: secondsRead)
            hasDeviceEvent = true
            isLost = notice.state == .lost
        case .format, .source, .idle, .end:
            break
        }
        return delivery
    }

    /// Reads and analyses a hop of the first of two passes, without outputs.
    func analyzeFirstPass(_ capture: any Capture) throws(Problem) -> ReadResult {
        let delivery = try read(capture)
        switch delivery {
        case .frames:
            if filled == hopFrames { analyzeHopOfFirstPass() }
        case .gap(let gap):
            if gap.frames > 0 { polarity.skip() }
            analyzeGapOfFirstPass(gap.frames)
        case .end, .format, .source:
            if filled > 0 { analyzeHopOfFirstPass() }
        case .device, .idle:
            break
        }
        return delivery
    }

    /// Removes the events that wait for a batch while no audio is available: those of controls and what they bring about, all while the
    /// device is lost, and all between two batches if one is a device event. If the device is lost during a batch, that batch is published
    /// first, as a partial one; in a pause it waits for the rest of its audio.
    ///
    /// - Parameter isControlled: Whether controls were applied.
    /// - Returns: The events to write without a batch, in order; usually none.
    func takeEventsOfPause(isControlled: Bool) -> [Event] {
        guard isControlled || isLost || hasDeviceEvent && isBetweenBatches else { return [] }
        if isLost, !isBetweenBatches {
            closeBatch()
            // The next audio is not continuous with the last.
            bank.clear()
        }
        blocks.flush()
        if isControlled { directors.directPause(into: &eventsOfPause) }
        var waiting: [Event] = []
        if isBetweenBatches {
            hasDeviceEvent = false
            events.drain(into: &waiting)
        }
        eventsOfPause.drain(into: &waiting)
        return waiting
    }

    /// Ends the first pass: the analyzers finish it, and the clock returns to the start.
    func finishFirstPass() {
        for slot in slots { slot.offline?.finishFirstPass() }
        bank.clear()
        polarity.reset()
        clock = 0
        filled = 0
        hopsInBatch = 0
        nonFinite = 0
    }

    /// Applies a control at the next batch, which includes its record when it has taken effect. While the source pauses within a batch, it is
    /// applied at that batch: analyzers have it from the next hop on, and its record is written before the batch.
    ///
    /// Every analyzer and director whose plugin declares the control handles it. If there is none, the first director whose plugin declares
    /// it as a fallback handles it. The control has taken effect if at least one of them applied it.
    ///
    /// - Parameter preparations: The results of directors' preparers for this control.
    func apply(_ control: Control, from origin: String, preparations: ControlInbox.Preparations = [:]) -> ControlReply {
        let start = clock - Int64(framesInBatch)
        let stamped = StampedControl(control, at: start, from: origin)
        var reply: ControlReply?
        for slot in slots where slot.controls.contains(control.name) {
            if let answer = slot.handler?.handle(stamped), reply?.isDone != true { reply = answer }
        }
        reply = directors.handle(stamped, preparations, after: reply)
        let time = header.format.seconds(at: start)
        if isBetweenBatches {
            events.append(stamped, after: reply, at: time)
        } else {
            eventsOfPause.append(stamped, after: reply, at: time)
        }
        return reply ?? .refused("nothing in this pipeline handles \(control.name)")
    }

    func report(_ drop: DropReport) {
        events.append(drop, at: seconds)
    }

    /// Completes the current batch, collects the analyzers' last events and publishes the last block.
    ///
    /// - Returns: Events after the last batch, in order of time.
    func finish() -> [Event] {
        closeBatch()
        for slot in slots {
            events.setAnalyzer(slot.name)
            slot.analyzer.finish(into: &events)
        }
        blocks.flush()
        var late: [Event] = []
        events.drain(into: &late)
        return late
    }

    // MARK: - Hops

    /// Seconds up to the last frame that was read, analysed or not.
    var secondsRead: Double { header.format.seconds(at: clock + Int64(filled)) }

    private func skip(_ gap: Gap) {
        events.append(gap, at: secondsRead)
        // A gap of no frames does not advance the clock, so the batch continues.
        if gap.frames == 0 { return }
        closeBatch()
        clock += gap.frames
        bank.clear()
        polarity.skip()
        for slot in slots { slot.analyzer.skip(gap) }
        for director in directors { director.director.skip(gap) }
    }

    /// Completes the current batch as a partial one.
    private func closeBatch() {
        if filled > 0 {
            analyse(isLast: true)
        } else if hopsInBatch > 0 {
            completeBatch()
        }
    }

    private func analyse(isLast: Bool) {
        let wasOpposite = polarity.isOpposite
        let frames = takeHop()
        if polarity.isOpposite != wasOpposite { events.append(polarity.polarity, at: seconds) }
        if blocks.carriesSamples {
            let start = blocks.block.openSamples.baseAddress! + framesInBatch * channelCount
            start.update(from: samples, count: frames * channelCount)
        }
        let row = blocks.block.openRow
        let target = aggregator.target(row)
        // A loop by index, because an array's iterator allocates without optimisation.
        for index in slots.indices {
            let slot = slots[index]
            let hop = hop(frames, requests: slot.requests)
            var part = FeatureRow(UnsafeMutableBufferPointer(rebasing: target[slot.columns]).mutableSpan)
            if slot.hasEvents { events.setAnalyzer(slot.name) }
            slot.analyzer.process(hop, into: &part, events: &events)
        }
        aggregator.aggregate(into: row, frames: frames, before: framesInBatch)
        clock += Int64(frames)
        framesInBatch += frames
        hopsInBatch += 1
        if isLast { completeBatch() }
    }

    /// Analyses lost audio as silence, so that the frames of every analyzer go on at their times. Of a long gap only both ends are analysed:
    /// the hops between them are left out.
    private func analyzeGapOfFirstPass(_ frames: Int64) {
        let end = Int64(Self.analyzedGapEnd * Double(header.format.sampleRate))
        let omitted = max(0, frames - 2 * end) / Int64(hopFrames) * Int64(hopFrames)
        analyzeSilenceOfFirstPass(omitted == 0 ? frames : end)
        if omitted == 0 { return }
        clock += omitted
        analyzeSilenceOfFirstPass(frames - omitted - end)
    }

    private func analyzeSilenceOfFirstPass(_ frames: Int64) {
        var rest = Int(frames)
        while rest > 0 {
            let count = min(rest, hopFrames - filled)
            (samples + filled * channelCount).update(repeating: 0, count: count * channelCount)
            filled += count
            rest -= count
            if filled == hopFrames { analyzeHopOfFirstPass() }
        }
    }

    private func analyzeHopOfFirstPass() {
        let isLast = hopsInBatch == hopsPerBatch - 1
        let frames = takeHop()
        for slot in slots { slot.offline?.analyzeFirstPass(hop(frames, requests: slot.requests)) }
        clock += Int64(frames)
        hopsInBatch = isLast ? 0 : hopsInBatch + 1
    }

    /// Reads the rest of the hop from the capture.
    private func read(_ capture: any Capture) throws(Problem) -> ReadResult {
        let free = hopFrames - filled
        let room = UnsafeMutableBufferPointer(start: samples + filled * channelCount, count: free * channelCount)
        var span = room.mutableSpan
        let delivery = try capture.read(into: &span)
        if case .frames(let count) = delivery {
            precondition(count > 0 && count <= free, "a capture must deliver at least one frame and no more than fit into the span")
            filled += count
        }
        return delivery
    }

    /// Mixes and transforms the frames that were read, zero-padded to a hop.
    private func takeHop() -> Int {
        let frames = filled
        filled = 0
        let read = UnsafeMutableBufferPointer(start: samples, count: frames * channelCount)
        var mix = UnsafeMutableBufferPointer(start: mono, count: hopFrames).mutableSpan
        // A copy, because a change in place is checked for exclusivity.
        var polarity = polarity
        if !mix.mix(read.span, by: channelMix, following: &polarity) {
            var span = read.mutableSpan
            nonFinite += Int64(span.silenceNonFinite())
            _ = mix.mix(read.span, by: channelMix, following: &polarity)
        }
        self.polarity = polarity
        if let silence {
            silence.add(range: mix.span.extracting(first: frames).peakToPeak / 2, seconds: header.format.seconds(at: Int64(frames)))
        }
        if frames < hopFrames {
            (mono + frames).update(repeating: 0, count: hopFrames - frames)
        }
        bank.advance(UnsafeBufferPointer(start: mono, count: hopFrames).span, at: clock, frameCount: frames)
        return frames
    }

    @_lifetime(borrow self)
    private func hop(_ frames: Int, requests: Range<Int>) -> Hop {
        let samples = unsafe _overrideLifetime(
            UnsafeBufferPointer(start: samples, count: frames * channelCount).span, borrowing: self)
        let mono = unsafe _overrideLifetime(UnsafeBufferPointer(start: mono, count: hopFrames).span, borrowing: self)
        let slots = unsafe _overrideLifetime(bank.slots(requests).span, borrowing: self)
        return Hop(
            frame: clock, frameCount: frames, indexInBatch: hopsInBatch, format: header.format, mono: mono, samples: samples,
            slots: slots)
    }

    // MARK: - Batches

    private func completeBatch() {
        let row = blocks.block.openRow
        aggregator.convert(row)
        let start = clock - Int64(framesInBatch)
        if !directors.isEmpty {
            let moment = BatchMoment(number: batchCount, frame: start, frameCount: framesInBatch, format: header.format)
            let view = FeatureRow(row.mutableSpan)
            events.setAnalyzer("")
            for director in directors { director.director.direct(moment, view, into: &events) }
        }
        blocks.block.complete(
            BatchStorage.Info(
                number: batchCount, frame: start, frameCount: framesInBatch,
                isPartial: framesInBatch < header.batching.batchFrames),
            events: &events)
        hasDeviceEvent = false
        batchCount += 1
        framesInBatch = 0
        hopsInBatch = 0
        if blocks.block.isFull { blocks.flush() }
    }
}
