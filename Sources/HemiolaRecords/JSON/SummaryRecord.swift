internal import HemiolaSignal
internal import HemiolaSystem

/// The record of a whole stream: one line, or one row of a table, per song.
///
/// It is not part of the stream's records: the sink `summary` writes it instead of them.
public struct SummaryRecord: Sendable {
    /// The statistics of one feature over all batches of a stream.
    ///
    /// Values that are null (NaN or infinite) are left out and counted. A feature of a single value has lists of one element.
    public struct Statistics: Sendable, Hashable {
        /// The analyzer's name in the pipeline.
        public var analyzer: String
        /// The feature.
        public var feature: Feature
        /// The mean of each element; NaN when all of its values are null.
        public var means: [Double]
        /// The standard deviation of each element: the square root of the mean squared distance from the mean.
        public var deviations: [Double]
        /// For each of ``SummaryRecord/quantiles``, the quantile of each element; empty for a feature of more than
        /// ``SummaryRecord/maximumQuantileCount`` elements.
        public var quantiles: [[Double]]
        /// Values that were null, of all elements together.
        public var nulls: Int64

        /// The statistics of a feature.
        public init(analyzer: String, feature: Feature, means: [Double], deviations: [Double], quantiles: [[Double]], nulls: Int64) {
            self.analyzer = analyzer
            self.feature = feature
            self.means = means
            self.deviations = deviations
            self.quantiles = quantiles
            self.nulls = nulls
        }
    }

    /// The beats of a stream.
    public struct Rhythm: Sendable, Hashable {
        /// The median tempo of the beats; nil without a beat.
        public var beatsPerMinute: Double?
        /// The number of beats.
        public var beatCount: Int64
        /// The number of downbeats.
        public var barCount: Int64
        /// The time of the first beat, in seconds; nil without a beat.
        public var firstBeat: Double?

        /// The beats of a stream.
        public init(beatsPerMinute: Double?, beatCount: Int64, barCount: Int64, firstBeat: Double?) {
            self.beatsPerMinute = beatsPerMinute
            self.beatCount = beatCount
            self.barCount = barCount
            self.firstBeat = firstBeat
        }
    }

    /// The value of the key `type`.
    public static let type = "summary"
    /// The quantiles of a feature: the key of each, and its share of the values.
    public static let quantiles: [(name: String, share: Double)] = [("p10", 0.1), ("p50", 0.5), ("p90", 0.9)]
    /// The largest count of a feature that has quantiles; larger ones, such as spectral magnitudes, have mean and deviation only.
    public static let maximumQuantileCount = 128

    /// The stream's header.
    public var header: StreamHeader
    /// The stream's end.
    public var end: StreamSummary
    /// Frames that were lost, of those of the stream.
    public var lostFrames: Int64
    /// The beats; nil when no analyzer of the pipeline detects beats.
    public var rhythm: Rhythm?
    /// The statistics of the features that are written, in the order of the row.
    public var statistics: [Statistics]
    /// Hemiola's version.
    public var version: String

    /// The record of a stream.
    public init(
        header: StreamHeader, end: StreamSummary, lostFrames: Int64, rhythm: Rhythm?, statistics: [Statistics], version: String
    ) {
        self.header = header
        self.end = end
        self.lostFrames = lostFrames
        self.rhythm = rhythm
        self.statistics = statistics
        self.version = version
    }

    /// Whether a selection contains a feature's statistics: when it contains batches with that feature.
    public static func writes(_ feature: Feature, of analyzer: String, _ selection: Selection) -> Bool {
        selection.contains("batch") && selection.contains(analyzer, feature.name)
    }
}

// MARK: - Writing

private typealias Member = JSONValue.Member

extension SummaryRecord {
    /// Writes the record as a line of JSON.
    ///
    /// - Complexity: O(bytes written).
    public func encode(into buffer: inout JSONBuffer) {
        buffer.append(.object([Member("type", .text(Self.type))] + members))
        buffer.append("\n")
    }

