/// Causal beat tracking: estimates tempo and beats from the network's activations up to the current frame. Beats of a steady tempo
/// are emitted before they occur.
struct BeatTracker: Sendable {
    /// Lead time of predicted beats, in seconds: time for sinks and lights to react.
    static let leadTime = 0.1
    /// The audio that is known at a frame reaches this far beyond its time, in seconds: half a window.
    private static let halfWindow = Double(BandFilter.size) / 2 / Double(BandFilter.sampleRate)
    /// Delay after a beat before it is compared with the activation around it, in seconds, because the attack may be late.
    private static let evaluationDelay = 0.05
    /// Emission deadline after a beat, in seconds: later beats are dropped, because the event would no longer coincide with the sound.
    private static let emissionDeadline = 0.13
    /// The tempo is steady, and beats are predicted, while the mean prediction error is below this, in seconds: a third of the
    /// tolerance of beat evaluation.
    private static let steadyPredictionError = 0.0225
    /// Tempo and beats are reported while beats are regular: from the first of these probabilities on, until it falls below the second.
    private static let sufficientRegularity: Float = 0.5
    private static let lostRegularity: Float = 0.25
    /// They are also reported where expressive music is active: after one beat interval in which the probabilities of activity and of
    /// the estimated beat are above these values, until their product falls below the third one.
    private static let sufficientActivity: Float = 0.8
    private static let sufficientConfidence = 0.2
    private static let lostConfidence = 0.05
    /// Of ten beats of which the decoder is sure, one is not where a listener taps (0.88 to 0.90 of them are, in produced music and `beats-dev`):
    /// most of these are at double tempo, for which the music speaks as clearly.
    private static let certainty = 0.9
    /// Beats after the last tap for which a tapped tempo is kept.
    private static let tapHoldBeats = 8.0
    /// Maximum relative deviation from a tapped tempo while it is kept, because taps are not exact.
    private static let tapTolerance = 0.05
    /// The tracker restarts after silence or a gap longer than this, in seconds.
    private static let silenceTimeout = 2.0
    /// Limit of `beatOffset`, in seconds: less than the shortest period, so that no beat is skipped.
    static let maximumOffset = 0.2

    let space: BeatStateSpace
    let frameSeconds: Double
    var decoder: ForwardDecoder
    private var presence: BeatPresence
    var bar = BarTracker()
    var steadyBeat = SteadyBeat()
    private var recent: RecentActivations

    /// Time of the last emitted beat and of the last evaluated one, and the predicted time of the current beat; all in seconds.
    private var emittedTime = -Double.infinity
    private var evaluatedTime = -Double.infinity
    var predictedTime: Double?
    /// Time of the first sound, and duration of the current silence, in seconds.
    private var soundTime: Double?
    private var silence = 0.0
    /// The last time at which the estimate was not sufficiently probable for expressive music.
    private var uncertainTime = 0.0
    /// Mean distance between predicted beats and their activations, in seconds.
    var predictionError = 0.1
    /// Time of the current frame, in seconds.
    private(set) var time = 0.0
    /// Beat period and time of the next beat, in seconds.
    var period = 0.0
    var nextTime = 0.0
    /// Whether tempo and beats are reported.
    var isKnown = false
    /// Whether beats are regular, and whether they are active: each is a reason to report them.
    private var isRegular = false
    private var isActive = false

    /// Tempi set by controls, in BPM: the locked tempo, and the preferred tempo.
    var lockedTempo: Double?
    var chosenTempo: Double?
    /// The tempi to which the user limits the estimate, in BPM; nil: those of the state space.
    var tempoRange: ClosedRange<Double>?
    var taps = TapTempo()
    /// Seconds by which reported beats are later than the estimated ones, set by the control `nudge`.
    var beatOffset = 0.0
    /// The time until which a tapped tempo is kept, in seconds.
    private var tapHoldEnd = -Double.infinity
    /// Changes by controls since the last frame.
    var correction = PendingCorrection()

