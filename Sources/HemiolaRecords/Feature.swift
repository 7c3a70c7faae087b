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
    /// For a value that is a category, such as a pitch class: the text of each number from 0 on; empty: the value is a quantity.
    ///
    /// Rows hold the number. Records and tables have the text under ``name``, and the number under ``numberName`` beside it.
    public var labels: [String] = []
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

    /// A category: each value is the number of one of `labels`, and NaN where there is none.
    public init(_ name: String, labels: [String], _ summary: String) {
        self.init(name, .none, in: 0...Double(max(labels.count, 1) - 1), summary)
        self.labels = labels
    }

    /// Whether its values are the numbers of labels: no quantity, so that means and quantiles say nothing.
    public var isCategory: Bool { !labels.isEmpty }

    /// The key of a category's number in records: `tonic_number` beside `tonic`.
    public var numberName: String { Self.numberName(of: name) }

    /// The key of its numbers in records: that of a category's number.
    public var numberKey: String { isCategory ? numberName : name }

    /// Its keys in the record of a batch.
    var recordKeys: [String] { isCategory ? [name, numberName] : [name] }

    static func numberName(of category: String) -> String { category + "_number" }

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