    /// The names of the table's columns: the paths of the values in the JSON record, as in `features.levels.rms_db.p50`.
    public var columns: [String] {
        var columns: [String] = []
        forEachField { path, _ in columns.append(path) }
        return columns
    }

    /// Writes the record as a row of a table, with a line break. A value that is null is an empty field.
    ///
    /// - Parameters:
    ///   - columns: The names of the table's columns. A column that the record does not have is empty.
    ///   - buffer: Receives the row.
    public func encode(columns: [String], into buffer: inout JSONBuffer) {
        var fields: [String: JSONValue] = [:]
        forEachField { path, value in fields[path] = value }
        for (index, column) in columns.enumerated() {
            if index > 0 { buffer.append(",") }
            if let field = fields[column] { buffer.append(field: field) }
        }
        buffer.append("\n")
    }

    private func forEachField(_ body: (_ path: String, _ value: JSONValue) -> Void) {
        for member in members { member.value.forEachLeaf(at: member.key, body) }
    }

    private var members: [Member] {
        var members = [Member("file", .text(header.file ?? header.source.name))]
        if let bytes = header.file == nil ? header.source.nameBytes : header.fileBytes {
            members.append(Member("file_base64", .text(bytes.base64)))
        }
        return members + [
            Member("schema", .integer(StreamHeader.schema)), Member("hemiola", .text(version)),
            Member("duration_s", .number(header.format.seconds(at: end.frames), in: .seconds)),
            Member("sample_rate", .integer(header.format.sampleRate)),
            Member("channels", .integer(header.format.channelCount)),
            Member("frames", .integer(Int(end.frames))), Member("lost_frames", .integer(Int(lostFrames))),
            Member("non_finite", .integer(Int(end.nonFinite))),
            Member("tags", .object(header.source.tags.members)),
            Member(
                "rhythm",
                .object([
                    Member("bpm", .number(rhythm?.beatsPerMinute ?? .nan, in: .beatsPerMinute)),
                    Member("beats", rhythm.map { .integer(Int($0.beatCount)) } ?? .null),
                    Member("bars", rhythm.map { .integer(Int($0.barCount)) } ?? .null),
                    Member("first_beat_s", .number(rhythm?.firstBeat ?? .nan, in: .seconds)),
                ])),
            Member("summaries", .object(end.sections.map { Member($0.analyzer, .object($0.values.map(\.member))) })),
            Member("features", .object(features)), Member("reason", .text(end.reason.rawValue)),
        ]
    }

    private var features: [Member] {
        var analyzers: [Member] = []
        for statistics in statistics {
            let feature = Member(statistics.feature.name, statistics.tree)
            if case .object(let features)? = analyzers.last?.value, analyzers.last?.key == statistics.analyzer {
                analyzers[analyzers.count - 1].value = .object(features + [feature])
            } else {
                analyzers.append(Member(statistics.analyzer, .object([feature])))
            }
        }
        return analyzers
    }
}

extension JSONValue {
    /// Calls a function with each value that is neither an object nor a list, and its path: `tags.title`, `features.a.b.mean[3]`.
    fileprivate func forEachLeaf(at path: String, _ body: (_ path: String, _ value: JSONValue) -> Void) {
        switch self {
        case .object(let members): for member in members { member.value.forEachLeaf(at: "\(path).\(member.key)", body) }
        case .list(let elements): for (index, element) in elements.enumerated() { element.forEachLeaf(at: "\(path)[\(index)]", body) }
        default: body(path, self)
        }
    }
}

extension SummaryRecord.Statistics {
    fileprivate var tree: JSONValue {
        func tree(_ values: [Double]) -> JSONValue {
            feature.isArray ? .list(values.map { .number($0, in: feature.unit) }) : .number(values.first ?? .nan, in: feature.unit)
        }
        return .object(
            [Member("mean", tree(means)), Member("stdev", tree(deviations))]
                + zip(SummaryRecord.quantiles, quantiles).map { Member($0.name, tree($1)) }
                + [Member("nulls", .integer(Int(nulls)))])
    }
}

