/// Follows the beat as the music goes: from onset strength to beats that are told before they sound.
struct BeatTracker: Sendable {
    /// A steady beat is told this long before it sounds.
    static let lead = 0.1
    /// A beat counts as heard when it is this long past, and is told then if it could not be foreseen.
    private static let settling = 0.05
    /// Later than this it is not told at all.
    private static let patience = 0.13
    /// Beats that come, on average, nearer than this to where they were foreseen are steady.
    private static let steadiness = 0.0225
    /// No beat is told before it is at least this believable.
    private static let leastConfidence = 0.1
    /// Nor before there was so much sound, in seconds.
    private static let shortest = 2.1
    /// Beats that are further apart, in seconds, are told when two of them were steady: around one that is due the belief in slower
    /// tempi grows for nothing.
    private static let longestHasty = 1.3
    /// Where nothing could have a beat for a while it takes half as long, up to this, in seconds, to be believed again.
    private static let probation = 2.8
    /// How much the faster of two tempi gains where all strokes sound alike, and how far around it.
    private static let metricalWeight = 1e5
    private static let metricalTolerance = 0.06
    /// What a tempo may become of itself.
    private static let keptChange = 0.75...1.33
    /// For so many beats the first tempo is not given up for a sudden one.
    private static let youth = 2.0
    /// A sudden tempo has to wait only where beats met onsets better than this.
    private static let persistence = 0.5
    /// A tapped tempo holds for so many beats, whatever the music says.
    private static let heldBeats = 8.0
    /// Meanwhile the music may move it by this share, as the taps were not quite even.
    private static let heldTolerance = 0.05
    /// The longest silence or loss that a beat outlives, in seconds.
    private static let longestSilence = 2.0

    let space: TempoSpace
    let frameSeconds: Double
    var belief: BeatBelief
    private var level: Activation.Level
    var heard: HeardBeats
    private var likeness: MusicLikeness
    var bar = BarTracker()

    /// The last beat told, the last one heard, and where the one under way was foreseen.
    private var toldTime = -Double.infinity
    private var heardTime = -Double.infinity
    var foreseenTime: Double?
    /// When sound was first heard, and how long there has been none.
    private var soundTime: Double?
    private var silence = 0.0
    /// Mean distance from foreseen to heard, in seconds.
    var surprise = 0.1
    private(set) var time = 0.0
    var period = 0.0
    var nextTime = 0.0
    /// Whether there is a beat to speak of.
    var isKnown = false
    /// How long what sounds must be plausible before there is a beat, in seconds.
    private var doubt = 0.0
    /// Whether the faster of two tempi was given a chance.
    private var hasWeighedLevels = false
    /// Its period, when there was last, and when that was: for the first time, and last.
    private var knownPeriod = 0.0
    private var foundTime = Double.infinity
    private var knownTime = -Double.infinity
    /// When it was last what is believed.
    private var keptTime = -Double.infinity

    /// What the user has said: beats per minute that are kept to, or preferred.
    var lockedTempo: Double?
    var chosenTempo: Double?
    var taps = Taps()
    /// Until when a tapped tempo holds.
    private var heldUntil = -Double.infinity
    /// What controls have changed since the last frame.
    var correction: PendingCorrection?

    init(_ space: TempoSpace) {
        self.space = space
        frameSeconds = space.frameSeconds
        belief = BeatBelief(space)
        heard = HeardBeats(frameSeconds: space.frameSeconds)
        level = Activation.Level(frameSeconds: space.frameSeconds)
        likeness = MusicLikeness(frameSeconds: space.frameSeconds)
    }

    /// 0…1.
    var confidence: Double { isKnown ? believability : 0 }

    private var believability: Double {
        let plausibility = plausibility
        return heard.confidence * plausibility * plausibility
    }

    private var plausibility: Double {
        BeatPlausibility.value(musicLikeness: likeness.value, agreement: heard.confidence, miss: surprise)
    }

    /// Beats per minute; nil when unknown.
    var beatsPerMinute: Double? { isKnown ? 60 / period : nil }

    /// All of it at a moment; nil when unknown.
    func place(at moment: Double) -> (beatsPerMinute: Double, beat: Double, bar: Double?, confidence: Double)? {
        guard let beatsPerMinute, let (beat, bar) = phase(at: moment) else { return nil }
        return (beatsPerMinute, beat, bar, confidence)
    }

