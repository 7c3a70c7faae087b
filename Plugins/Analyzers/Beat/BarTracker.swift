internal import Glibc

/// Downbeat tracking: the meter (3 or 4) and the position of each beat in its bar.
///
/// The HMM forward algorithm over seven states, the positions of a bar of three and of a bar of four, with one step per beat. The
/// observation is the network's downbeat probability relative to its beat probability.
struct BarTracker: Sendable {
    /// Probability per beat that the meter changes or that a beat was missed or inserted.
    private static let resetProbability = 0.004
    /// The observation is limited to this distance from 0 and 1: no beat is certain.
    private static let leastShare = 0.02
    /// Minimum probability of the most likely position, about twice that of seven equal ones. Below it the position is unknown.
    private static let minimumProbability = 0.3
    /// Beats before the first position, two bars of four. In rendered music, 40 % of the positions of the first eight beats would be right,
    /// and 50 % of those of the next eight.
    private static let leastBeats = 8
    /// In whole files: the part by which the network's probabilities count, and what a change of the chord says for a downbeat, in nats.
    private static let shareWeight = 0.2
    private static let changeEvidence = 1.0
    private static let stateCount = 7
    private static let uniform = SIMD8<Double>(1, 1, 1, 1, 1, 1, 1, 0) / 7
    /// The states of bars of three, and of bars of four.
    private static let bars = (0..<3, 3..<7)

    /// The state probabilities.
    private var probabilities = Self.uniform
    /// The number of beats so far; enough after a downbeat of the user.
    private var beatCount = 0

    /// Processes a beat, `steps` beats after the previous one.
    ///
    /// - Parameter share: The largest downbeat probability near the beat, divided by the largest beat probability.
    mutating func advance(steps: Int, share: Double) {
        beatCount += 1
        for _ in 0..<min(steps, 12) { predict() }
        let share = min(max(share, Self.leastShare), 1 - Self.leastShare)
        observe(first: share, other: 1 - share)
    }

    /// Multiplies the probability of the first position and that of the others.
    private mutating func observe(first: Double, other: Double) {
        for state in 0..<Self.stateCount { probabilities[state] *= state == 0 || state == 3 ? first : other }
        probabilities /= probabilities.sum()
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

    /// Makes every position equally probable.
    mutating func forget() {
        probabilities = Self.uniform
    }

    /// The positions of all beats of a recording by the forward-backward algorithm; of two bars or less they are unknown.
    ///
    /// Errors of the network repeat from bar to bar, so that its probabilities are not independent: they count by a part. The backward pass uses the same model: in reversed order the downbeat keeps its index, and the other positions are alike.
    ///
    /// - Parameters:
    ///   - shares: As in ``advance(steps:share:)``.
    ///   - chordChanges: Whether the chord changes at each beat.
    static func positions(_ shares: [Double], chordChanges: [Bool]) -> [(position: Int, meter: Int)?] {
        guard shares.count > leastBeats else { return shares.map { _ in nil } }
        let observations = zip(shares, chordChanges).map { share, isChange in
            let share = min(max(share, leastShare), 1 - leastShare)
            return (first: pow(share, shareWeight) * (isChange ? exp(changeEvidence) : 1), other: pow(1 - share, shareWeight))
        }
        func pass(_ observations: [(first: Double, other: Double)]) -> [BarTracker] {
            var bar = BarTracker()
            return observations.map { observation in
                bar.predict()
                bar.observe(first: observation.first, other: observation.other)
                return bar
            }
        }
        let forward = pass(observations)
        let backward = pass(observations.reversed()).reversed() as [BarTracker]
        return shares.indices.map { index in
            var bar = forward[index]
            if index + 1 < shares.count {
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
            return bar.mostLikely(stepsAhead: 0)
        }
    }

    /// The position of the beat `stepsAhead` beats after the last processed one; nil if unknown.
    func position(stepsAhead: Int) -> (position: Int, meter: Int)? {
        beatCount < Self.leastBeats ? nil : mostLikely(stepsAhead: stepsAhead)
    }

    private func mostLikely(stepsAhead: Int) -> (position: Int, meter: Int)? {
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
        beatCount = Self.leastBeats
        probabilities = Self.uniform / 100
        // The control does not include the meter: it stays three if that is likely, otherwise it becomes four.
        probabilities[((-stepsAhead % 3) + 3) % 3] = three > 0.6 ? 1 : 0.2
        probabilities[3 + ((-stepsAhead % 4) + 4) % 4] = three > 0.6 ? 0.2 : 1
        probabilities /= probabilities.sum()
    }
}
