#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Measures how well the estimated beats coincide with onsets, and refines tempo and phase from the onset times.
///
/// The agreement is the mean activation around the beats, corrected for chance as in Cohen's kappa: 0 if it is the mean around
/// any frame, 1 if it is the maximum.
struct BeatOnsetAgreement: Sendable {
    /// Half-width of the window around a beat in which its onset is searched, in seconds.
    private static let tolerance = 0.035
    /// Half-width of the window around the expected time of a slow beat in which its onset may still be missing, in seconds. In
    /// this window the forward decoder drifts towards slower tempi.
    static let pendingOnsetWindow = 0.125
    /// Time constant of the mean activation around any frame, in seconds.
    private static let chanceSeconds = 6.0
    /// Length of the history in frames, a power of two: about 10 s.
    private static let historyLength = 1024
    private static let historyMask = historyLength - 1
    /// Number of beats in the comparison of even and odd beats.
    private static let alternationLength = 6
    /// Mean onset strengths are similar if they differ by at most this part of the larger one.
    private static let similarityTolerance = 0.2

    private let frameSeconds: Double
    /// `tolerance` in frames.
    private let radius: Int
    private let chanceDecayPerFrame: Double
    /// Activation, onset strength and bass increase of the last frames.
    private var activations = [Float](repeating: 0, count: Self.historyLength)
    private var onsetStrengths = [Float](repeating: 0, count: Self.historyLength)
    private var bassIncreases = [Float](repeating: 0, count: Self.historyLength)
    private var frame = 0
    private var lastTime = 0.0
    /// Mean of the largest activation around the beats.
    private var beatActivation = 0.0
    /// Decaying sum of the largest activation around each frame, and the sum of its weights.
    private var chanceSum = 0.0
    private var chanceWeight = 0.0
    private var count = 0
    /// State of the steady beat: the time of its last beat, its period, and the number of beats.
    private var steadyTime = 0.0
    private var steadyPeriod = 0.0
    private var steadyCount = 0

    init(frameSeconds: Double) {
        self.frameSeconds = frameSeconds
        chanceDecayPerFrame = exp(-frameSeconds / Self.chanceSeconds)
        radius = max(1, Int((Self.tolerance / frameSeconds).rounded()))
    }

    /// Whether the period is longer than one second.
    static func isSlow(_ period: Double) -> Bool { period > 1 }

    /// The agreement of the even or of the odd beats, whichever is lower. At twice the true tempo one of them is about 0.
    ///
    /// - Parameters:
    ///   - next: Time of the next beat, in seconds.
    ///   - start: Time of the first sound, in seconds.
    /// - Returns: 0 until there have been two even and two odd beats.
    func weakerAgreement(next: Double, period: Double, since start: Double) -> Double {
        var (even, odd, beats) = (0.0, 0.0, 0)
        while beats < Self.alternationLength {
            let moment = next - Double(beats + 1) * period
            guard moment > max(start - Self.tolerance, lastTime - Double(Self.historyLength - 10) * frameSeconds) else { break }
            let activation = Double(maximumActivation(around: frameIndex(moment)))
            if beats.isMultiple(of: 2) { even += activation } else { odd += activation }
            beats += 1
        }
        guard beats >= 4 else { return 0 }
        return agreement(min(even / Double((beats + 1) / 2), odd / Double(beats / 2)))
    }

    /// Whether there have been two steady beats.
    var isSteady: Bool { steadyCount >= 2 }

    /// Whether the onsets midway between beats are as strong as those on the beats, in the bass and in all bands. Then the true
    /// tempo may be twice as fast.
    ///
    /// - Parameters:
    ///   - next: Time of the next beat, in seconds.
    ///   - start: Time of the first sound, in seconds.
    /// - Returns: false until there have been three beats and three midway points.
    func hasEqualMidwayOnsets(next: Double, period: Double, since start: Double) -> Bool {
        var (beats, midways) = (OnsetMeans(), OnsetMeans())
        // The first onset after silence is left out: it is always stronger.
        let earliest = max(start + 2 * Self.tolerance, lastTime - Double(Self.historyLength - 10) * frameSeconds)
        for step in 1...2 * Self.alternationLength + 2 {
            let moment = next - Double(step) * period / 2
            guard moment > earliest else { break }
            if moment > lastTime - Self.tolerance { continue }
            let middle = frameIndex(moment)
            let (onsetStrength, bass) = (sum(of: onsetStrengths, around: middle), sum(of: bassIncreases, around: middle))
            if step.isMultiple(of: 2) { beats.add(onsetStrength, bass) } else { midways.add(onsetStrength, bass) }
        }
        guard min(beats.count, midways.count) >= 3 else { return false }
        func isSimilar(_ one: Double, _ other: Double) -> Bool { abs(one - other) <= Self.similarityTolerance * max(one, other) }
        return isSimilar(beats.onsetStrength, midways.onsetStrength) && isSimilar(beats.bass, midways.bass)
    }

    /// The mean of the largest activation around any frame.
    private var chance: Double { chanceWeight > 0 ? chanceSum / chanceWeight : 1 }

    /// The agreement of the last eight beats, 0…1. It is reduced for the first three beats.
    var confidence: Double {
        count > 0 ? agreement(beatActivation) * min(1, Double(count) / 4) : 0
    }

    private func agreement(_ activation: Double) -> Double {
        let chance = chance
        return max(0, min(1, (activation - chance) / max(0.05, 1 - chance)))
    }

