internal import Hemiola
internal import HemiolaSignal
internal import HemiolaSpectrum

/// The hot path of one stream: hops go in, sealed batches come out.
///
/// Used by the analysis thread alone. After the first batch it neither allocates nor locks, but for handing a full block to
/// the mailboxes. Raw buffers, because a class's arrays are checked for exclusive access at every index.
final class StreamAnalysis {
    /// An analyzer of the pipeline, with its name and what it declared for this stream.
    struct Voice {
        var name: String
        var analyzer: any Analyzer
        var controllable: (any Controllable)?
        var offline: (any OfflineAnalyzer)?
        /// Its requests among all of the bank's.
        var requests: Range<Int> = 0..<0
        /// Its columns of the row.
        var columns: Range<Int> = 0..<0
        /// Whether it has sparse outputs, so that it must be known who speaks.
        var hasEvents = false
    }

    let header: StreamHeader
    /// The frame after the last analysed or lost one.
    private(set) var clock: Int64 = 0
    private(set) var batchCount: Int64 = 0
    private(set) var nonFinite: Int64 = 0
    /// How long it has been silent; nil where that is not reported.
    private(set) var silence: SilenceWatch?

    private let voices: [Voice]
    private let directors: [any Director]
    private let bank: SpectrumBank
    private let folder: HopFolder
    private let publish: (BatchBlock) -> Void
    private let pool: BlockPool
    private var block: BatchStorage
    private let carriesSamples: Bool

    private let channelCount: Int
    private let channelMix: ChannelMix
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
    /// Whether a device event waits for the end of a batch, and whether the last one was that the device was lost.
    private var hasDeviceEvent = false
    private(set) var isLost = false

