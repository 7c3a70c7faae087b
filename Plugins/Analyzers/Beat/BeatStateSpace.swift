#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The state space of the bar pointer model (F. Krebs, S. Böck and G. Widmer, "An Efficient State-Space Model for Joint Tempo and
/// Meter Tracking", ISMIR 2015). A state is a tempo, given as the beat interval in frames, and an age: the frames since the last
/// beat.
///
/// Tables are stored for blocks of eight tempi, so that a block is one vector.
struct BeatStateSpace: Sendable {
    /// Up to this interval, in frames, each whole number of frames is a tempo. Longer intervals are a factor of 1 + 1/75 apart.
    private static let finestCount = 75.0
    /// Cost of a tempo transition, in nats per relative change of the interval (transition lambda of the paper).
    private static let transitionLambda = 90.0
    /// Below this interval, in frames, a small change is free: a fast tempo is rarely a whole number of frames, so the decoder
    /// alternates between two intervals.
    private static let roundingLimit = 33.0
    /// The free change, in frames.
    private static let roundingTolerance = 0.6
    /// Transitions less likely than this are left out of the table.
    private static let minimumProbability = 1e-6
    /// The first 1/16 of the beat interval are beat states: their observations are compared with beats (observation lambda).
    private static let observationLambda = 16.0
    /// Upper limit of the duration of the beat states, in seconds.
    private static let maximumObservationSeconds = 0.06
    /// Centre of the tempo prior in BPM, and the half-width of its flat part in octaves: the range of preferred tapping tempi.
    private static let preferredTempo = 108.0
    private static let flatOctaves = 0.45
    /// Slopes of the tempo prior outside the flat part, in nats per second and octave.
    private static let slowSlope = 3.0
    private static let fastSlope = 7.0

    /// The tempo range, in BPM.
    let tempi: ClosedRange<Double>
    /// Seconds per frame.
    let frameSeconds: Double
    /// The beat interval of each tempo in frames, in ascending order.
    let intervals: [Int]
    /// The number of beat states of each tempo, in frames. The beat time is their middle.
    let observationFrames: [Int]
    /// Weight of the observation by age and tempo: `maximumObservationFrames` rows of `laneCount` values, a raised cosine each.
    let observationWeights: [Float]
    let maximumObservationFrames: Int
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
        let lanes = (intervals.count + 7) & ~7
        let widest = Int((Self.maximumObservationSeconds / frameSeconds).rounded())
        observationFrames = intervals.map { min(widest, Int((Double($0) / Self.observationLambda).rounded(.up))) }
        let maximumObservationFrames = observationFrames.max() ?? 1
        var weights = [Float](repeating: 0, count: maximumObservationFrames * lanes)
        for (tempo, width) in observationFrames.enumerated() {
            for age in 0..<width {
                let x = (Double(age) - Double(width - 1) / 2) / (Double(width) / 2)
                let arch = cos(x * Double.pi / 2)
                weights[age * lanes + tempo] = Float(0.5 + 0.5 * arch * arch)
            }
        }
        observationWeights = weights
        self.maximumObservationFrames = maximumObservationFrames
        self.intervals = intervals
        laneCount = lanes
        (blockReaches, transitions) = Self.transitions(intervals, lanes: lanes)
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

    /// The tempo at an index, in BPM.
    func beatsPerMinute(_ tempo: Int) -> Double { 60 / (Double(intervals[tempo]) * frameSeconds) }

    /// The tempo prior: the negative log probability of each tempo, in nats per second; 0 around the preferred tempo.
    ///
    /// - Parameter choice: A tempo chosen by the user, in BPM. If it is set, the prior is centred on it and steeper.
    func tempoPrior(around choice: Double? = nil) -> [Double] {
        (0..<count).map { tempo in
            let octaves = log2(beatsPerMinute(tempo) / (choice ?? Self.preferredTempo))
            if choice != nil { return 3 * Self.fastSlope * max(0, abs(octaves) - 0.4) }
            let slope = octaves < 0 ? Self.slowSlope : Self.fastSlope
            return slope * max(0, abs(octaves) - Self.flatOctaves)
        }
    }

    /// The tempo prior of a tempo locked by the user, in nats per second.
    func tempoPrior(locked tempo: Double) -> [Double] {
        // Tempi are up to 1.5 % apart, so all tempi within 2 % are allowed.
        intervals.map { abs(60 / tempo / frameSeconds / Double($0) - 1) < 0.02 ? 0 : 200 }
    }
}