    /// How much of the beat, and of the bar, has passed at a moment; nil when unknown.
    func phase(at moment: Double) -> (beat: Double, bar: Double?)? {
        guard isKnown else { return nil }
        let beats = (moment - nextTime) / period
        let phase = beats - beats.rounded(.down)
        let lastBeat = nextTime + beats.rounded(.down) * period
        let place = bar.place(stepsAhead: steps(to: lastBeat))
        return (phase, place.map { (Double($0.position - 1) + phase) / Double($0.meter) })
    }

    /// Beats from the last one heard to a moment.
    func steps(to moment: Double) -> Int {
        let beats = (moment - heardTime) / period
        return beats.isFinite && abs(beats) < 1e6 ? Int(beats.rounded()) : 0
    }

    /// Takes in a frame.
    ///
    /// - Returns: A beat, when one is to be told.
    mutating func advance(_ change: SpectralChange, at time: Double) -> BeatReport? {
        if correction != nil { applyCorrection() }
        pass(to: time)
        let activation = level.activation(change.rise)
        belief.advance(Activation.evidence(activation))
        heard.hear(activation, rise: change.rise, bass: change.bassRise, at: time)
        likeness.hear(change, activation: activation)
        bar.hear(change)
        silence = change.isSilent ? silence + frameSeconds : 0
        if silence > Self.longestSilence, soundTime != nil { forget() }
        if soundTime == nil, change.rise > 0 { soundTime = time }
        guard soundTime != nil, belief.summary.interval > 0 else { return nil }
        foresee()
        decide()
        if isKnown {
            (knownPeriod, knownTime) = (period, time)
            foundTime = min(foundTime, time)
        }
        return tell()
    }

    /// Goes on through frames that were lost.
    private mutating func pass(to time: Double) {
        let lost = time - self.time - 1.5 * frameSeconds
        if soundTime != nil, lost > Self.longestSilence {
            forget()
        } else if soundTime != nil, lost > 0 {
            for frame in 1...Int((lost / frameSeconds).rounded(.up)) {
                belief.advance(0)
                heard.hear(0, rise: 0, bass: 0, at: self.time + Double(frame) * frameSeconds)
            }
        }
        self.time = time
    }

    /// From what is believed to when the next beat is due.
    private mutating func foresee() {
        let summary = belief.summary
        let believedPeriod = Double(summary.interval) * frameSeconds
        let believedNext = time + Double(summary.remaining) * frameSeconds
        if isSudden(next: believedNext, period: believedPeriod) {
            if nextTime <= time { nextTime += period }
            settle(nextTime - period, period: period)
        } else {
            keptTime = time
            settle(believedNext - believedPeriod, period: believedPeriod)
            (nextTime, period) = heard.refine(next: believedNext, period: believedPeriod, now: time)
            if let lockedTempo { period = 60 / lockedTempo }
        }
        if foreseenTime == nil, nextTime - time <= Self.lead { foreseenTime = nextTime }
    }

    /// Whether the tempo was tapped, and is not to be given up yet.
    private var isHeld: Bool { lockedTempo == nil && chosenTempo != nil && time < heldUntil }

    /// Holds the tempo that was tapped, the last time at this moment.
    mutating func hold(_ tempo: Double, from moment: Double) {
        heldUntil = moment + Self.heldBeats * 60 / tempo
    }

    /// The tempo holds no longer than the music bears it out.
    mutating func release() {
        heldUntil = -.infinity
    }

    /// Whether another tempo has only just come to be believed, and may be gone before the beat that is known is over: a slower one
    /// around a beat that is due, one twice as fast once a slow beat has been heard, and any while the beat is new.
    private func isSudden(next: Double, period: Double) -> Bool {
        if let chosenTempo, isHeld { return abs(period * chosenTempo / 60 - 1) > Self.heldTolerance }
        guard isKnown, let soundTime, lockedTempo == nil, chosenTempo == nil, heard.confidence > Self.persistence,
            !isKept(period), time - keptTime < knownPeriod
        else { return false }
        let isYoung = time - foundTime < Self.youth * knownPeriod
        if period > knownPeriod { return isYoung || next - time < Self.lead && time - keptTime < HeardBeats.suspense }
        return (isYoung || HeardBeats.isSlow(knownPeriod)) && heard.weakerAgreement(next: next, period: period, since: soundTime) == 0
    }

