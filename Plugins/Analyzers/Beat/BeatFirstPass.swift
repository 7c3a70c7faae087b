internal import HemiolaSignal

/// A beat on the way to the output.
struct EstimatedBeat: Sendable {
    /// Seconds from the start of the stream.
    var time: Double
    var beatsPerMinute: Double
    /// 0…1.
    var confidence: Double
    /// Position in the bar, 1 is the downbeat; nil if unknown.
    var position: Int?
    /// Beats per bar; nil if unknown.
    var meter: Int?
    /// The bar of a phrase that begins with the beat; nil if none does, if it is unknown, or if phrases are not wanted.
    var phrase: PhrasePlace?
    /// The tempi in competition.
    var hypotheses = TempoHypotheses()
}

/// The first pass of two-pass analysis (`--whole-file`): collects the activations of the whole stream and then estimates its beats.
struct BeatFirstPass: Sendable {
    /// No beat is earlier than the first onset by more than the tolerance of beat evaluation, in seconds.
    private static let earliestBeat = 0.07
    /// Frames of silence before a stream that begins with an onset: 0.1 s. Their number has hardly an influence.
    private static let silentFrames = 10

    private let space: BeatStateSpace
    private var filter = BandFilter()
    private var start: StreamStart
    /// The spectra of the first frames, until it is known whether the stream begins with an onset; nil after that.
    private var firstSpectra: [[Float]]? = []
    private var network: BeatNetwork
    private var harmony: ChordChanges
    /// nil: no phrases are wanted.
    private var phraseEvidence: PhraseEvidence?
    private var outputs: [BeatNetwork.Output] = []
    /// The time of the first frame, and of each frame before which hops were left out, in seconds.
    private var starts: [(frame: Int, time: Double)] = []
    private var frameCount = 0
    /// The sounds after silence.
    private var sounds: [IsolatedSound] = []
    private var isAfterSilence = true
    /// The onset with which the stream begins, in seconds; nil if there is none.
    private var onset: Double?
    /// The beats of the stream; empty before `finish()`, and if there are none.
    private(set) var beats: [EstimatedBeat] = []
    /// The times of the onsets of the stream, in seconds; empty before `finish()`.
    private(set) var onsets: [Double] = []

    init(_ space: BeatStateSpace, sampleRate: Double, hasPhrases: Bool) {
        self.space = space
        network = BeatNetwork(.wholeFile())
        harmony = ChordChanges(filter.centers)
        if hasPhrases { phraseEvidence = PhraseEvidence(capacity: nil) }
        start = StreamStart(sampleRate: sampleRate)
    }

    /// Adds the frames that came with a hop.
    mutating func add(_ hop: borrowing Hop, _ handle: SpectrumHandle) {
        let spectra = hop.spectra(handle)
        if firstSpectra != nil { start.add(hop) }
        for index in 0..<spectra.count {
            let magnitudes = spectra.magnitude(index)
            let center = spectra.center(of: index) / Double(hop.format.sampleRate)
            let next = frameCount + (firstSpectra?.count ?? 0)
            if starts.isEmpty || abs(time(of: Double(next)) - center) > space.frameSeconds / 2 { starts.append((next, center)) }
            if firstSpectra == nil {
                filter.advance(magnitudes)
                addFrame()
            } else {
                firstSpectra?.append(magnitudes.indices.map { magnitudes[$0] })
                if firstSpectra?.count == StreamStart.frameCount { addFirstFrames(onset: start.onset) }
            }
        }
    }

    /// Adds the frames that were held back, after silence if they begin with an onset.
    private mutating func addFirstFrames(onset: Double?) {
        guard let spectra = firstSpectra else { return }
        firstSpectra = nil
        self.onset = onset
        if onset != nil {
            starts[0].time -= Double(Self.silentFrames) * space.frameSeconds
            for _ in 0..<Self.silentFrames {
                filter.advanceInSilence()
                addFrame()
            }
        }
        for magnitudes in spectra {
            filter.advance(magnitudes.span)
            addFrame()
        }
    }