    init(_ space: BeatStateSpace) {
        self.space = space
        frameSeconds = space.frameSeconds
        decoder = ForwardDecoder(space)
        presence = BeatPresence(frameSeconds: space.frameSeconds)
        recent = RecentActivations(frameSeconds: space.frameSeconds)
    }

    /// The probability of the reported beat, 0…1: that there are beats, and that they have the estimated tempo and phase. 0 while
    /// nothing is reported.
    var confidence: Double {
        isKnown ? Self.certainty * Double(max(presence.regularity, presence.activity) * decoder.estimate.probability) : 0
    }

    /// The tempo in BPM; nil while it is unknown.
    var beatsPerMinute: Double? { isKnown ? 60 / period : nil }

    /// Tempo and phase at a time; nil while the tempo is unknown.
    func state(at moment: Double) -> BeatState? {
        guard let beatsPerMinute else { return nil }
        let beats = (moment - beatOffset - nextTime) / period
        let phase = beats - beats.rounded(.down)
        return BeatState(
            beatsPerMinute: beatsPerMinute, phase: phase, bar: bar(at: moment), confidence: confidence,
            hypotheses: decoder.hypotheses())
    }

    /// The bar at a time; nil while it is unknown.
    func bar(at moment: Double) -> BarState? {
        guard isKnown else { return nil }
        let beats = (moment - beatOffset - nextTime) / period
        guard let place = bar.position(stepsAhead: steps(to: nextTime + beats.rounded(.down) * period)) else { return nil }
        return BarState(
            phase: (Double(place.position - 1) + beats - beats.rounded(.down)) / Double(place.meter), duration: Double(place.meter) * period
        )
    }

    /// The number of beats from the last evaluated beat to a time.
    func steps(to moment: Double) -> Int {
        let beats = (moment - evaluatedTime) / period
        return beats.isFinite && abs(beats) < 1e6 ? Int(beats.rounded()) : 0
    }

    /// Processes a frame.
    ///
    /// - Returns: The beat to emit, if any.
    mutating func advance(_ activation: BeatNetwork.Output, at time: Double) -> EstimatedBeat? {
        if !correction.isEmpty { applyCorrection() }
        bridgeGap(to: time)
        decoder.advance(BeatStateSpace.likelihoodRatio(activation.beat))
        presence.advance(activation.networkBeat, evidence: decoder.evidence)
        recent.add(activation, at: time)
        silence = activation.isSilent ? silence + frameSeconds : 0
        if silence > Self.silenceTimeout, soundTime != nil { restart() }
        if soundTime == nil, !activation.isSilent { soundTime = time }
        guard let soundTime, decoder.estimate.interval > 0 else { return nil }
        predict()
        isRegular = presence.regularity > (isRegular ? Self.lostRegularity : Self.sufficientRegularity)
        let probability = Double(presence.activity * decoder.estimate.probability)
        if probability <= Self.sufficientConfidence || presence.activity <= Self.sufficientActivity { uncertainTime = time }
        isActive = isActive ? probability > Self.lostConfidence : time - max(uncertainTime, soundTime) > period
        isKnown = isRegular || isActive || lockedTempo != nil || isTapHeld
        return beatToEmit()
    }

    /// Advances the decoder without observations over frames that were lost, or restarts after a long gap.
    private mutating func bridgeGap(to time: Double) {
        let lost = time - self.time - 1.5 * frameSeconds
        if soundTime != nil, lost > Self.silenceTimeout {
            restart()
        } else if soundTime != nil, lost > 0 {
            for frame in 1...Int((lost / frameSeconds).rounded(.up)) {
                decoder.advance(1)
                recent.add(BeatNetwork.Output(), at: self.time + Double(frame) * frameSeconds)
            }
        }
        self.time = time
    }

