/// Causal beat tracking: estimates tempo and beats from the spectral differences up to the current frame. Beats of a steady tempo
/// are emitted before they occur.
struct BeatTracker: Sendable {
    /// Lead time of predicted beats, in seconds: time for sinks and lights to react.
    static let leadTime = 0.1
    /// Delay after a beat before it is compared with its onset, in seconds, because the onset may be late. Beats of an unsteady
    /// tempo are emitted then.
    private static let evaluationDelay = 0.05
    /// Emission deadline after a beat, in seconds: later beats are dropped, because the event would no longer coincide with the sound.
    private static let emissionDeadline = 0.13
    /// The tempo is steady, and beats are predicted, while the mean prediction error is below this, in seconds.
    private static let steadyPredictionError = 0.0225
    /// Confidence gate: minimum confidence of the first beat, 0…1.
    private static let minimumConfidence = 0.1
    /// Warm-up: seconds of sound before the first beat. Earlier estimates are mostly wrong.
    private static let warmUp = 2.1
    /// Beats more than this apart, in seconds, are emitted only after two consistent intervals: while an onset is overdue, the
    /// forward decoder drifts towards slower tempi.
    private static let longestUnverifiedPeriod = 1.3
    /// Maximum hold time, in seconds. After speech or noise the gate stays closed for half of its duration, so that short parts of
    /// speech that are classified as music have no beats.
    private static let maximumHoldTime = 2.8
    /// Factor by which states around the faster of two tempi are multiplied if all onsets are equal, and the relative tolerance
    /// of the interval.
    private static let metricalWeight = 1e5
    private static let metricalTolerance = 0.06
    /// Ratios of a new to the known period that count as the same tempo.
    private static let sameTempoRatios = 0.75...1.33
    /// Number of beats after the first known tempo in which any sudden tempo change is ignored.
    private static let newTempoBeats = 2.0
    /// A sudden tempo change is ignored only while the agreement of the known beat is above this, 0…1.
    private static let minimumKnownAgreement = 0.5
    /// Beats after the last tap for which a tapped tempo is kept.
    private static let tapHoldBeats = 8.0
    /// Maximum relative deviation from a tapped tempo while it is kept, because taps are not exact.
    private static let tapHoldTolerance = 0.05
    /// The tracker restarts after silence or a gap longer than this, in seconds.
    private static let silenceTimeout = 2.0
    /// Limit of `beatOffset`, in seconds: less than the shortest period, so that no beat is skipped.
    static let maximumOffset = 0.2

    let space: BeatStateSpace
    let frameSeconds: Double
    var decoder: ForwardDecoder
    private var normalizer: BeatActivation.PeakNormalizer
    var agreement: BeatOnsetAgreement
    private var discriminator: SpeechMusicDiscriminator
    var bar = BarTracker()

    /// Time of the last emitted beat and of the last evaluated one, and the predicted time of the current beat; all in seconds.
    private var emittedTime = -Double.infinity
    private var evaluatedTime = -Double.infinity
    var predictedTime: Double?
    /// Time of the first sound, and duration of the current silence, in seconds.
    private var soundTime: Double?
    private var silence = 0.0
    /// Mean distance between predicted beats and their onsets, in seconds.
    var predictionError = 0.1
    /// Time of the current frame, in seconds.
    private(set) var time = 0.0
    /// Beat period and time of the next beat, in seconds.
    var period = 0.0
    var nextTime = 0.0
    /// Whether the confidence gate is open: tempo and beats are reported.
    var isKnown = false
    /// Remaining hold time after speech or noise, in seconds.
    private var holdTime = 0.0
    /// Whether the faster of two tempi has been preferred.
    private var hasComparedMetricalLevels = false
    /// The last known period, the time at which the tempo was first known, and the time at which it was last known.
    private var knownPeriod = 0.0
    private var foundTime = Double.infinity
    private var knownTime = -Double.infinity
    /// The last time at which the tempo of the decoder was accepted.
    private var acceptedTime = -Double.infinity

