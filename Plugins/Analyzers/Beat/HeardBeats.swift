#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// What became of the beats that have passed: how well they met onsets, and where exactly those lay.
struct HeardBeats: Sendable {
    /// How far from a beat its onset is looked for, in seconds.
    private static let tolerance = 0.035
    /// How long before and after it is due a beat is awaited, in seconds.
    static let suspense = 0.125
    /// How long it takes to forget what there is around any moment, in seconds.
    private static let chanceSeconds = 6.0
    /// Frames that are remembered, a power of two: some ten seconds.
    private static let memory = 1024
    private static let mask = memory - 1
    /// How many beats are looked at for whether every other one meets nothing.
    private static let alternationLength = 6
    /// Strokes whose means differ by no more than this part sound alike.
    private static let likeness = 0.2

    private let frameSeconds: Double
    private let reach: Int
    /// Of the mean around any moment, per frame.
    private let keep: Double
    /// The last frames' activation, onset strength and bass.
    private var history = [Float](repeating: 0, count: Self.memory)
    private var rises = [Float](repeating: 0, count: Self.memory)
    private var basses = [Float](repeating: 0, count: Self.memory)
    private var frame = 0
    private var lastTime = 0.0
    /// Mean of the strongest activation around beats, and around any moment.
    private var hit = 0.0
    private var chance = 0.0
    private var chanceWeight = 0.0
    private var count = 0
    /// A steady beat: its last time and its period.
    private var phase = 0.0
    private var steadyPeriod = 0.0
    private var steadyCount = 0

    init(frameSeconds: Double) {
        self.frameSeconds = frameSeconds
        keep = exp(-frameSeconds / Self.chanceSeconds)
        reach = max(1, Int((Self.tolerance / frameSeconds).rounded()))
    }

    /// Whether beats are more than a second apart.
    static func isSlow(_ period: Double) -> Bool { period > 1 }

    /// Agreement above chance of the weaker of alternate beats: of twice the true tempo one of them meets nothing.
    ///
    /// - Parameter start: When there was sound first.
    /// - Returns: 0 before there were two of each.
    func weakerAgreement(next: Double, period: Double, since start: Double) -> Double {
        var (even, odd, beats) = (0.0, 0.0, 0)
        while beats < Self.alternationLength {
            let moment = next - Double(beats + 1) * period
            guard moment > max(start - Self.tolerance, lastTime - Double(Self.memory - 10) * frameSeconds) else { break }
            let hit = Double(peak(around: frameIndex(moment)))
            if beats.isMultiple(of: 2) { even += hit } else { odd += hit }
            beats += 1
        }
        guard beats >= 4 else { return 0 }
        return agreement(min(even / Double((beats + 1) / 2), odd / Double(beats / 2)))
    }

    /// Whether there have been two steady beats.
    var isSteady: Bool { steadyCount >= 2 }

    /// Whether what sounds midway between beats is as strong as the beats, in the bass and in all: of twice the tempo every beat
    /// sounds alike.
    ///
    /// - Parameter start: When there was sound first.
    /// - Returns: false before there were three of each.
    func isAlikeMidway(next: Double, period: Double, since start: Double) -> Bool {
        var (beats, midways) = (Strokes(), Strokes())
        // What breaks a silence is always stronger.
        let earliest = max(start + 2 * Self.tolerance, lastTime - Double(Self.memory - 10) * frameSeconds)
        for stroke in 1...2 * Self.alternationLength + 2 {
            let moment = next - Double(stroke) * period / 2
            guard moment > earliest else { break }
            if moment > lastTime - Self.tolerance { continue }
            let middle = frameIndex(moment)
            let (rise, bass) = (sum(of: rises, around: middle), sum(of: basses, around: middle))
            if stroke.isMultiple(of: 2) { beats.add(rise, bass) } else { midways.add(rise, bass) }
        }
        guard min(beats.count, midways.count) >= 3 else { return false }
        func isAlike(_ one: Double, _ other: Double) -> Bool { abs(one - other) <= Self.likeness * max(one, other) }
        return isAlike(beats.rise, midways.rise) && isAlike(beats.bass, midways.bass)
    }

    private var chanceNow: Double { chanceWeight > 0 ? chance / chanceWeight : 1 }

    /// Agreement above chance, as Cohen's kappa.
    var confidence: Double {
        count > 0 ? agreement(hit) * min(1, Double(count) / 4) : 0
    }

    private func agreement(_ hit: Double) -> Double {
        let chance = chanceNow
        return max(0, min(1, (hit - chance) / max(0.05, 1 - chance)))
    }