    /// Updates period and next beat time from the estimate of the decoder.
    private mutating func predict() {
        let decodedPeriod = Double(decoder.estimate.interval) * frameSeconds
        let decodedNext = time + Double(decoder.estimate.framesToBeat) * frameSeconds
        if let chosenTempo, isTapHeld, abs(decodedPeriod * chosenTempo / 60 - 1) > Self.tapTolerance {
            if nextTime <= time { nextTime += period }
            evaluate(nextTime - period, period: period)
        } else {
            evaluate(decodedNext - decodedPeriod, period: decodedPeriod)
            (nextTime, period) = steadyBeat.refine(next: decodedNext, period: decodedPeriod)
            if let lockedTempo { period = 60 / lockedTempo }
        }
        if predictedTime == nil, nextTime - time <= Self.leadTime + Self.halfWindow { predictedTime = nextTime }
    }

    /// Compares a beat that has passed with the activation around it, and updates prediction error, steady beat and bar.
    private mutating func evaluate(_ last: Double, period: Double) {
        guard time - last >= Self.evaluationDelay, last - evaluatedTime > 0.5 * period else { return }
        let passed = max(1, steps(to: last))
        evaluatedTime = last
        let peak = recent.peak(near: last)
        let distance = predictedTime.map { min(0.1, abs($0 - peak.time)) } ?? 0.1
        predictionError += 0.3 * (distance - predictionError)
        predictedTime = nil
        steadyBeat.add(peak.time, activation: peak.activation, estimate: last, period: period)
        bar.advance(steps: passed, share: peak.downbeatShare)
    }

    /// The beat to emit: if the tempo is steady, the next one as soon as it is within the lead time; otherwise as soon as the audio has
    /// reached it. A beat that is found later is emitted up to its deadline. nil if there is none, or if it has been emitted.
    private mutating func beatToEmit() -> EstimatedBeat? {
        let last = nextTime - period
        let lead = predictionError < Self.steadyPredictionError ? Self.leadTime : 0
        let beat: Double
        if nextTime + beatOffset - time <= lead + Self.halfWindow {
            beat = nextTime
        } else if time - last - beatOffset <= Self.emissionDeadline {
            beat = last
        } else {
            return nil
        }
        // In digital silence there are no beats but the next one: the sound may stop shortly before it.
        guard isKnown, beat - emittedTime > 0.5 * period, silence == 0 || beat - (time - silence) <= period else { return nil }
        emittedTime = beat
        let position = bar.position(stepsAhead: steps(to: beat))
        return EstimatedBeat(
            time: beat + beatOffset, beatsPerMinute: 60 / period, confidence: confidence, position: position?.position,
            meter: position?.meter)
    }

    /// Keeps a tapped tempo for a number of beats after the last tap.
    mutating func holdTap(_ tempo: Double, from moment: Double) {
        tapHoldEnd = moment + Self.tapHoldBeats * 60 / tempo
    }

    /// Ends the hold of a tapped tempo.
    mutating func releaseTap() {
        tapHoldEnd = -.infinity
    }

    private var isTapHeld: Bool { lockedTempo == nil && chosenTempo != nil && time < tapHoldEnd }

    /// Makes every position in the bar equally probable.
    mutating func forgetBars() {
        bar.forget()
    }

    /// Returns to the initial state, except for the time of the last emitted beat and the tempi set by controls.
    mutating func restart() {
        decoder.reset()
        resetAllButDecoder()
    }

    /// As `restart()`, without the decoder.
    mutating func resetAllButDecoder() {
        presence.reset()
        bar = BarTracker()
        steadyBeat = SteadyBeat()
        evaluatedTime = -.infinity
        predictedTime = nil
        soundTime = nil
        uncertainTime = time
        silence = 0
        predictionError = 0.1
        period = 0
        nextTime = 0
        (isKnown, isRegular, isActive) = (false, false, false)
        releaseTap()
    }
}
