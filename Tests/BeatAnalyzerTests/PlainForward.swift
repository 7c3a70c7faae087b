import Glibc

@testable import BeatAnalyzer

/// The forward algorithm as it is written in books: every state moved at every frame, in double precision.
struct PlainForward {
    private let space: TempoSpace
    private let keeps: [Double]
    private let starts: [Double]
    /// Of each tempo, by the frames since its beat.
    private var states: [[Double]]

    init(_ space: TempoSpace) {
        self.space = space
        let costs = space.reluctance()
        let sum = costs.reduce(0) { $0 + exp(-$1) }
        starts = costs.map { exp(-$0) / sum }
        keeps = zip(costs, space.intervals).map { exp(-$0 * Double($1) * space.frameSeconds) }
        states = zip(starts, space.intervals).map { Array(repeating: $0 / Double($1), count: $1) }
    }

    mutating func weigh(_ weight: (_ interval: Int, _ age: Double) -> Double) {
        for (tempo, interval) in space.intervals.enumerated() {
            let middle = Double(space.areas[tempo] - 1) / 2
            for age in 0..<interval { states[tempo][age] *= weight(interval, Double(age) - middle) }
        }
    }

    /// - Returns: The interval and the frames that remain, around the likeliest state.
    mutating func advance(_ evidence: Double) -> (interval: Double, remaining: Double) {
        var exits: [Double] = []
        for tempo in states.indices { exits.append(states[tempo].removeLast() * keeps[tempo]) }
        let total = exits.reduce(0, +)
        for tempo in states.indices {
            var sum = starts[tempo] * total * 1e-8
            for from in states.indices where abs(from - tempo) <= space.reach {
                sum += exits[from] * Double(space.changes[(from - tempo + space.reach) * space.laneCount + tempo])
            }
            states[tempo].insert(sum, at: 0)
            for age in 0..<space.areas[tempo] {
                states[tempo][age] *= exp(evidence * Double(space.areaWeights[age * space.laneCount + tempo]))
            }
        }
        let all = states.reduce(0) { $1.reduce($0, +) }
        for tempo in states.indices { for age in states[tempo].indices { states[tempo][age] /= all } }

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
                time += value * (Double(rest) + Double(space.areas[tempo] - 1) / 2)
                period += value * Double(length)
            }
        }
        return (period / mass, time / mass)
    }
}