    /// Back to the start, in place.
    mutating func reset() {
        for index in history.indices { (history[index], rises[index], basses[index]) = (0, 0, 0) }
        (frame, lastTime, count, steadyCount) = (0, 0, 0, 0)
        (hit, chance, chanceWeight) = (0, 0, 0)
        (phase, steadyPeriod) = (0, 0)
    }

    /// The steady beat is somewhere else from here on.
    mutating func lose() {
        steadyCount = 0
    }

    mutating func hear(_ activation: Float, rise: Float, bass: Float, at time: Double) {
        history[frame & Self.mask] = activation
        rises[frame & Self.mask] = rise
        basses[frame & Self.mask] = bass
        lastTime = time
        var peak: Float = 0
        for age in 0...2 * reach { peak = max(peak, history[(frame - age) & Self.mask]) }
        chance = chance * keep + Double(peak)
        chanceWeight = chanceWeight * keep + 1
        frame += 1
    }

    /// The frame of a moment not long ago.
    private func frameIndex(_ time: Double) -> Int { frame - 1 + Int(((time - lastTime) / frameSeconds).rounded()) }

    /// The strongest activation near a frame.
    private func peak(around middle: Int) -> Float {
        var peak: Float = 0
        for index in min(frame - 1, middle - reach)...min(frame - 1, middle + reach) { peak = max(peak, history[index & Self.mask]) }
        return peak
    }

    /// A stroke's share of a frame depends on where in the frames it lies, that of all near it does not.
    private func sum(of values: [Float], around middle: Int) -> Double {
        var sum: Float = 0
        for index in min(frame - 1, middle - reach)...min(frame - 1, middle + reach) { sum += values[index & Self.mask] }
        return Double(sum)
    }

    /// - Returns: Where the beat's onset lay.
    mutating func settle(_ time: Double, period: Double) -> Double {
        let middle = frameIndex(time)
        let range = middle - reach...min(frame - 1, middle + reach)
        var best = middle
        for index in range where rises[index & Self.mask] > rises[best & Self.mask] { best = index }
        let peak = peak(around: middle)
        let frames = Attack.place(around: best, in: frame - Self.memory...frame - 1, frameSeconds: frameSeconds) { rises[$0 & Self.mask] }
        let place = lastTime + (frames - Double(frame - 1)) * frameSeconds
        count += 1
        hit += (Double(peak) - hit) / Double(min(count, 8))
        follow(place, weight: Double(peak), believed: time, period: period)
        return place
    }

    private mutating func follow(_ place: Double, weight: Double, believed: Double, period: Double) {
        let expected = phase + steadyPeriod
        let beats = ((place - phase) / max(steadyPeriod, 0.1)).rounded()
        if steadyCount > 0, beats == 1, abs(expected - believed) < 0.04, abs(steadyPeriod / period - 1) < 0.06 {
            let miss = weight > 0.25 ? max(-0.03, min(0.03, place - expected)) : 0
            // At first a straight line through all of them, with the belief's period as one more; then the older count less.
            let points = Double(steadyCount + 2)
            phase = expected + max(0.3, 2 * (2 * points - 1) / (points * (points + 1))) * miss
            steadyPeriod += max(0.075, 6 / (points * (points + 1))) * miss
            steadyCount += 1
        } else {
            phase = place
            steadyPeriod = period
            steadyCount = 1
        }
    }

    /// Puts a steady beat where its onsets are, rather than where the frames of the belief are.
    ///
    /// - Parameter now: Around a beat that is due, as long as its onset may still come, the belief in slower tempi grows for
    ///   nothing: of a slow beat that is far enough to be seen.
    func refine(next: Double, period: Double, now: Double) -> (next: Double, period: Double) {
        let due = phase + steadyPeriod
        if steadyCount >= 1, Self.isSlow(steadyPeriod), abs(now - due) < Self.suspense {
            return (due > now ? due : due + steadyPeriod, steadyPeriod)
        }
        guard isSteady, abs(steadyPeriod / period - 1) < 0.06 else { return (next, period) }
        let steps = ((next - phase) / steadyPeriod).rounded()
        let steady = phase + steps * steadyPeriod
        return abs(steady - next) < 0.04 ? (steady, steadyPeriod) : (next, period)
    }
}

/// Means over strokes.
private struct Strokes {
    private(set) var count = 0
    private(set) var rise = 0.0
    private(set) var bass = 0.0

    mutating func add(_ rise: Double, _ bass: Double) {
        count += 1
        self.rise += (rise - self.rise) / Double(count)
        self.bass += (bass - self.bass) / Double(count)
    }
}