    /// Holds a beat that has passed against what was foreseen.
    private mutating func settle(_ last: Double, period: Double) {
        guard time - last >= Self.settling, last - heardTime > 0.5 * period else { return }
        let passed = max(1, steps(to: last))
        heardTime = last
        let place = heard.settle(last, period: period)
        let distance = foreseenTime.map { min(0.1, abs($0 - place)) } ?? 0.1
        surprise += 0.3 * (distance - surprise)
        foreseenTime = nil
        bar.settle(steps: passed)
    }

    /// Settles whether there is a beat to speak of.
    private mutating func decide() {
        let plausibility = plausibility
        let isPlausible = plausibility > 0.4
        if isPlausible {
            doubt = max(0, doubt - frameSeconds)
        } else if let soundTime, time - soundTime > Self.shortest {
            doubt = min(Self.probation, doubt + 0.5 * frameSeconds)
        }
        if lockedTempo != nil || isHeld {
            isKnown = true
        } else if isKnown {
            isKnown = plausibility > 0.25 && (chosenTempo != nil || isKept(period) || alternateAgreement > 0)
        } else {
            isKnown =
                isPlausible && doubt == 0 && believability > Self.leastConfidence && isBorneOut && isSettled
                && !weighMetricalLevels()
        }
    }

    /// Whether that is about the tempo that is known.
    private func isKept(_ period: Double) -> Bool { Self.keptChange.contains(period / knownPeriod) }

    /// Whether the tempo has just been much slower.
    private var hasQuickened: Bool {
        period < Self.keptChange.lowerBound * knownPeriod && time - knownTime < Self.longestSilence
    }

    /// How much better than by chance the weaker of alternate beats meets onsets.
    private var alternateAgreement: Double {
        // A closure would take a copy of all this with it.
        guard let soundTime else { return 0 }
        return heard.weakerAgreement(next: nextTime, period: period, since: soundTime)
    }

    /// Whether alternate beats meet enough for a beat to begin: the sooner after the first sound, the more; after six seconds all
    /// else is evidence enough.
    private var isBorneOut: Bool {
        guard let soundTime else { return false }
        let elapsed = time - soundTime - Self.shortest
        let least = 0.6 - 0.15 * elapsed
        return elapsed > 0 && alternateAgreement > (hasQuickened ? max(0, least) : least)
    }

    private var isSettled: Bool { period <= Self.longestHasty || heard.isSteady }

    /// Believes in the faster of two tempi, once, where all their strokes sound alike: the slower one is liked better, but nothing
    /// tells of it.
    ///
    /// - Returns: Whether that is another than the one that was to be told.
    private mutating func weighMetricalLevels() -> Bool {
        guard !hasWeighedLevels, chosenTempo == nil, let soundTime else { return false }
        let isTwiceAsFast =
            space.tempi.contains(120 / period) && heard.isAlikeMidway(next: nextTime, period: period, since: soundTime)
        guard isTwiceAsFast || heard.isAlikeMidway(next: nextTime, period: 2 * period, since: soundTime) else { return false }
        hasWeighedLevels = true
        let interval = period / frameSeconds / (isTwiceAsFast ? 2 : 1)
        belief.weigh { other, _ in abs(Double(other) / interval - 1) < Self.metricalTolerance ? Self.metricalWeight : 1 }
        return isTwiceAsFast
    }

    private mutating func tell() -> BeatReport? {
        let isSteady = surprise < Self.steadiness
        let last = nextTime - period
        let beat: Double
        if isSteady, nextTime - time <= Self.lead {
            beat = nextTime
        } else if time - last >= Self.settling, time - last <= Self.patience {
            beat = last
        } else {
            return nil
        }
        guard isKnown, beat - toldTime > 0.5 * period else { return nil }
        toldTime = beat
        let place = bar.place(stepsAhead: steps(to: beat))
        return BeatReport(
            time: beat, beatsPerMinute: 60 / period, confidence: confidence, position: place?.position,
            meter: place?.meter)
    }

    /// Starts anew; what has been told stays told, and what the user wishes holds.
    mutating func forget() {
        belief.reset()
        forgetAllButBelief()
    }

    mutating func forgetAllButBelief() {
        level = Activation.Level(frameSeconds: frameSeconds)
        heard.reset()
        likeness.reset()
        bar = BarTracker()
        heardTime = -.infinity
        foreseenTime = nil
        soundTime = nil
        silence = 0
        surprise = 0.1
        period = 0
        nextTime = 0
        isKnown = false
        foundTime = .infinity
        knownTime = -.infinity
        keptTime = -.infinity
        doubt = 0
        hasWeighedLevels = false
        release()
    }
}
