#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Follows the beat as the music goes: from onset strength to beats that are told before they sound.
struct BeatTracker: Sendable {
    /// A beat as it is told.
    struct Report: Sendable {
        var time: Double
        var beatsPerMinute: Double
        var confidence: Double
    }

    /// A steady beat is told this long before it sounds.
    private static let lead = 0.1
    /// A beat counts as heard when it is this long past, and is told then if it could not be foreseen.
    private static let settling = 0.05
    /// Beats that come, on average, nearer than this to where they were foreseen are steady.
    private static let steadiness = 0.0225

    let space: TempoSpace
    private(set) var belief: BeatBelief
    private var level = Activation.Level()
    private var heard: HeardBeats
    private var likeness: MusicLikeness
    private let frameSeconds: Double

    /// The last beat told, the last one heard, and where the one under way was foreseen.
    private var toldTime = -Double.infinity
    private var heardTime = -Double.infinity
    /// When sound was first heard.
    private var soundTime: Double?
    private var foreseenTime: Double?
    /// Mean distance from foreseen to heard, in seconds.
    private var surprise = 0.1
    private(set) var period = 0.0
    /// Whether there is a beat to speak of.
    private(set) var isKnown = false
    private(set) var nextTime = 0.0

    init(_ space: TempoSpace) {
        self.space = space
        frameSeconds = space.frameSeconds
        belief = BeatBelief(space)
        heard = HeardBeats(frameSeconds: space.frameSeconds)
        likeness = MusicLikeness(frameSeconds: space.frameSeconds)
    }

    /// 0…1.
    var confidence: Double {
        let plausibility = plausibility
        return heard.confidence * plausibility * plausibility
    }

    /// Whether it can be a beat at all: in what sounds like music, or as regular as only a machine is.
    private var plausibility: Double {
        let agreement = min(1, max(0, (heard.confidence - 0.55) / 0.15))
        let regularity = min(1, max(0, (0.03 - surprise) / 0.015))
        return max(Double(likeness.value), agreement * regularity)
    }
    var debug: String { heard.debug + " like \(likeness.value) " + likeness.debug + " surprise \(surprise) share \(belief.summary.share)" }

    /// Takes in a frame.
    ///
    /// - Returns: A beat, when one is to be told.
    mutating func advance(_ change: SpectralChange, at time: Double) -> Report? {
        let activation = level.activation(change.rise, frameSeconds: Float(frameSeconds))
        belief.advance(Activation.evidence(activation))
        heard.hear(activation, at: time)
        likeness.hear(change, activation: activation)
        if soundTime == nil, change.rise > 0 { soundTime = time }
        let summary = belief.summary
        guard summary.interval > 0 else { return nil }
        let believedPeriod = Double(summary.interval) * frameSeconds
        let believedNext = time + Double(summary.remaining) * frameSeconds
        settle(believedNext - believedPeriod, period: believedPeriod, now: time)
        (nextTime, period) = heard.refine(next: believedNext, period: believedPeriod)
        decide(now: time)
        if foreseenTime == nil, nextTime - time <= Self.lead { foreseenTime = nextTime }
        return tell(now: time)
    }

    /// Settles whether there is a beat to speak of. The sooner after the first sound, the better it has to meet the onsets.
    private mutating func decide(now: Double) {
        if isKnown {
            isKnown = plausibility > 0.25
        } else if let soundTime, plausibility > 0.4 {
            let elapsed = now - soundTime
            isKnown = elapsed > 2.2 && heard.weakerAgreement > 0.6 - 0.15 * (elapsed - 2.2)
        }
    }

    /// Holds a beat that has passed against what was foreseen.
    private mutating func settle(_ last: Double, period: Double, now: Double) {
        guard now - last >= Self.settling, last - heardTime > 0.5 * period else { return }
        heardTime = last
        let place = heard.settle(last, period: period)
        let distance = foreseenTime.map { min(0.1, abs($0 - place)) } ?? 0.1
        surprise += 0.3 * (distance - surprise)
        foreseenTime = nil
    }

    private mutating func tell(now: Double) -> Report? {
        let isSteady = surprise < Self.steadiness
        let last = nextTime - period
        let time: Double
        if isSteady, nextTime - now <= Self.lead {
            time = nextTime
        } else if now - last >= Self.settling, now - last <= 0.13 {
            time = last
        } else {
            return nil
        }
        guard time - toldTime > 0.5 * period else { return nil }
        toldTime = time
        guard isKnown else { return nil }
        return Report(time: time, beatsPerMinute: 60 / period, confidence: confidence)
    }
}
