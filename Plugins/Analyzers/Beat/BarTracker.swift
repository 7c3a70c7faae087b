#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Finds the bar among the beats: of three or four, and which of them is the first.
///
/// A bar begins, as a rule, with more bass and with another harmony than before. The forward algorithm weighs the places of
/// three and four, beat by beat.
struct BarTracker: Sendable {
    // Read backwards, the third of four is the third still, and the others of a bar are alike: the same weights serve.

    /// How often, per beat, the metre changes or a beat is lost.
    private static let slip = 0.004
    /// How much a place has to be believed before it is told.
    private static let certainty = 0.36
    private static let places = 7
    private static let ignorance = SIMD8<Double>(1, 1, 1, 1, 1, 1, 1, 0) / 7
    /// What is likely before the first beat: that a bar is over, and that bars have four beats.
    private static let expectation = SIMD8<Double>(0.05, 0.05, 0.10, 0.12, 0.12, 0.12, 0.44, 0)
    /// The places of bars of three, then of four.
    private static let bars = (0..<3, 3..<7)
    /// Nats for each standard deviation of the accent.
    private static let weight = 0.7

    /// Of bars of three, then of four.
    private var belief = Self.expectation
    /// The bass of the last frames.
    private var recent = SIMD16<Float>.zero
    private var frame = 0
    private var mean = 0.0
    private var square = 0.0
    private var count = 0.0

    /// Takes in a frame.
    mutating func hear(_ change: SpectralChange) {
        recent[frame & 15] = change.bassRise
        frame += 1
    }

    /// A beat has passed, `steps` after the one before. What sounded with it is among the last frames.
    mutating func settle(steps: Int) {
        for _ in 0..<min(steps, 12) { step() }
        weigh(accent: Double(recent.max()))
    }

    private mutating func weigh(accent: Double) {
        let rate = max(1 / 32, 1 / (count + 1))
        mean += (accent - mean) * rate
        square += (accent * accent - square) * rate
        count += 1
        // Beats that are all alike say nothing.
        let deviation = max(0.1 * mean + 1e-4, max(0, square - mean * mean).squareRoot())
        guard count > 4 else { return }
        hear(accent: max(-2, min(2, (accent - mean) / deviation)))
    }

    private mutating func step() {
        let old = belief
        for bar in 0..<2 {
            let bar = bar == 0 ? Self.bars.0 : Self.bars.1
            for place in bar {
                let before = place == bar.lowerBound ? bar.upperBound - 1 : place - 1
                belief[place] = old[before] * (1 - Self.slip) + Self.slip / Double(Self.places)
            }
        }
    }

    private mutating func hear(accent: Double) {
        for place in 0..<Self.places {
            // Of four, the third beat is half a first one.
            let share = place == 0 || place == 3 ? 1 : place == 5 ? 0.1 : -0.4
            belief[place] *= exp(Self.weight * accent * share)
        }
        belief /= belief.sum()
    }

    /// The places of all beats of a piece, the later ones weighing on the earlier ones: forward, backward.
    ///
    /// - Parameter accents: Of each beat, how much bass came with it.
    static func places(_ accents: [Double]) -> [(position: Int, meter: Int)?] {
        func pass(_ accents: [Double]) -> [BarTracker] {
            var bar = BarTracker()
            // What an ordinary beat is like is known from the start.
            bar.learn(accents)
            return accents.map { accent in
                bar.step()
                bar.weigh(accent: accent)
                return bar
            }
        }
        let forward = pass(accents)
        // Backwards a place is followed by the one before it: bars are read from their end.
        let backward = pass(accents.reversed()).reversed() as [BarTracker]
        return accents.indices.map { index in
            var bar = forward[index]
            if index + 1 < accents.count {
                let later = backward[index + 1].belief
                for place in 0..<places {
                    let range = place < 3 ? bars.0 : bars.1
                    // The beat after this one, and the same place read backwards: the first stays the first.
                    let next = range.lowerBound + (place - range.lowerBound + 1) % range.count
                    let mirrored = range.lowerBound + (range.count - (next - range.lowerBound)) % range.count
                    bar.belief[place] *= later[mirrored]
                }
                bar.belief /= bar.belief.sum()
            }
            return bar.place(stepsAhead: 0)
        }
    }

    private mutating func learn(_ accents: [Double]) {
        guard !accents.isEmpty else { return }
        mean = accents.reduce(0, +) / Double(accents.count)
        square = accents.reduce(0) { $0 + $1 * $1 } / Double(accents.count)
        count = 32
    }

    /// The place in the bar of the beat `stepsAhead` of the last one that has passed; nil when unknown.
    func place(stepsAhead: Int) -> (position: Int, meter: Int)? {
        var best = 0
        for place in 1..<Self.places where belief[place] > belief[best] { best = place }
        guard belief[best] > Self.certainty else { return nil }
        let bar = best < 3 ? Self.bars.0 : Self.bars.1
        let position = (best - bar.lowerBound + stepsAhead) % bar.count
        return ((position + bar.count) % bar.count + 1, bar.count)
    }

    /// The user says that the beat `stepsAhead` of the last one that has passed is a first one.
    mutating func setDownbeat(stepsAhead: Int) {
        let three = belief[0] + belief[1] + belief[2]
        belief = Self.ignorance / 100
        // Which metre is not said; when in doubt it is four.
        belief[((-stepsAhead % 3) + 3) % 3] = three > 0.6 ? 1 : 0.2
        belief[3 + ((-stepsAhead % 4) + 4) % 4] = three > 0.6 ? 0.2 : 1
        belief /= belief.sum()
    }
}
