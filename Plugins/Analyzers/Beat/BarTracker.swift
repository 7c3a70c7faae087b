#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Downbeat tracking: the meter (3 or 4) and the position of each beat in its bar.
///
/// The HMM forward algorithm over seven states, the positions of a bar of three and of a bar of four, with one step per beat. The
/// observation is the accent: the bass increase around the beat, because downbeats usually have more bass.
struct BarTracker: Sendable {
    /// Probability per beat that the meter changes or that a beat was missed or inserted.
    private static let resetProbability = 0.004
    /// Minimum probability of the most likely position. The position is unknown below it.
    private static let minimumProbability = 0.36
    private static let stateCount = 7
    private static let uniform = SIMD8<Double>(1, 1, 1, 1, 1, 1, 1, 0) / 7
    /// Distribution before the first beat: most likely the last position of a bar of four.
    private static let initial = SIMD8<Double>(0.05, 0.05, 0.10, 0.12, 0.12, 0.12, 0.44, 0)
    /// The states of bars of three, and of bars of four.
    private static let bars = (0..<3, 3..<7)
    /// Weight of the accent, in nats per standard deviation.
    private static let accentWeight = 0.7

    /// The state probabilities.
    private var probabilities = Self.initial
    /// Ring buffer of the bass increase in the last frames.
    private var recentBass = SIMD16<Float>.zero
    private var frame = 0
    /// Running mean and mean square of the accents.
    private var mean = 0.0
    private var square = 0.0
    private var count = 0.0

    /// Adds a frame.
    mutating func add(_ difference: SpectralDifference) {
        recentBass[frame & 15] = difference.bassIncrease
        frame += 1
    }

    /// Processes a beat that has passed, `steps` beats after the previous one. Its accent is the maximum of the last 16 frames.
    mutating func advance(steps: Int) {
        for _ in 0..<min(steps, 12) { predict() }
        observe(accent: Double(recentBass.max()))
    }

    /// The observation step for an accent, which is normalized by its running mean and standard deviation.
    private mutating func observe(accent: Double) {
        let rate = max(1 / 32, 1 / (count + 1))
        mean += (accent - mean) * rate
        square += (accent * accent - square) * rate
        count += 1
        // The lower limit keeps the weight of accents small if all beats are alike.
        let deviation = max(0.1 * mean + 1e-4, max(0, square - mean * mean).squareRoot())
        guard count > 4 else { return }
        observe(normalizedAccent: max(-2, min(2, (accent - mean) / deviation)))
    }

    /// The prediction step: each position is followed by the next one.
    private mutating func predict() {
        let old = probabilities
        for bar in 0..<2 {
            let bar = bar == 0 ? Self.bars.0 : Self.bars.1
            for state in bar {
                let previous = state == bar.lowerBound ? bar.upperBound - 1 : state - 1
                probabilities[state] = old[previous] * (1 - Self.resetProbability) + Self.resetProbability / Double(Self.stateCount)
            }
        }
    }

    private mutating func observe(normalizedAccent: Double) {
        for state in 0..<Self.stateCount {
            // The third beat of four is weakly accented.
            let share = state == 0 || state == 3 ? 1 : state == 5 ? 0.1 : -0.4
            probabilities[state] *= exp(Self.accentWeight * normalizedAccent * share)
        }
        probabilities /= probabilities.sum()
    }

    /// The positions of all beats of a stream by the forward-backward algorithm.
    ///
    /// The backward pass uses the same weights: in reversed order the downbeat and the third of four keep their index, and the other
    /// positions have equal weights.
    ///
    /// - Parameter accents: The bass increase around each beat.
    static func positions(_ accents: [Double]) -> [(position: Int, meter: Int)?] {
        func pass(_ accents: [Double]) -> [BarTracker] {
            var bar = BarTracker()
            // Mean and deviation are those of all accents from the first beat on.
            bar.setStatistics(accents)
            return accents.map { accent in
                bar.predict()
                bar.observe(accent: accent)
                return bar
            }
        }
        let forward = pass(accents)
        let backward = pass(accents.reversed()).reversed() as [BarTracker]
        return accents.indices.map { index in
            var bar = forward[index]
            if index + 1 < accents.count {
                let later = backward[index + 1].probabilities
                for state in 0..<stateCount {
                    let range = state < 3 ? bars.0 : bars.1
                    // The state of the next beat, and its index in reversed order, in which the downbeat stays the first.
                    let next = range.lowerBound + (state - range.lowerBound + 1) % range.count
                    let mirrored = range.lowerBound + (range.count - (next - range.lowerBound)) % range.count
                    bar.probabilities[state] *= later[mirrored]
                }
                bar.probabilities /= bar.probabilities.sum()
            }
            return bar.position(stepsAhead: 0)
        }
    }

    private mutating func setStatistics(_ accents: [Double]) {
        guard !accents.isEmpty else { return }
        mean = accents.reduce(0, +) / Double(accents.count)
        square = accents.reduce(0) { $0 + $1 * $1 } / Double(accents.count)
        count = 32
    }

    /// The position of the beat `stepsAhead` beats after the last processed one; nil if unknown.
    func position(stepsAhead: Int) -> (position: Int, meter: Int)? {
        var best = 0
        for state in 1..<Self.stateCount where probabilities[state] > probabilities[best] { best = state }
        guard probabilities[best] > Self.minimumProbability else { return nil }
        let bar = best < 3 ? Self.bars.0 : Self.bars.1
        let position = (best - bar.lowerBound + stepsAhead) % bar.count
        return ((position + bar.count) % bar.count + 1, bar.count)
    }

    /// Makes the beat `stepsAhead` beats after the last processed one a downbeat, as requested by the user.
    mutating func setDownbeat(stepsAhead: Int) {
        let three = probabilities[0] + probabilities[1] + probabilities[2]
        probabilities = Self.uniform / 100
        // The control does not include the meter: it stays three if that is likely, otherwise it becomes four.
        probabilities[((-stepsAhead % 3) + 3) % 3] = three > 0.6 ? 1 : 0.2
        probabilities[3 + ((-stepsAhead % 4) + 4) % 4] = three > 0.6 ? 0.2 : 1
        probabilities /= probabilities.sum()
    }
}
