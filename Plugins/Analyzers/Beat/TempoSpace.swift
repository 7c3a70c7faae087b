#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The tempi that are weighed against each other, and how one leads to another: the state space of F. Krebs, S. Böck and
/// G. Widmer (ISMIR 2015). A state is a tempo, as the frames from beat to beat, and the frames since the last beat.
///
/// Tempi stand eight to a block, as the lanes of a vector.
struct TempoSpace: Sendable {
    /// Up to this, every whole number of frames is a tempo of its own; above, they are one part in so many apart.
    private static let finestCount = 75.0
    /// How much a change of tempo costs, in nats for a doubling of the interval.
    private static let changeCost = 90.0
    /// Below so many frames to a beat so many frames more or less cost nothing.
    private static let turnLimit = 33.0
    private static let turnSlack = 0.6
    /// Changes that are less likely than this do not happen but by a leap.
    private static let leastChange = 1e-6
    /// The part of a beat within which its onset may fall.
    private static let areaShare = 16.0
    /// The longest such part, in seconds.
    private static let longestArea = 0.06
    /// Where people tap, and how far around it, in octaves, nothing is preferred.
    private static let center = 108.0
    private static let freedom = 0.45
    /// Nats a second and octave beyond.
    private static let slowCost = 3.0
    private static let fastCost = 7.0

    /// Beats per minute, from the slowest to the fastest.
    let tempi: ClosedRange<Double>
    /// Seconds per frame.
    let frameSeconds: Double
    /// Frames from beat to beat, rising.
    let intervals: [Int]
    /// Of each tempo, the frames in which the onset of its beat may fall. The beat is in their middle.
    let areas: [Int]
    /// How much of a beat's evidence counts, by its age in frames and tempo: `longestArea` rows of `laneCount`.
    let areaWeights: [Float]
    let longestArea: Int
    let laneCount: Int
    /// How far a tempo can change from beat to beat, in places of the table: at most, and into each block.
    let reach: Int
    let reaches: [Int]
    /// From the tempo `d` places up to this one: row `d + reach`, as probabilities.
    let changes: [Float]

    var count: Int { intervals.count }
    var blockCount: Int { laneCount / 8 }

    /// - Parameter tempi: Beats per minute, from the slowest to the fastest.
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
        let widest = Int((Self.longestArea / frameSeconds).rounded())
        areas = intervals.map { min(widest, Int((Double($0) / Self.areaShare).rounded(.up))) }
        let longestArea = areas.max() ?? 1
        var weights = [Float](repeating: 0, count: longestArea * lanes)
        for (tempo, area) in areas.enumerated() {
            for age in 0..<area {
                let x = (Double(age) - Double(area - 1) / 2) / (Double(area) / 2)
                let arch = cos(x * Double.pi / 2)
                weights[age * lanes + tempo] = Float(0.5 + 0.5 * arch * arch)
            }
        }
        areaWeights = weights
        self.longestArea = longestArea
        self.intervals = intervals
        laneCount = lanes
        (reaches, changes) = Self.changes(intervals, lanes: lanes)
        reach = reaches.max() ?? 0
    }

    private static func changes(_ intervals: [Int], lanes: Int) -> (reaches: [Int], [Float]) {
        let table = intervals.map { from in
            // A fast tempo is seldom a whole number of frames: it takes turns between two, which is no change.
            let slack = turnSlack * min(1, max(0, (turnLimit - Double(from)) / 4))
            let row = intervals.map { exp(-changeCost * max(0, abs(Double($0 - from)) - slack) / Double(from)) }
                .map { $0 < leastChange ? 0 : $0 }
            let sum = row.reduce(0, +)
            return row.map { $0 / sum }
        }
        var reaches = [Int](repeating: 0, count: lanes / 8)
        for (from, row) in table.enumerated() {
            for (to, value) in row.enumerated() where value > 0 { reaches[to / 8] = max(reaches[to / 8], abs(to - from)) }
        }
        let reach = reaches.max() ?? 0
        var changes = [Float](repeating: 0, count: (2 * reach + 1) * lanes)
        for (from, row) in table.enumerated() {
            for (to, value) in row.enumerated() where value > 0 {
                changes[(from - to + reach) * lanes + to] = Float(value)
            }
        }
        return (reaches, changes)
    }

    /// Beats per minute of a tempo.
    func beatsPerMinute(_ tempo: Int) -> Double { 60 / (Double(intervals[tempo]) * frameSeconds) }

    /// How much less likely each tempo is by itself, in nats a second; 0 around where people tap.
    ///
    /// - Parameter choice: Beats per minute that the user has chosen: then it is around that.
    func reluctance(around choice: Double? = nil) -> [Double] {
        (0..<count).map { tempo in
            let octaves = log2(beatsPerMinute(tempo) / (choice ?? Self.center))
            if choice != nil { return 3 * Self.fastCost * max(0, abs(octaves) - 0.4) }
            let cost = octaves < 0 ? Self.slowCost : Self.fastCost
            return cost * max(0, abs(octaves) - Self.freedom)
        }
    }

    /// The same, where the user keeps the music to one tempo.
    func reluctance(locked tempo: Double) -> [Double] {
        // The nearest of the table are allowed: they lie up to 1.5 % apart.
        intervals.map { abs(60 / tempo / frameSeconds / Double($0) - 1) < 0.02 ? 0 : 200 }
    }
}