    /// Returns to the initial state. No allocation.
    mutating func reset() {
        for index in activations.indices { (activations[index], onsetStrengths[index], bassIncreases[index]) = (0, 0, 0) }
        (frame, lastTime, count, steadyCount) = (0, 0, 0, 0)
        (beatActivation, chanceSum, chanceWeight) = (0, 0, 0)
        (steadyTime, steadyPeriod) = (0, 0)
    }

    /// Discards the steady beat, because a control has changed tempo or phase.
    mutating func resetSteadyBeat() {
        steadyCount = 0
    }

    /// Adds a frame.
    mutating func add(_ activation: Float, onsetStrength: Float, bass: Float, at time: Double) {
        activations[frame & Self.historyMask] = activation
        onsetStrengths[frame & Self.historyMask] = onsetStrength
        bassIncreases[frame & Self.historyMask] = bass
        lastTime = time
        var maximum: Float = 0
        for age in 0...2 * radius { maximum = max(maximum, activations[(frame - age) & Self.historyMask]) }
        chanceSum = chanceSum * chanceDecayPerFrame + Double(maximum)
        chanceWeight = chanceWeight * chanceDecayPerFrame + 1
        frame += 1
    }

    /// The frame at a time within the history.
    private func frameIndex(_ time: Double) -> Int { frame - 1 + Int(((time - lastTime) / frameSeconds).rounded()) }

    /// The largest activation within `radius` of a frame.
    private func maximumActivation(around middle: Int) -> Float {
        var maximum: Float = 0
        for index in min(frame - 1, middle - radius)...min(frame - 1, middle + radius) {
            maximum = max(maximum, activations[index & Self.historyMask])
        }
        return maximum
    }

    /// The sum of values within `radius` of a frame. Unlike the maximum it does not depend on how an onset is distributed over
    /// frames.
    private func sum(of values: [Float], around middle: Int) -> Double {
        var sum: Float = 0
        for index in min(frame - 1, middle - radius)...min(frame - 1, middle + radius) { sum += values[index & Self.historyMask] }
        return Double(sum)
    }

    /// Compares a beat that has passed with the onsets around it.
    ///
    /// - Returns: The time of the beat's onset, in seconds.
    mutating func evaluate(_ time: Double, period: Double) -> Double {
        let middle = frameIndex(time)
        let range = middle - radius...min(frame - 1, middle + radius)
        var best = middle
        for index in range where onsetStrengths[index & Self.historyMask] > onsetStrengths[best & Self.historyMask] { best = index }
        let activation = maximumActivation(around: middle)
        let onsetFrame = OnsetTime.time(around: best, in: frame - Self.historyLength...frame - 1, frameSeconds: frameSeconds) {
            onsetStrengths[$0 & Self.historyMask]
        }
        let onsetTime = lastTime + (onsetFrame - Double(frame - 1)) * frameSeconds
        count += 1
        beatActivation += (Double(activation) - beatActivation) / Double(min(count, 8))
        updateSteadyBeat(onsetTime, activation: Double(activation), estimate: time, period: period)
        return onsetTime
    }

    /// Updates time and period of the steady beat by an alpha-beta filter. Its gains are first those of a least-squares line
    /// through all beats, with the period of the forward decoder as one more observation, and then constant, so that older beats
    /// decay exponentially.
    private mutating func updateSteadyBeat(_ onsetTime: Double, activation: Double, estimate: Double, period: Double) {
        let expected = steadyTime + steadyPeriod
        let beats = ((onsetTime - steadyTime) / max(steadyPeriod, 0.1)).rounded()
        if steadyCount > 0, beats == 1, abs(expected - estimate) < 0.04, abs(steadyPeriod / period - 1) < 0.06 {
            let error = activation > 0.25 ? max(-0.03, min(0.03, onsetTime - expected)) : 0
            let points = Double(steadyCount + 2)
            steadyTime = expected + max(0.3, 2 * (2 * points - 1) / (points * (points + 1))) * error
            steadyPeriod += max(0.075, 6 / (points * (points + 1))) * error
            steadyCount += 1
        } else {
            steadyTime = onsetTime
            steadyPeriod = period
            steadyCount = 1
        }
    }

    /// Replaces the estimate of the forward decoder by that of the steady beat, which is not quantized to frames, if they are
    /// consistent. While the onset of a slow beat is pending, the steady beat is used in any case.
    ///
    /// - Parameters:
    ///   - next: Time of the next beat according to the forward decoder, in seconds.
    ///   - period: Beat period according to the forward decoder, in seconds.
    ///   - now: Current time, in seconds.
    func refine(next: Double, period: Double, now: Double) -> (next: Double, period: Double) {
        let expected = steadyTime + steadyPeriod
        if steadyCount >= 1, Self.isSlow(steadyPeriod), abs(now - expected) < Self.pendingOnsetWindow {
            return (expected > now ? expected : expected + steadyPeriod, steadyPeriod)
        }
        guard isSteady, abs(steadyPeriod / period - 1) < 0.06 else { return (next, period) }
        let steps = ((next - steadyTime) / steadyPeriod).rounded()
        let steady = steadyTime + steps * steadyPeriod
        return abs(steady - next) < 0.04 ? (steady, steadyPeriod) : (next, period)
    }
}

/// Running means over onsets.
private struct OnsetMeans {
    private(set) var count = 0
    private(set) var onsetStrength = 0.0
    private(set) var bass = 0.0

    mutating func add(_ onsetStrength: Double, _ bass: Double) {
        count += 1
        self.onsetStrength += (onsetStrength - self.onsetStrength) / Double(count)
        self.bass += (bass - self.bass) / Double(count)
    }
}
