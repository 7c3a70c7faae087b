/// One named output of an analyzer, declared before there is data, as in Vamp: its name, unit, count and range, and the aggregation
/// of the hops of a batch.
public struct Feature: Sendable, Hashable {
    /// The aggregation of the values of several hops to the value of their batch.
    public enum Aggregation: Sendable, Hashable {
        /// The last hop's value.
        case latest
        /// The sum over the hops.
        case sum
        /// The largest.
        case maximum
        /// The mean over the batch's real frames: each hop weighs as much as it has of them.
        case mean
    }

    /// The conversion of the aggregated value when the batch is completed.
    public enum Scale: Sendable, Hashable {
        /// None.
        case linear
        /// 10·log₁₀, floor −120 dB: the analyzer writes power (mean square).
        case powerDecibels
        /// 20·log₁₀, floor −120 dB: the analyzer writes amplitude.
        case amplitudeDecibels
    }

    /// `snake_case`, with its unit when it has one: `rms_db`, `centroid_hz`.
    public var name: String
    /// In which its values are given; it also settles how they are written.
    public var unit: Unit
    /// Values per batch.
    public var count: Int
    /// Whether it is written as an array. A feature of one value may still be one (`channel_rms_db` of a mono file).
    public var isArray: Bool
    /// The aggregation of the hops of a batch.
    public var aggregation: Aggregation
    /// The conversion of the aggregated value.
    public var scale: Scale
    /// The smallest and largest value that can occur, where there is one.
    public var minimum: Double?
    /// The largest value that can occur, where there is one.
    public var maximum: Double?
    /// For bands: the edges in hertz (`count + 1` of them; mel triangles overlap and have `count + 2`).
    public var edges: [Double]
    /// Seconds from the batch's first frame to the centre of what the feature describes; nil: it describes the whole batch.
    public var centerOffset: Double?
    /// One sentence.
    public var summary: String

    /// A feature of one value per batch, written as a number.
    public init(
        _ name: String, _ unit: Unit, in range: ClosedRange<Double>? = nil, minimum: Double? = nil, aggregation: Aggregation = .latest,
        scale: Scale = .linear, centerOffset: Double? = nil, _ summary: String
    ) {
        self.init(
            name: name, unit: unit, count: 1, isArray: false, aggregation: aggregation, scale: scale,
            minimum: range?.lowerBound ?? minimum, maximum: range?.upperBound, edges: [], centerOffset: centerOffset,
            summary: summary)
    }

    /// A feature of `count` values per batch, written as an array.
    public init(
        _ name: String, _ unit: Unit, count: Int, in range: ClosedRange<Double>? = nil, minimum: Double? = nil,
        aggregation: Aggregation = .latest, scale: Scale = .linear, edges: [Double] = [], centerOffset: Double? = nil, _ summary: String
    ) {
        self.init(
            name: name, unit: unit, count: count, isArray: true, aggregation: aggregation, scale: scale,
            minimum: range?.lowerBound ?? minimum, maximum: range?.upperBound, edges: edges, centerOffset: centerOffset,
            summary: summary)
    }

    private init(
        name: String, unit: Unit, count: Int, isArray: Bool, aggregation: Aggregation, scale: Scale, minimum: Double?, maximum: Double?,
        edges: [Double], centerOffset: Double?, summary: String
    ) {
        self.name = name
        self.unit = unit
        self.count = count
        self.isArray = isArray
        self.aggregation = aggregation
        self.scale = scale
        self.minimum = minimum
        self.maximum = maximum
        self.edges = edges
        self.centerOffset = centerOffset
        self.summary = summary
    }
}
