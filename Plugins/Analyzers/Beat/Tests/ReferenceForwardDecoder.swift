import Glibc

@testable import BeatAnalyzer

/// The textbook forward algorithm (L. R. Rabiner, 1989): moves every state at every frame, in double precision.
struct ReferenceForwardDecoder {
    private let space: BeatStateSpace
    private let priorsPerBeat: [Double]
    private let initial: [Double]
    /// State probabilities by tempo and age.
    private var states: [[Double]]
    /// As ``ForwardDecoder/evidence``, without its limit.
    private(set) var evidence = 0.0

    init(_ space: BeatStateSpace) {
        self.space = space
        let costs = space.tempoPrior()
        let sum = costs.reduce(0) { $0 + exp(-$1) }
        initial = costs.map { exp(-$0) / sum }
        priorsPerBeat = zip(costs, space.intervals).map { exp(-$0 * Double($1) * space.frameSeconds) }
        states = zip(initial, space.intervals).map { Array(repeating: $0 / Double($1), count: $1) }
    }

    mutating func multiply(by weight: (_ interval: Int, _ age: Double) -> Double) {
        for (tempo, interval) in space.intervals.enumerated() {
            let middle = Double(space.observationFrames[tempo] - 1) / 2
            for age in 0..<interval { states[tempo][age] *= weight(interval, Double(age) - middle) }
        }
    }

    /// - Returns: The beat interval and the frames to the next beat, averaged around the most likely state, and the probability of the
    ///   averaged states.
    mutating func advance(_ likelihoodRatio: Double) -> (interval: Double, remaining: Double, probability: Double) {
        var ending: [Double] = []
        for tempo in states.indices { ending.append(states[tempo].removeLast() * priorsPerBeat[tempo]) }
        let total = ending.reduce(0, +)
        var (before, after) = (0.0, 0.0)
        for tempo in states.indices {
            var sum = initial[tempo] * total * Double(BeatStateSpace.newTempoProbability)
            for from in states.indices where abs(from - tempo) <= space.transitionReach {
                sum += ending[from] * Double(space.transitions[(from - tempo + space.transitionReach) * space.laneCount + tempo])
            }
            states[tempo].insert(sum, at: 0)
            before += states[tempo].reduce(0, +)
            for age in 0..<space.observationFrames[tempo] {
                states[tempo][age] *= likelihoodRatio
            }
            after += states[tempo].reduce(0, +)
        }
        evidence = log(after / before) - log(1 + (likelihoodRatio - 1) / 16)
        for tempo in states.indices { for age in states[tempo].indices { states[tempo][age] /= after } }

        let peaks = states.map { $0.max() ?? 0 }
        let best = peaks.firstIndex(of: peaks.max() ?? 0) ?? 0
        let interval = space.intervals[best]
        let remaining = interval - (states[best].firstIndex(of: peaks[best]) ?? 0)
        let window = Int(0.08 * Double(interval)) + 1
        var (mass, time, period) = (0.0, 0.0, 0.0)
        for (tempo, length) in space.intervals.enumerated() where abs(Double(length - interval)) <= 0.06 * Double(interval) {
            for rest in max(1, remaining - window)...max(1, min(length, remaining + window)) {
                let value = states[tempo][length - rest]
                mass += value
                time += value * (Double(rest) + Double(space.observationFrames[tempo] - 1) / 2)
                period += value * Double(length)
            }
        }
        return (period / mass, time / mass, mass)
    }
}
