#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// What became of the beats that have passed: how well they met onsets, and where exactly those lay.
struct HeardBeats: Sendable {
    private static let tolerance = 0.035
    private let frameSeconds: Double
    private let reach: Int
    /// The last frames' activation; a power of two of them.
    private var history = [Float](repeating: 0, count: 128)
    private var frame = 0
    private var lastTime = 0.0
    /// Mean of the strongest activation around beats, and around any moment.
    private var hit = 0.0
    /// The same of every other beat: of twice the true tempo one of them meets nothing.
    private var alternateHits = (0.0, 0.0)
    private var chance = 0.0
    private var chanceWeight = 0.0
    private var count = 0
    /// A steady beat: its last time and its period.
    private var phase = 0.0
    private var steadyPeriod = 0.0
    private var steadyCount = 0

    init(frameSeconds: Double) {
        self.frameSeconds = frameSeconds
        reach = max(1, Int((Self.tolerance / frameSeconds).rounded()))
    }

    /// Agreement above chance of the weaker of alternate beats; 0 before there are two of each.
    var weakerAgreement: Double {
        guard count >= 4 else { return 0 }
        return agreement(min(alternateHits.0, alternateHits.1))
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
        for index in history.indices { history[index] = 0 }
        (frame, lastTime, count, steadyCount) = (0, 0, 0, 0)
        (hit, chance, chanceWeight, alternateHits) = (0, 0, 0, (0, 0))
        (phase, steadyPeriod) = (0, 0)
    }

    /// The steady beat is somewhere else from here on.
    mutating func lose() {
        steadyCount = 0
    }

    mutating func hear(_ activation: Float, at time: Double) {
        history[frame & 127] = activation
        lastTime = time
        var peak: Float = 0
        for age in 0...2 * reach { peak = max(peak, history[(frame - age) & 127]) }
        let keep = exp(-frameSeconds / 6)
        chance = chance * keep + Double(peak)
        chanceWeight = chanceWeight * keep + 1
        frame += 1
    }

    /// Activation at a moment not long ago.
    private func frameIndex(_ time: Double) -> Int { frame - 1 + Int(((time - lastTime) / frameSeconds).rounded()) }

    /// - Returns: Where the beat's onset lay.
    mutating func settle(_ time: Double, period: Double) -> Double {
        let middle = frameIndex(time)
        var (best, peak) = (middle, Float(0))
        for index in middle - reach...min(frame - 1, middle + reach) where history[index & 127] > peak {
            peak = history[index & 127]
            best = index
        }
        // The centre of gravity around the peak.
        var (mass, moment) = (0.0, 0.0)
        for index in best - 2...min(frame - 1, best + 2) {
            let value = Double(history[index & 127])
            mass += value
            moment += value * Double(index - best)
        }
        let place = lastTime + (Double(best - frame + 1) + (mass > 0 ? moment / mass : 0)) * frameSeconds
        count += 1
        hit += (Double(peak) - hit) / Double(min(count, 8))
        let rate = 1 / Double(min((count + 1) / 2, 4))
        if count.isMultiple(of: 2) {
            alternateHits.0 += (Double(peak) - alternateHits.0) * rate
        } else {
            alternateHits.1 += (Double(peak) - alternateHits.1) * rate
        }
        follow(place, weight: Double(peak), believed: time, period: period)
        return place
    }

    private mutating func follow(_ place: Double, weight: Double, believed: Double, period: Double) {
        let expected = phase + steadyPeriod
        let beats = ((place - phase) / max(steadyPeriod, 0.1)).rounded()
        if steadyCount > 0, beats == 1, abs(expected - believed) < 0.04, abs(steadyPeriod / period - 1) < 0.06 {
            let miss = weight > 0.25 ? max(-0.03, min(0.03, place - expected)) : 0
            let rate = max(0.25, 1 / Double(steadyCount + 1))
            phase = expected + rate * 1.2 * miss
            steadyPeriod += rate * 0.3 * miss
            steadyCount += 1
        } else {
            phase = place
            steadyPeriod = period
            steadyCount = 1
        }
    }

    /// Puts a steady beat where its onsets are, rather than where the frames of the belief are.
    func refine(next: Double, period: Double) -> (next: Double, period: Double) {
        guard steadyCount >= 2, abs(steadyPeriod / period - 1) < 0.06 else { return (next, period) }
        let steps = ((next - phase) / steadyPeriod).rounded()
        let steady = phase + steps * steadyPeriod
        return abs(steady - next) < 0.04 ? (steady, steadyPeriod) : (next, period)
    }
}
