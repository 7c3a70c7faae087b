internal import Glibc
internal import Hemiola

/// The tempi in competition over a stream: how much of the probability each had on average.
///
/// The tempo of the beats is one decision; whoever reads the summary of a song learns here that half or double of it was nearly as probable.
struct SecondTempo: Sendable {
    /// A tempo is told in the summary with more than this share of the probability.
    static let least = 0.2
    private static let (binsPerOctave, slowest) = (16.0, 20.0)
    /// In bins: a fourth part. Closer tempi are one that varies; another way to count the beats is at least 4 : 3.
    private static let tolerance = 5.0
    /// The sums of the probabilities, by tempo in bins of equal ratio.
    private var weights = InlineArray<72, Double>(repeating: 0)
    /// The sums of weight times place, in bins.
    private var places = InlineArray<72, Double>(repeating: 0)
    private var total = 0.0

    /// Adds the tempi of a moment. Cost: three logarithms.
    mutating func add(_ hypotheses: TempoHypotheses) {
        for rank in 0..<TempoHypotheses.count where hypotheses.intervals[rank] > 0 {
            let tempo = 60 / (Double(hypotheses.intervals[rank]) * BandFilter.hopSeconds)
            let (place, weight) = (Self.place(tempo), Double(hypotheses.weights[rank]))
            let bin = min(max(Int(place.rounded()), 0), weights.count - 1)
            weights[bin] += weight
            places[bin] += weight * place
            total += weight
        }
    }

    /// The most probable tempo beside another one, and its share; nil where none has more than ``least``.
    func other(than tempo: Double) -> (beatsPerMinute: Double, share: Double)? {
        guard total > 0 else { return nil }
        let main = Self.place(tempo)
        var best = (weight: 0.0, place: 0.0)
        for middle in 0..<weights.count where abs(Double(middle) - main) > Self.tolerance {
            var (weight, place) = (0.0, 0.0)
            for bin in max(0, middle - 1)...min(weights.count - 1, middle + 1) where abs(Double(bin) - main) > Self.tolerance {
                weight += weights[bin]
                place += places[bin]
            }
            if weight > best.weight { best = (weight, place) }
        }
        guard best.weight > Self.least * total else { return nil }
        return (Self.slowest * exp2(best.place / best.weight / Self.binsPerOctave), best.weight / total)
    }

    private static func place(_ tempo: Double) -> Double { binsPerOctave * log2(tempo / slowest) }
}