    private mutating func addFrame() {
        if filter.isSilent {
            isAfterSilence = true
        } else if isAfterSilence {
            sounds.append(IsolatedSound(frame: frameCount))
            isAfterSilence = false
        }
        if !isAfterSilence { sounds[sounds.count - 1].add(filter) }
        frameCount += 1
        harmony.add(filter)
        phraseEvidence?.add(filter)
        network.add(filter)
        if network.isGroupComplete {
            network.run()
            outputs += network.outputs
        }
    }

    /// The time of a frame, in seconds.
    private func time(of frame: Double) -> Double {
        guard let start = starts.last(where: { Double($0.frame) <= frame }) ?? starts.first else { return 0 }
        return start.time + (frame - Double(start.frame)) * space.frameSeconds
    }

    /// Estimates the beats after the last frame, and releases the activations.
    mutating func finish() {
        addFirstFrames(onset: nil)
        network.finish { outputs.append($0) }
        var onsetFrames = OnsetPeakPicker.onsets(outputs.map(\.onset), frameSeconds: space.frameSeconds)
        markPeriodicOnsets(&onsetFrames)
        onsets = onsetFrames.map { time(of: Double($0)) }
        // The network does not know whether the stream was cut; the first frame stands for what is before it.
        onsets.removeAll { time in time < (onset.map { $0 + OnsetPeakPicker.leastDistance } ?? StreamStart.end) }
        if let onset { onsets.insert(onset, at: 0) }
        beats = estimatedBeats()
        if let first = onsets.first { beats.removeAll { $0.time < first - Self.earliestBeat } }
        outputs = []
    }

    /// Makes beats of periodic onsets: of short sounds between silence, and of others where the network finds no beats.
    ///
    /// - Parameter onsets: In frames; it gets the onsets of those sounds that it lacks.
    private mutating func markPeriodicOnsets(_ onsets: inout [Int]) {
        // Sounds, onsets and runs are in order: how far the runs have come, so that the cost is linear.
        var (sound, onset, lastFrame) = (0, 0, -1)
        var added: [Int] = []
        for run in PeriodicOnsets.runs(of: sounds.filter(\.isShort).map(\.frame), space) {
            while sounds[sound].frame < run[0] { sound += 1 }
            let between = sounds[sound...].prefix { $0.frame <= run[run.count - 1] }
            // Longer sounds are between them.
            if !between.allSatisfy(\.isShort) { continue }
            let frames = Set(run)
            mark(
                run.map { $0 + PeriodicOnsets.attackFrames },
                accents: IsolatedSound.accents(between.filter { frames.contains($0.frame) }))
            // A run can begin with the last sounds of the one before.
            for frame in run where frame > lastFrame {
                lastFrame = frame
                while onset < onsets.count, onsets[onset] < frame { onset += 1 }
                if onset == onsets.count || onsets[onset] > frame + IsolatedSound.longest {
                    added.append(frame + PeriodicOnsets.attackFrames)
                }
            }
        }
        onsets = (onsets + added).sorted()
        let runs = PeriodicOnsets.runs(of: onsets, space)
        if runs.isEmpty { return }
        let presence = BeatPresence.smoothed(outputs.map(\.networkBeat), frameSeconds: space.frameSeconds)
        for run in runs where (run[0]...run[run.count - 1]).allSatisfy({ presence[$0] < 0.5 }) { mark(run, accents: nil) }
    }