    /// Tempi set by controls, in BPM: the locked tempo, and the preferred tempo.
    var lockedTempo: Double?
    var chosenTempo: Double?
    var taps = TapTempo()
    /// Seconds by which reported beats are later than the estimated ones, set by the control `nudge`.
    var beatOffset = 0.0
    /// The time until which a tapped tempo is kept, in seconds.
    private var tapHoldEnd = -Double.infinity
    /// Changes by controls since the last frame.
    var correction: PendingCorrection?

    init(_ space: BeatStateSpace) {
        self.space = space
        frameSeconds = space.frameSeconds
        decoder = ForwardDecoder(space)
        agreement = BeatOnsetAgreement(frameSeconds: space.frameSeconds)
        normalizer = BeatActivation.PeakNormalizer(frameSeconds: space.frameSeconds)
        discriminator = SpeechMusicDiscriminator(frameSeconds: space.frameSeconds)
    }

    /// The reported confidence, 0…1; 0 while the gate is closed.
    var confidence: Double { isKnown ? estimatedConfidence : 0 }

    private var estimatedConfidence: Double {
        let gateScore = gateScore
        return agreement.confidence * gateScore * gateScore
    }

    private var gateScore: Double {
        BeatGate.score(musicScore: discriminator.musicScore, agreement: agreement.confidence, predictionError: predictionError)
    }

    /// The tempo in BPM; nil while it is unknown.
    var beatsPerMinute: Double? { isKnown ? 60 / period : nil }

    /// Tempo in BPM, beat phase, bar phase and confidence at a time; nil while the tempo is unknown.
    func state(at moment: Double) -> (beatsPerMinute: Double, phase: Double, barPhase: Double?, confidence: Double)? {
        guard let beatsPerMinute, let (beat, bar) = phase(at: moment) else { return nil }
        return (beatsPerMinute, beat, bar, confidence)
    }

    /// The beat phase and the bar phase at a time, 0…1; nil while they are unknown.
    func phase(at moment: Double) -> (beat: Double, bar: Double?)? {
        guard isKnown else { return nil }
        let beats = (moment - beatOffset - nextTime) / period
        let phase = beats - beats.rounded(.down)
        let lastBeat = nextTime + beats.rounded(.down) * period
        let position = bar.position(stepsAhead: steps(to: lastBeat))
        return (phase, position.map { (Double($0.position - 1) + phase) / Double($0.meter) })
    }

    /// The number of beats from the last evaluated beat to a time.
    func steps(to moment: Double) -> Int {
        let beats = (moment - evaluatedTime) / period
        return beats.isFinite && abs(beats) < 1e6 ? Int(beats.rounded()) : 0
    }

    /// Processes a frame.
    ///
    /// - Returns: The beat to emit, if any.
    mutating func advance(_ difference: SpectralDifference, at time: Double) -> EstimatedBeat? {
        if correction != nil { applyCorrection() }
        bridgeGap(to: time)
        let activation = normalizer.activation(difference.onsetStrength)
        decoder.advance(BeatActivation.logLikelihoodRatio(activation))
        agreement.add(activation, onsetStrength: difference.onsetStrength, bass: difference.bassIncrease, at: time)
        discriminator.add(difference, activation: activation)
        bar.add(difference)
        silence = difference.isSilent ? silence + frameSeconds : 0
        if silence > Self.silenceTimeout, soundTime != nil { restart() }
        if soundTime == nil, difference.onsetStrength > 0 { soundTime = time }
        guard soundTime != nil, decoder.estimate.interval > 0 else { return nil }
        predict()
        updateGate()
        if isKnown {
            (knownPeriod, knownTime) = (period, time)
            foundTime = min(foundTime, time)
        }
        return beatToEmit()
    }

    /// Advances the decoder without observations over frames that were lost, or restarts after a long gap.
    private mutating func bridgeGap(to time: Double) {
        let lost = time - self.time - 1.5 * frameSeconds
        if soundTime != nil, lost > Self.silenceTimeout {
            restart()
        } else if soundTime != nil, lost > 0 {
            for frame in 1...Int((lost / frameSeconds).rounded(.up)) {
                decoder.advance(0)
                agreement.add(0, onsetStrength: 0, bass: 0, at: self.time + Double(frame) * frameSeconds)
            }
        }
        self.time = time
    }