extension SummaryValue {
    fileprivate var member: Member {
        switch number {
        case .count(let count): Member(name, .integer(Int(count)))
        case .feature(let value, let unit): Member(name, .number(value, in: unit))
        }
    }
}

// MARK: - Schema

extension RecordSchema {
    /// The record of a whole stream: ``SummaryRecord``.
    ///
    /// - Parameters:
    ///   - analyzers: The analyzers and features of the pipeline; nil: any.
    ///   - selection: The features that are written.
    ///   - otherFormats: The declarations of the same analyzers for other formats. Counts and bounds that differ are left open.
    static func summary(
        _ analyzers: SchemaText.Analyzers?, _ selection: Selection, otherFormats: [SchemaText.Analyzers] = []
    ) -> Record {
        let features: Field.Kind =
            if let analyzers {
                .object(
                    analyzers.compactMap { analyzer in
                        let others = otherFormats.flatMap { $0.filter { $0.name == analyzer.name }.flatMap(\.features) }
                        let fields = analyzer.features.filter { SummaryRecord.writes($0, of: analyzer.name, selection) }.map { feature in
                            Field(statisticsOf: feature, others: others.filter { $0.name == feature.name })
                        }
                        return fields.isEmpty ? nil : Field(analyzer.name, .object(fields), "The features of \(analyzer.name).")
                    })
            } else {
                .table(of: .table(of: .table(of: .nullable(.number))))
            }
        return Record(
            type: SummaryRecord.type, summary: "A whole stream, in the output of the sink summary.",
            fields: [
                Field("schema", .integer, "The version of this schema."),
                Field("hemiola", .text, "The version of Hemiola."),
                Field("duration_s", .number, "The duration of the stream, including lost frames."),
                Field("sample_rate", .integer, "Frames per second."),
                Field("channels", .integer, "Samples per frame."),
                Field("frames", .integer, "Frames of the stream, including lost ones."),
                Field("lost_frames", .integer, "Frames that were lost: missing or damaged parts of a file."),
                Field("non_finite", .integer, "Samples that were NaN or infinite and became 0."),
                Field("tags", .object(tags(isComplete: true)), "The tags of a sound file; null where it has none."),
                Field("rhythm", .object(rhythm), "The beats; all null when no analyzer detects beats."),
                Field("summaries", .table(of: .table(of: .nullable(.number))), "The summary of each analyzer that has one."),
                Field("features", features, "The statistics of each feature over all batches."),
                Field("reason", .choice(StreamSummary.Reason.allCases.map(\.rawValue)), "Why the stream ends."),
            ])
    }

    private static let rhythm = [
        Field("bpm", .number, isNullable: true, "The median tempo of the beats."),
        Field("beats", .integer, isNullable: true, "The number of beats."),
        Field("bars", .integer, isNullable: true, "The number of downbeats."),
        Field("first_beat_s", .number, isNullable: true, "The time of the first beat."),
    ]
}

extension Field {
    /// The statistics of a feature.
    fileprivate init(statisticsOf feature: Feature, others: [Feature]) {
        let value = Field(feature, others: others)
        func figure(_ name: String, _ summary: String) -> Field {
            var field = value
            field.name = name
            field.summary = summary
            return field
        }
        var deviation = figure("stdev", "The standard deviation.")
        (deviation.minimum, deviation.maximum) = (0, nil)
        var fields = [figure("mean", "The mean."), deviation]
        if feature.count <= SummaryRecord.maximumQuantileCount {
            fields += SummaryRecord.quantiles.map { quantile in
                let percent = Int((quantile.share * 100).rounded())
                return figure(quantile.name, "The \(percent)th percentile, with a rank error of 0.5 % at most.")
            }
        }
        fields.append(Field("nulls", .integer, "Values that were null and are left out, of all elements together."))
        self.init(feature.name, .object(fields), value.summary)
    }
}