    /// Makes onsets the beats of their part of the recording.
    private mutating func mark(_ onsets: [Int], accents: (first: Int, distance: Int)?) {
        let interval = Double(onsets[onsets.count - 1] - onsets[0]) / Double(onsets.count - 1) * space.frameSeconds
        let reach = PeriodicOnsets.beatFrames(interval, space.frameSeconds) / 2
        func frames(_ range: ClosedRange<Int>) -> Range<Int> { range.lowerBound..<min(outputs.count, range.upperBound + 1) }
        let part = frames(max(0, onsets[0] - max(2, reach))...onsets[onsets.count - 1] + max(2, reach))
        let copy = Array(outputs[part])
        func found(_ frame: Int) -> BeatNetwork.Output { copy[frame - part.lowerBound] }
        for frame in frames(max(0, onsets[0] - reach)...onsets[onsets.count - 1] + reach) {
            (outputs[frame].beat, outputs[frame].networkBeat, outputs[frame].downbeat) = (0, 0, 0)
        }
        for (index, onset) in onsets.enumerated() where onset < outputs.count {
            let share: Float = accents.map { index % $0.distance == $0.first ? 1 : 0 } ?? PeriodicOnsets.unknownShare
            let near = frames(max(0, onset - max(2, reach))...onset + max(2, reach))
            if near.contains(where: { found($0).networkBeat > 0.5 }) {
                // The network finds the beat too, and its time is finer than frames.
                for frame in near {
                    (outputs[frame].beat, outputs[frame].networkBeat) = (found(frame).beat, found(frame).networkBeat)
                    outputs[frame].downbeat = share * found(frame).networkBeat
                }
                // Nothing speaks against the other beat states, which slow tempi have more of.
                for frame in frames(max(0, onset - reach)...onset + reach) {
                    outputs[frame].beat = max(outputs[frame].beat, 1 / BeatStateSpace.observationLambda)
                }
            } else {
                for frame in frames(max(0, onset - reach)...onset + reach) { outputs[frame].beat = PeriodicOnsets.besides }
                (outputs[onset].beat, outputs[onset].networkBeat) = (PeriodicOnsets.activation, PeriodicOnsets.activation)
                outputs[onset].downbeat = share * PeriodicOnsets.activation
            }
        }
    }

    /// Whether a beat is not in digital silence: it is in a sound or hardly earlier, or in a pause of a beat or two.
    private func isAudible(_ frame: Int, period: Int) -> Bool {
        func hasSound(_ frames: ClosedRange<Int>) -> Bool { frames.clamped(to: 0...outputs.count - 1).contains { !outputs[$0].isSilent } }
        return hasSound(frame...frame + Int(Self.earliestBeat / space.frameSeconds) + 2)
            || hasSound(frame - period...frame) && hasSound(frame...frame + period)
    }