    /// Updates period and next beat time from the estimate of the decoder, unless it is a sudden tempo change.
    private mutating func predict() {
        let estimate = decoder.estimate
        let decodedPeriod = Double(estimate.interval) * frameSeconds
        let decodedNext = time + Double(estimate.framesToBeat) * frameSeconds
        if isSuddenChange(next: decodedNext, period: decodedPeriod) {
            if nextTime <= time { nextTime += period }
            evaluate(nextTime - period, period: period)
        } else {
            acceptedTime = time
            evaluate(decodedNext - decodedPeriod, period: decodedPeriod)
            (nextTime, period) = agreement.refine(next: decodedNext, period: decodedPeriod, now: time)
            if let lockedTempo { period = 60 / lockedTempo }
        }
        if predictedTime == nil, nextTime - time <= Self.leadTime { predictedTime = nextTime }
    }

    /// Whether a tapped tempo is kept.
    private var isTapHeld: Bool { lockedTempo == nil && chosenTempo != nil && time < tapHoldEnd }

    /// Keeps a tapped tempo for a number of beats after the last tap.
    mutating func holdTap(_ tempo: Double, from moment: Double) {
        tapHoldEnd = moment + Self.tapHoldBeats * 60 / tempo
    }

    /// Ends the hold of a tapped tempo.
    mutating func releaseTap() {
        tapHoldEnd = -.infinity
    }

    /// Whether the decoder has only just changed to another tempo and may change back before the current beat is over. This
    /// happens for a slower tempo while an onset is overdue, for twice the tempo after a slow beat, and for any tempo during the
    /// first beats.
    private func isSuddenChange(next: Double, period: Double) -> Bool {
        if let chosenTempo, isTapHeld { return abs(period * chosenTempo / 60 - 1) > Self.tapHoldTolerance }
        guard isKnown, let soundTime, lockedTempo == nil, chosenTempo == nil, agreement.confidence > Self.minimumKnownAgreement,
            !isSameTempo(period), time - acceptedTime < knownPeriod
        else { return false }
        let isNew = time - foundTime < Self.newTempoBeats * knownPeriod
        if period > knownPeriod {
            return isNew || next - time < Self.leadTime && time - acceptedTime < BeatOnsetAgreement.pendingOnsetWindow
        }
        return (isNew || BeatOnsetAgreement.isSlow(knownPeriod))
            && agreement.weakerAgreement(next: next, period: period, since: soundTime) == 0
    }

    /// Compares a beat that has passed with its onset, and updates prediction error and bar.
    private mutating func evaluate(_ last: Double, period: Double) {
        guard time - last >= Self.evaluationDelay, last - evaluatedTime > 0.5 * period else { return }
        let passed = max(1, steps(to: last))
        evaluatedTime = last
        let onsetTime = agreement.evaluate(last, period: period)
        let distance = predictedTime.map { min(0.1, abs($0 - onsetTime)) } ?? 0.1
        predictionError += 0.3 * (distance - predictionError)
        predictedTime = nil
        bar.advance(steps: passed)
    }

    /// The confidence gate: decides whether tempo and beats are reported. The thresholds to open and to keep it open differ
    /// (hysteresis).
    private mutating func updateGate() {
        let gateScore = gateScore
        let isMusic = gateScore > 0.4
        if isMusic {
            holdTime = max(0, holdTime - frameSeconds)
        } else if let soundTime, time - soundTime > Self.warmUp {
            holdTime = min(Self.maximumHoldTime, holdTime + 0.5 * frameSeconds)
        }
        if lockedTempo != nil || isTapHeld {
            isKnown = true
        } else if isKnown {
            isKnown = gateScore > 0.25 && (chosenTempo != nil || isSameTempo(period) || alternateAgreement > 0)
        } else {
            isKnown =
                isMusic && holdTime == 0 && estimatedConfidence > Self.minimumConfidence && hasSufficientEvidence && isPeriodVerified
                && !preferFasterTempo()
        }
    }

