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
        /// The tempo of the line through the beats, of several tempi that with most beats; nil for fewer than two beats.
        public var beatsPerMinute: Double?
        /// The number of tempi, one after the other.
        public var tempoCount: Int
        /// The number of beats.
        public var beatCount: Int64
        /// The number of downbeats.
        public var barCount: Int64
        /// The time of the first beat, in seconds; nil without a beat.
        public var firstBeat: Double?

        /// The beats of a stream.
        public init(beatsPerMinute: Double?, tempoCount: Int, beatCount: Int64, barCount: Int64, firstBeat: Double?) {
            self.beatsPerMinute = beatsPerMinute
            self.tempoCount = tempoCount
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
}

// MARK: - Writing

private typealias Member = JSONValue.Member

extension SummaryRecord {
    /// The members of the record's object, after `type`.
    var members: [JSONValue.Member] {
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
                    Member("tempo_sections", rhythm.map { .integer($0.tempoCount) } ?? .null),
                    Member("beats", rhythm.map { .integer(Int($0.beatCount)) } ?? .null),
                    Member("bars", rhythm.map { .integer(Int($0.barCount)) } ?? .null),
                    Member("first_beat_s", .number(rhythm?.firstBeat ?? .nan, in: .seconds)),
                ])),
            Member("summaries", .object(end.sections.map { Member($0.analyzer, .object($0.values.map(\.member))) })),
            Member("features", .object(features)), Member("reason", .text(end.reason.rawValue)),
            Member("error", error.map { .text($0) } ?? .null),
        ]
    }

    /// Why the input was not analysed whole. A live stream has no other end than an interruption.
    private var error: String? {
        guard end.error == nil, end.reason == .interrupted, !header.isLive else { return end.error }
        let seconds = header.format.seconds(at: end.frames).rounded(toPlaces: 1)
        return "\(header.file ?? header.source.name): interrupted after \(seconds) s"
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
        switch value {
        case .text(let text): Member(name, text.map { .text($0) } ?? .null)
        case .count(let count): Member(name, .integer(Int(count)))
        case .feature(let value, let unit): Member(name, .number(value, in: unit))
        }
    }

    fileprivate var field: Field {
        switch value {
        case .text: Field(name, .text, isNullable: true, "A text for the whole stream.")
        case .count: Field(name, .integer, isNullable: true, "A count.")
        case .feature(_, let unit): Field(name, .number, unit: unit, isNullable: true, "A value of the whole stream.")
        }
    }
}

// MARK: - Schema

extension RecordSchema {
    /// The record of a whole stream: ``SummaryRecord``. Of an input that failed, all values but `reason` and `error` are null.
    ///
    /// - Parameters:
    ///   - analyzers: The analyzers and features of the pipeline.
    ///   - sections: The values that analyzers have for a whole stream. Only their names and kinds are read.
    ///   - otherFormats: The declarations of the same analyzers for other formats. Counts and bounds that differ are left open.
    static func summary(
        _ analyzers: SchemaText.Analyzers, _ sections: [StreamSummary.Section], otherFormats: [SchemaText.Analyzers] = []
    ) -> Record {
        let features = analyzers.filter { !$0.features.isEmpty }.map { analyzer in
            let others = otherFormats.flatMap { $0.filter { $0.name == analyzer.name }.flatMap(\.features) }
            // A category has no mean.
            let fields = analyzer.features.filter { !$0.isCategory }.map { feature in
                Field(statisticsOf: feature, others: others.filter { $0.name == feature.name })
            }
            return Field(analyzer.name, .object(fields), "The features of \(analyzer.name).")
        }
        let summaries = sections.map { section in
            Field(section.analyzer, .object(section.values.map(\.field)), "The values of \(section.analyzer) for the whole stream.")
        }
        func figure(_ name: String, _ kind: Field.Kind, _ summary: String) -> Field { Field(name, kind, isNullable: true, summary) }
        return Record(
            type: SummaryRecord.type, summary: "A whole stream, or an input that failed, in the output of the sink summary.",
            fields: [
                Field("schema", .integer, "The version of this schema."),
                Field("hemiola", .text, "The version of Hemiola."),
                Field("duration_s", .number, unit: .seconds, isNullable: true, "The duration of the stream, including lost frames."),
                figure("sample_rate", .integer, "Frames per second."),
                figure("channels", .integer, "Samples per frame."),
                figure("frames", .integer, "Frames of the stream, including lost ones."),
                figure("lost_frames", .integer, "Frames that were lost: missing or damaged parts of a file."),
                figure("non_finite", .integer, "Samples that were NaN or infinite and became 0."),
                Field("tags", .object(tags(isComplete: true)), "The tags of a sound file; null where it has none."),
                Field("rhythm", .object(rhythm), "The beats; all null when no analyzer detects beats."),
                Field("summaries", .object(summaries), "The values of each analyzer for the whole stream."),
                Field("features", .object(features), "The statistics of each feature over all batches."),
                Field("reason", .choice(StreamSummary.Reason.allCases.map(\.rawValue)), "Why the stream ends."),
                figure("error", .text, "Why the input failed, was incomplete or damaged, or was not analysed to its end."),
            ])
    }

    private static let rhythm = [
        Field("bpm", .number, unit: .beatsPerMinute, isNullable: true, "The tempo; of several that with most beats."),
        Field(
            "tempo_sections", .integer, isNullable: true,
            "The number of parts with a tempo of their own: parts of 16 beats or more whose tempi differ by more than 4 %."),
        Field("beats", .integer, isNullable: true, "The number of beats."),
        Field("bars", .integer, isNullable: true, "The number of downbeats."),
        Field("first_beat_s", .number, unit: .seconds, isNullable: true, "The time of the first beat."),
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
        fields.append(Field("nulls", .integer, isNullable: true, "Values that were null and are left out, of all elements together."))
        self.init(feature.name, .object(fields), value.summary)
    }
}
