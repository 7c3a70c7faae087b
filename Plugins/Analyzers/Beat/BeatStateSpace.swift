internal import Glibc

/// The state space of the bar pointer model (F. Krebs, S. Böck and G. Widmer, "An Efficient State-Space Model for Joint Tempo and
/// Meter Tracking", ISMIR 2015). A state is a tempo, given as the beat interval in frames, and an age: the frames since the last
/// beat. The settings are those of madmom.
///
/// Tables are stored for blocks of eight tempi, so that a block is one vector.
struct BeatStateSpace: Sendable {
    /// Up to this interval, in frames, each whole number of frames is a tempo. Longer intervals are a factor of 1 + 1/75 apart.
    private static let finestCount = 75.0
    /// Cost of a tempo transition, in nats per relative change of the interval (transition lambda of the paper).
    private static let transitionLambda = 100.0
    /// Below this interval, in frames, a small change is free: a fast tempo is rarely a whole number of frames, so the decoder
    /// alternates between two intervals.
    private static let roundingLimit = 33.0
    /// The free change, in frames.
    private static let roundingTolerance = 0.6
    /// Transitions less likely than this are left out of the table.
    private static let minimumProbability = 1e-6
    /// The first 1/16 of the beat interval are beat states (observation lambda of the paper).
    static let observationLambda: Float = 16
    /// Tempi in this range, in BPM, are equally likely. Outside it, an octave costs `tempoSlope` nats per second.
    private static let usualTempi = 55.0...215.0
    private static let tempoSlope = 5.0
    /// The cost of a tempo that the user has excluded, in nats per second.
    private static let excluded = 200.0
    /// Probability per beat of a transition to any tempo, distributed as the tempo prior: another piece of music begins.
    static let newTempoProbability: Float = 1e-12
    /// Activations are limited to this distance from 0 and 1: no frame is certain.
    private static let leastActivation: Float = 1e-3

    /// The tempo range, in BPM.
    let tempi: ClosedRange<Double>
    /// Seconds per frame.
    let frameSeconds: Double
    /// The beat interval of each tempo in frames, in ascending order.
    let intervals: [Int]
    /// The number of beat states of each tempo, in frames. The beat time is their middle.
    let observationFrames: [Int]
    /// The number of tempi, rounded up to a multiple of eight.
    let laneCount: Int
    /// The largest tempo transition, in tempo indices: of all tempi, and into each block.
    let transitionReach: Int
    let blockReaches: [Int]
    /// Transition probabilities: row `d + transitionReach` holds those from tempo `index + d` to tempo `index`.
    let transitions: [Float]

    var count: Int { intervals.count }
    var blockCount: Int { laneCount / 8 }

    /// - Parameter tempi: The tempo range, in BPM.
    init(frameSeconds: Double, tempi: ClosedRange<Double>) {
        self.frameSeconds = frameSeconds
        self.tempi = tempi
        let shortest = max(4, Int((60 / tempi.upperBound / frameSeconds - 1e-9).rounded(.up)))
        let longest = max(shortest, Int((60 / tempi.lowerBound / frameSeconds + 1e-9).rounded(.down)))
        var intervals = [shortest]
        while let last = intervals.last, last < longest {
            intervals.append(min(longest, max(last + 1, Int((Double(last) * (1 + 1 / Self.finestCount)).rounded()))))
        }
        observationFrames = intervals.map { Int((Double($0) / Double(Self.observationLambda)).rounded(.up)) }
        self.intervals = intervals
        laneCount = (intervals.count + 7) & ~7
        (blockReaches, transitions) = Self.transitions(intervals, lanes: laneCount)
        transitionReach = blockReaches.max() ?? 0
    }

    private static func transitions(_ intervals: [Int], lanes: Int) -> (blockReaches: [Int], [Float]) {
        let table = intervals.map { from in
            let tolerance = roundingTolerance * min(1, max(0, (roundingLimit - Double(from)) / 4))
            let row = intervals.map { exp(-transitionLambda * max(0, abs(Double($0 - from)) - tolerance) / Double(from)) }
                .map { $0 < minimumProbability ? 0 : $0 }
            let sum = row.reduce(0, +)
            return row.map { $0 / sum }
        }
        var reaches = [Int](repeating: 0, count: lanes / 8)
        for (from, row) in table.enumerated() {
            for (to, value) in row.enumerated() where value > 0 { reaches[to / 8] = max(reaches[to / 8], abs(to - from)) }
        }
        let reach = reaches.max() ?? 0
        var transitions = [Float](repeating: 0, count: (2 * reach + 1) * lanes)
        for (from, row) in table.enumerated() {
            for (to, value) in row.enumerated() where value > 0 {
                transitions[(from - to + reach) * lanes + to] = Float(value)
            }
        }
        return (reaches, transitions)
    }

    /// The likelihood ratio of an activation, "beat state" against "other state": b to (1 − b) / 15.
    static func likelihoodRatio(_ activation: Float) -> Float {
        let beat = min(max(activation, leastActivation), 1 - leastActivation)
        return beat * (observationLambda - 1) / (1 - beat)
    }

    /// The tempo at an index, in BPM.
    func beatsPerMinute(_ tempo: Int) -> Double { 60 / (Double(intervals[tempo]) * frameSeconds) }

    /// The tempo prior: the negative log probability of each tempo, in nats per second; 0 for usual tempi.
    ///
    /// - Parameters:
    ///   - choice: A tempo chosen by the user, in BPM. If it is set, tempi within a third of an octave cost nothing, and others
    ///   more than without it.
    ///   - range: The tempi to which the user limits the estimate, in BPM; nil: all.
    func tempoPrior(around choice: Double? = nil, in range: ClosedRange<Double>? = nil) -> [Double] {
        (0..<count).map { tempo in
            // A tempo between two intervals alternates between them.
            if let range,
                Double(intervals[tempo]) <= 60 / range.upperBound / frameSeconds - 1
                    || Double(intervals[tempo]) >= 60 / range.lowerBound / frameSeconds + 1
            {
                return Self.excluded
            }
            let bpm = beatsPerMinute(tempo)
            if let choice { return 8 * Self.tempoSlope * max(0, abs(log2(bpm / choice)) - 1 / 3) }
            let nearest = min(max(bpm, Self.usualTempi.lowerBound), Self.usualTempi.upperBound)
            return Self.tempoSlope * abs(log2(bpm / nearest))
        }
    }

    /// The tempo prior of a tempo locked by the user, in nats per second.
    func tempoPrior(locked tempo: Double) -> [Double] {
        // Tempi are up to 1.5 % apart, so all tempi within 2 % are allowed.
        intervals.map { abs(60 / tempo / frameSeconds / Double($0) - 1) < 0.02 ? 0 : Self.excluded }
    }
}