    private func estimatedBeats() -> [EstimatedBeat] {
        guard !outputs.isEmpty else { return [] }
        let path = ViterbiDecoder(space, tempoPrior: space.tempoPrior()).decode(outputs.map(\.beat))
        let presence = BeatPresence.smoothed(outputs.map(\.networkBeat), frameSeconds: space.frameSeconds)
        let frames = 0...outputs.count - 1
        let peaks = path.map { beat in
            let middle = Double(beat.frames.lowerBound + beat.frames.upperBound - 1) / 2
            var peak = RecentActivations.peak(around: middle, in: frames, frameSeconds: space.frameSeconds) { outputs[$0] }
            // The estimate of the first beat may be earlier than the stream.
            if let onset {
                let lead = onset - time(of: peak.time)
                if lead > 0, lead < onset + RecentActivations.tolerance { peak.time += lead / space.frameSeconds }
            }
            return peak
        }
        let positions = BarTracker.positions(
            peaks.map(\.downbeatShare), chordChanges: harmony.changes(at: peaks.map { Int($0.time.rounded()) }))
        let phrases = phraseEvidence.map { PhraseTracker.places(peaks.map(\.time), $0) }
        let certainties = BeatCertainty.certainties(peaks.map(\.strength))
        func nearestFrame(_ index: Int) -> Int { min(max(Int(peaks[index].time.rounded()), 0), frames.upperBound) }
        func meanInterval(around index: Int, in range: ClosedRange<Int>) -> Double {
            let close = max(range.lowerBound, index - 2)...min(range.upperBound, index + 2)
            guard close.count > 1 else { return 0 }
            return (peaks[close.upperBound].time - peaks[close.lowerBound].time) / Double(close.count - 1)
        }
        let isHeard = peaks.indices.map { index in
            let period = meanInterval(around: index, in: 0...peaks.count - 1)
            return period > 0 && isAudible(nearestFrame(index), period: Int(period))
        }
        // The path goes on before the first sound and after the last one, at a tempo that nothing confirms.
        guard let first = isHeard.firstIndex(of: true), let last = isHeard.lastIndex(of: true) else { return [] }
        let heard = first < last ? first...last : 0...peaks.count - 1
        var decoder = ForwardDecoder(space)
        var decodedFrames = 0
        return peaks.indices.compactMap { index in
            let frame = nearestFrame(index)
            while decodedFrames <= frame {
                decoder.advance(BeatStateSpace.likelihoodRatio(outputs[decodedFrames].beat))
                decodedFrames += 1
            }
            guard presence[frame] > 0.5, isHeard[index] else { return nil }
            let interval = meanInterval(around: index, in: heard)
            guard interval > 0 else { return nil }
            return EstimatedBeat(
                time: time(of: peaks[index].time), beatsPerMinute: 60 / (interval * space.frameSeconds),
                confidence: Double(presence[frame]) * certainties[index], position: positions[index]?.position,
                meter: positions[index]?.meter, phrase: phrases?[index],
                hypotheses: decoder.hypotheses())
        }
    }
}

/// The beats and onsets of a stream that was analyzed in two passes, and how many of them have been emitted.
struct BeatTimeline: Sendable {
    private let beats: [EstimatedBeat]
    private var emittedCount = 0
    private let onsets: [Double]
    private var emittedOnsets = 0

    /// - Parameters:
    ///   - beats: In order of time.
    ///   - onsets: In seconds, in order.
    init(_ beats: [EstimatedBeat], onsets: [Double] = []) {
        self.beats = beats
        self.onsets = onsets
    }

    /// Returns the next onset that has not been emitted, if it is not later than `time`, and marks it as emitted.
    mutating func nextOnset(before time: Double) -> Double? {
        guard emittedOnsets < onsets.count, onsets[emittedOnsets] <= time else { return nil }
        defer { emittedOnsets += 1 }
        return onsets[emittedOnsets]
    }

    /// Returns the next beat that has not been emitted, if it is not later than `time`, and marks it as emitted.
    mutating func next(before time: Double) -> EstimatedBeat? {
        guard emittedCount < beats.count, beats[emittedCount].time <= time else { return nil }
        defer { emittedCount += 1 }
        return beats[emittedCount]
    }

    /// Tempo and phase at `time`; nil before the first beat and after the end of a run of beats.
    func state(at time: Double) -> BeatState? {
        // Beats are emitted before they occur, so the search starts at the last emitted one and goes backwards.
        var index = min(emittedCount, beats.count) - 1
        while index >= 0, beats[index].time > time { index -= 1 }
        guard index >= 0 else { return nil }
        let beat = beats[index]
        let end = index + 1 < beats.count ? beats[index + 1].time : beat.time + 60 / beat.beatsPerMinute
        let period = min(end - beat.time, 120 / beat.beatsPerMinute)
        let phase = (time - beat.time) / period
        guard phase < 1 else { return nil }
        var bar: BarState?
        if let position = beat.position, let meter = beat.meter {
            bar = BarState(phase: (Double(position - 1) + phase) / Double(meter), duration: Double(meter) * period)
        }
        return BeatState(
            beatsPerMinute: beat.beatsPerMinute, phase: phase, bar: bar, confidence: beat.confidence, hypotheses: beat.hypotheses)
    }
}