    /// - Parameters:
    ///   - voices: Prepared for this stream.
    ///   - publish: Takes each full block: one batch live, up to 64 from a file.
    init(
        _ header: StreamHeader, voices: [Voice], directors: [any Director], bank: SpectrumBank, batchesPerBlock: Int,
        carriesSamples: Bool, silence: SilenceWatch? = nil, publish: @escaping (BatchBlock) -> Void
    ) {
        self.header = header
        self.voices = voices
        self.directors = directors
        self.bank = bank
        self.publish = publish
        self.carriesSamples = carriesSamples
        self.silence = silence
        channelCount = header.format.channelCount
        channelMix = ChannelMix(header.format)
        hopFrames = header.batching.hopFrames
        hopsPerBatch = header.batching.hopsPerBatch
        folder = HopFolder(header.layout, hopsPerBatch: hopsPerBatch)
        pool = BlockPool(
            capacity: batchesPerBlock, width: header.layout.width,
            samplesPerBatch: carriesSamples ? header.batching.batchFrames * channelCount : 0, channelCount: channelCount)
        block = pool.take()
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

    /// Whether a batch is under way: controls are obeyed only between batches.
    var isBetweenBatches: Bool { hopsInBatch == 0 && filled == 0 }

    /// Seconds of stream time up to now.
    var seconds: Double { header.format.seconds(at: clock) }

    /// Asks the capture for the rest of the hop and analyses the hop when it is whole.
    ///
    /// - Returns: what the capture delivered. Frames and gaps are dealt with; the rest is the caller's.
    func advance(_ capture: any Capture) throws(CaptureError) -> Delivery {
        let delivery = try read(capture)
        switch delivery {
        case .frames:
            if filled == hopFrames { analyse(isLast: hopsInBatch == hopsPerBatch - 1) }
        case .gap(let gap):
            skip(gap)
        case .device(let notice):
            events.append(.device(notice), at: secondsHeard)
            hasDeviceEvent = true
            isLost = notice.state == .lost
        case .format, .source, .idle, .end:
            break
        }
        return delivery
    }

    /// Lets the analyzers hear a hop without asking them for anything: the first of two passes.
    func survey(_ capture: any Capture) throws(CaptureError) -> Delivery {
        let delivery = try read(capture)
        switch delivery {
        case .frames:
            if filled == hopFrames { surveyHop() }
        case .gap(let gap):
            // As in the second pass, a gap of no frames breaks nothing off.
            if gap.frames == 0 { break }
            if filled > 0 { surveyHop() }
            clock += gap.frames
            bank.clear()
            hopsInBatch = 0
        case .end, .format, .source:
            if filled > 0 { surveyHop() }
        case .device, .idle:
            break
        }
        return delivery
    }

    /// Takes the events that wait for a batch, when no audio comes: all while the device is lost, otherwise only with a device event
    /// among them. A batch that is under way when the device is lost is published first, as a partial one.
    ///
    /// - Returns: What no batch carries, in order; mostly nothing.
    func takeEventsOfOutage() -> [Event] {
        guard isLost || hasDeviceEvent && isBetweenBatches else { return [] }
        if !isBetweenBatches {
            closeBatch()
            // What comes next does not follow what was heard last.
            bank.clear()
        }
        publishBlock()
        hasDeviceEvent = false
        var waiting: [Event] = []
        events.drain(into: &waiting)
        return waiting
    }

    /// Whether silence is to be told now, and how long it has lasted.
    func takeSilence() -> Double? {
        silence?.takeAlarm() == true ? silence?.seconds : nil
    }

    /// Ends the first pass: the analyzers conclude, the clock goes back to the start.
    func concludeSurvey() {
        for voice in voices { voice.offline?.concludeSurvey() }
        bank.clear()
        clock = 0
        filled = 0
        hopsInBatch = 0
        nonFinite = 0
    }

    /// Applies a control at the batch that comes next, which includes it as a record.
    ///
    /// - Parameter preparations: What directors' preparers have computed for it.
    func obey(_ control: Control, from origin: String, preparations: [ControlInbox.Preparation] = []) -> ControlReply {
        let stamped = StampedControl(control, at: clock, from: origin)
        var reply: ControlReply?
        for voice in voices {
            if let answer = voice.controllable?.obey(stamped), reply != .done { reply = answer }
        }
        for (index, director) in directors.enumerated() where !(director is any Understudy) {
            var answer: ControlReply?
            if let preparation = preparations.first(where: { $0.director == index }), let director = director as? any PreparedDirector {
                answer = director.handle(stamped, preparation: preparation.value)
            } else {
                answer = (director as? any Controllable)?.obey(stamped)
            }
            if let answer, reply != .done { reply = answer }
        }
        if reply == nil {
            for director in directors where reply == nil { reply = (director as? any Understudy)?.obey(stamped) }
        }
        if reply == .done { events.append(.control(stamped), at: seconds) }
        return reply ?? .refused("nothing in this pipeline obeys \(control.name)")
    }

    /// Tells a loss in the batch that comes next.
    func tell(_ loss: Loss) {
        events.append(.dropped(loss), at: seconds)
    }

    /// Seals what is under way, asks the analyzers for their last events and publishes everything.
    ///
    /// - Returns: Events that no batch could take any more, in order of time.
    func finish() -> [Event] {
        closeBatch()
        for voice in voices {
            events.speak(as: voice.name)
            voice.analyzer.finish(into: &events)
        }
        publishBlock()
        var late: [Event] = []
        events.drain(into: &late)
        return late
    }

    // MARK: - Hops

    /// Seconds up to the last frame that came in, analysed or not yet.
    var secondsHeard: Double { header.format.seconds(at: clock + Int64(filled)) }

    private func skip(_ gap: Gap) {
        events.append(.gap(gap), at: secondsHeard)
        // A gap of no frames loses nothing that the clock could count, and nothing has to be broken off for it.
        if gap.frames == 0 { return }
        closeBatch()
        clock += gap.frames
        bank.clear()
        for voice in voices { voice.analyzer.skip(gap) }
        for director in directors { director.skip(gap) }
    }

    /// Seals a batch that is under way as a partial one.
    private func closeBatch() {
        if filled > 0 {
            analyse(isLast: true)
        } else if hopsInBatch > 0 {
            seal()
        }
    }

    private func analyse(isLast: Bool) {
        let frames = takeHop()
        if carriesSamples {
            let start = block.openSamples.baseAddress! + framesInBatch * channelCount
            start.update(from: samples, count: frames * channelCount)
        }
        let row = block.openRow
        let target = folder.target(row)
        // By index: without the optimiser an array's iterator allocates.
        for index in voices.indices {
            let voice = voices[index]
            let hop = hop(frames, requests: voice.requests)
            var part = FeatureRow(UnsafeMutableBufferPointer(rebasing: target[voice.columns]).mutableSpan)
            if voice.hasEvents { events.speak(as: voice.name) }
            voice.analyzer.process(hop, into: &part, events: &events)
        }
        folder.fold(into: row, frames: frames, before: framesInBatch)
        clock += Int64(frames)
        framesInBatch += frames
        hopsInBatch += 1
        if isLast { seal() }
    }

    private func surveyHop() {
        let isLast = hopsInBatch == hopsPerBatch - 1
        let frames = takeHop()
        for voice in voices {
            voice.offline?.survey(hop(frames, requests: voice.requests))
        }
        clock += Int64(frames)
        hopsInBatch = isLast ? 0 : hopsInBatch + 1
    }

    /// Asks the capture for the rest of the hop.
    private func read(_ capture: any Capture) throws(CaptureError) -> Delivery {
        let free = hopFrames - filled
        let room = UnsafeMutableBufferPointer(start: samples + filled * channelCount, count: free * channelCount)
        var span = room.mutableSpan
        let delivery = try capture.read(into: &span)
        if case .frames(let count) = delivery {
            precondition(count > 0 && count <= free, "a capture delivers at least one frame and no more than there is room for")
            filled += count
        }
        return delivery
    }

    /// Mixes and transforms the frames that came in, zero-padded to a hop.
    private func takeHop() -> Int {
        let frames = filled
        filled = 0
        let heard = UnsafeMutableBufferPointer(start: samples, count: frames * channelCount)
        var mix = UnsafeMutableBufferPointer(start: mono, count: hopFrames).mutableSpan
        if !mix.mix(heard.span, by: channelMix) {
            var span = heard.mutableSpan
            nonFinite += Int64(span.silenceNonFinite())
            _ = mix.mix(heard.span, by: channelMix)
        }
        if var silence {
            // A copy: to change it in place is checked for exclusive access.
            silence.hear(peak: mix.span.loudness(ofChannel: 0, of: 1).peak, seconds: header.format.seconds(at: Int64(frames)))
            self.silence = silence
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

    private func seal() {
        let row = block.openRow
        folder.convert(row)
        let start = clock - Int64(framesInBatch)
        if !directors.isEmpty {
            let moment = BatchMoment(number: batchCount, frame: start, frameCount: framesInBatch, format: header.format)
            let view = FeatureRow(row.mutableSpan)
            events.speak(as: "")
            for director in directors { director.direct(moment, view, into: &events) }
        }
        block.seal(
            BatchStorage.Info(
                number: batchCount, frame: start, frameCount: framesInBatch,
                isPartial: framesInBatch < header.batching.batchFrames),
            events: &events)
        hasDeviceEvent = false
        batchCount += 1
        framesInBatch = 0
        hopsInBatch = 0
        if block.isFull { publishBlock() }
    }

    private func publishBlock() {
        guard block.count > 0 else { return }
        publish(BatchBlock(block))
        block = pool.take()
    }
}

/// Storages that go round: one is used again as soon as no sink holds it any more.
final class BlockPool {
    private let make: () -> BatchStorage
    private var storages: [BatchStorage] = []

    init(capacity: Int, width: Int, samplesPerBatch: Int, channelCount: Int) {
        make = {
            BatchStorage(capacity: capacity, width: width, samplesPerBatch: samplesPerBatch, channelCount: channelCount)
        }
    }

    /// An empty storage that nobody else holds.
    func take() -> BatchStorage {
        for index in storages.indices where isKnownUniquelyReferenced(&storages[index]) {
            storages[index].removeAll()
            return storages[index]
        }
        let storage = make()
        storages.append(storage)
        return storage
    }
}