    /// Whether a period is approximately the known one.
    private func isSameTempo(_ period: Double) -> Bool { Self.sameTempoRatios.contains(period / knownPeriod) }

    /// Whether the known tempo was much slower a short time ago.
    private var hasSpedUp: Bool {
        period < Self.sameTempoRatios.lowerBound * knownPeriod && time - knownTime < Self.silenceTimeout
    }

    /// The agreement of the even or of the odd beats, whichever is lower.
    private var alternateAgreement: Double {
        // `soundTime.map` would copy `self` into its closure.
        guard let soundTime else { return 0 }
        return agreement.weakerAgreement(next: nextTime, period: period, since: soundTime)
    }

    /// Whether the agreement of alternate beats is sufficient to open the gate: the threshold falls from 0.6 after the warm-up to 0
    /// four seconds later.
    private var hasSufficientEvidence: Bool {
        guard let soundTime else { return false }
        let elapsed = time - soundTime - Self.warmUp
        let threshold = 0.6 - 0.15 * elapsed
        return elapsed > 0 && alternateAgreement > (hasSpedUp ? max(0, threshold) : threshold)
    }

    /// Whether the period is short, or confirmed by two consistent intervals.
    private var isPeriodVerified: Bool { period <= Self.longestUnverifiedPeriod || agreement.isSteady }

    /// Prefers the faster of two tempi, once, if all onsets at the faster tempo are equally strong. The tempo prior prefers the
    /// slower one, but no accents support it.
    ///
    /// - Returns: Whether the preferred tempo differs from the current one.
    private mutating func preferFasterTempo() -> Bool {
        guard !hasComparedMetricalLevels, chosenTempo == nil, let soundTime else { return false }
        let isTwiceAsFast =
            space.tempi.contains(120 / period) && agreement.hasEqualMidwayOnsets(next: nextTime, period: period, since: soundTime)
        guard isTwiceAsFast || agreement.hasEqualMidwayOnsets(next: nextTime, period: 2 * period, since: soundTime) else { return false }
        hasComparedMetricalLevels = true
        let interval = period / frameSeconds / (isTwiceAsFast ? 2 : 1)
        decoder.multiply { other, _ in abs(Double(other) / interval - 1) < Self.metricalTolerance ? Self.metricalWeight : 1 }
        return isTwiceAsFast
    }

    /// The next beat if the tempo is steady and the beat is within the lead time, or the last beat before its deadline; nil if there
    /// is none, or if it has been emitted.
    private mutating func beatToEmit() -> EstimatedBeat? {
        let isSteady = predictionError < Self.steadyPredictionError
        let last = nextTime - period
        let beat: Double
        if isSteady, nextTime + beatOffset - time <= Self.leadTime {
            beat = nextTime
        } else if time - last >= Self.evaluationDelay, time - last - beatOffset <= Self.emissionDeadline {
            beat = last
        } else {
            return nil
        }
        guard isKnown, beat - emittedTime > 0.5 * period else { return nil }
        emittedTime = beat
        let position = bar.position(stepsAhead: steps(to: beat))
        return EstimatedBeat(
            time: beat + beatOffset, beatsPerMinute: 60 / period, confidence: confidence, position: position?.position,
            meter: position?.meter)
    }

    /// Returns to the initial state, except for the time of the last emitted beat and the tempi set by controls.
    mutating func restart() {
        decoder.reset()
        resetAllButDecoder()
    }

    /// As `restart()`, without the decoder.
    mutating func resetAllButDecoder() {
        normalizer = BeatActivation.PeakNormalizer(frameSeconds: frameSeconds)
        agreement.reset()
        discriminator.reset()
        bar = BarTracker()
        evaluatedTime = -.infinity
        predictedTime = nil
        soundTime = nil
        silence = 0
        predictionError = 0.1
        period = 0
        nextTime = 0
        isKnown = false
        foundTime = .infinity
        knownTime = -.infinity
        acceptedTime = -.infinity
        holdTime = 0
        hasComparedMetricalLevels = false
        releaseTap()
    }
}
