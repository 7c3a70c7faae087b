internal import Glibc

/// The probability that a beat of a whole file is within 70 ms of where listeners tap.
///
/// Most wrong beats are at the wrong level, and stay there. The network gives that away: it marks the beats of a wrong level less, or every
/// second one of them less than the others. A logistic regression of both, fitted on rendered music that was left out of the training.
enum BeatCertainty {
    /// Beats before and after the beat that count.
    private static let reach = 4
    private static let weights = (constant: 0.72, strength: 0.78, alternation: -0.29)

    /// - Parameter strengths: The network's beat probability at each beat.
    static func certainties(_ strengths: [Double]) -> [Double] {
        strengths.indices.map { index in
            let near = Array(strengths[max(0, index - reach)..<min(strengths.count, index + reach + 1)])
            let alternation = abs(mean(near, from: 0) - mean(near, from: 1))
            let sum = weights.constant + weights.strength * logit(near.reduce(0, +) / Double(near.count))
            return 1 / (1 + exp(-sum - weights.alternation * logit(alternation)))
        }
    }

    /// The mean of every second value; 0 if there is none.
    private static func mean(_ values: [Double], from first: Int) -> Double {
        let chosen = stride(from: first, to: values.count, by: 2).map { values[$0] }
        return chosen.isEmpty ? 0 : chosen.reduce(0, +) / Double(chosen.count)
    }

    private static func logit(_ probability: Double) -> Double {
        let limited = min(max(probability, 0.01), 0.99)
        return log(limited / (1 - limited))
    }
}
