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
        /// The number of beats in most bars; nil without a bar.
        public var beatsPerBar: Int?

        /// The beats of a stream.
        public init(
            beatsPerMinute: Double?, tempoCount: Int, beatsPerBar: Int?, beatCount: Int64, barCount: Int64, firstBeat: Double?
        ) {
            self.beatsPerMinute = beatsPerMinute
            self.tempoCount = tempoCount
            self.beatsPerBar = beatsPerBar
            self.beatCount = beatCount
            self.barCount = barCount
            self.firstBeat = firstBeat
        }
    }

    /// Gains and peaks of ReplayGain 2.0, for the tags of the same names. A gain in decibels brings the loudness to −18 LUFS; a peak is the
    /// true peak, 1 at full scale.
    public struct ReplayGain: Sendable, Hashable {
        /// Those of the stream; nil: in silence, or not measured.
        public var trackGain, trackPeak: Double?
        /// Those of all songs of a folder together; nil: in silence, or not measured.
        public var albumGain, albumPeak: Double?

        /// Values that are not known yet.
        public init() {}

        /// The gain of a loudness in LUFS.
        public static func gain(ofLoudness loudness: Double) -> Double { -18 - loudness }
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
    /// The gains; without values when the pipeline does not measure the loudness.
    public var replayGain = ReplayGain()
    /// The statistics of the features that are written, in the order of the row.
    public var statistics: [Statistics]

    /// The record of a stream.
    public init(header: StreamHeader, end: StreamSummary, lostFrames: Int64, rhythm: Rhythm?, statistics: [Statistics]) {
        self.header = header
        self.end = end
        self.lostFrames = lostFrames
        self.rhythm = rhythm
        self.statistics = statistics
    }
}

// MARK: - Writing

private typealias Member = JSONValue.Member

extension SummaryRecord {
    /// The members of the record's object, after `type`.
    var members: [JSONValue.Member] {
        let path: (String?, [UInt8]?) =
            header.file == nil ? (header.source.name, header.source.nameBytes) : (header.file, header.fileBytes)
        return RecordSchema.path.members(of: path) + Self.table.members(of: self)
    }

    /// All keys after `file`. Those of the objects `summaries` and `features` are those of the analyzers.
    fileprivate static let table = RecordTable<SummaryRecord>(rows: [
        .init("schema", .integer, "The version of this schema.", { _ in .integer(StreamHeader.schema) }),
        .init("hemiola", .text, "The version of Hemiola.", { _ in .text(HemiolaVersion.current) }),
        .init(
            "duration_s", .number, unit: .seconds, isNullable: true, "The duration of the stream, including lost frames.",
            { .number($0.header.format.seconds(at: $0.end.frames), in: .seconds) }),
        .init("sample_rate", .integer, isNullable: true, "Frames per second.", { .integer($0.header.format.sampleRate) }),
        .init("channels", .integer, isNullable: true, "Samples per frame.", { .integer($0.header.format.channelCount) }),
        .init("frames", .integer, isNullable: true, "Frames of the stream, including lost ones.", { .integer(Int($0.end.frames)) }),
        .init(
            "lost_frames", .integer, isNullable: true, "Frames that were lost: missing or damaged parts of a file.",
            { .integer(Int($0.lostFrames)) }),
        .init(
            "non_finite", .integer, isNullable: true, "Samples that were NaN or infinite and became 0.", { .integer(Int($0.end.nonFinite)) }
        ),
        .init(
            "tags", .object(tagTable.fields), "The tags of a sound file; null where it has none.",
            { .object(tagTable.members(of: $0.header.source.tags)) }),
        .init(
            "rhythm", .object(rhythmTable.fields), "The beats; all null when no analyzer detects beats.",
            { .object(rhythmTable.members(of: $0.rhythm)) }),
        .init(
            "replaygain", .object(replayGainTable.fields), "ReplayGain 2.0; null without the analyzer loudness, and in silence.",
            { .object(replayGainTable.members(of: $0.replayGain)) }),
        .init("summaries", .object([]), "The values of each analyzer for the whole stream.", { $0.end.sectionObject }),
        .init("features", .object([]), "The statistics of each feature over all batches.", { .object($0.features) }),
        .init("reason", RecordSchema.reason, "Why the stream ends.", { .text($0.end.reason.rawValue) }),
        .init(
            "error", .text, isNullable: true, "Why the input failed, was incomplete or damaged, or was not analysed to its end.",
            { $0.error.map { .text($0) } }),
    ])

    private static let tagTable = RecordSchema.tags.complete

    private static let rhythmTable = RecordTable<Rhythm?>(rows: [
        .init(
            "bpm", .number, unit: .beatsPerMinute, isNullable: true, "The tempo; of several that with most beats.",
            { .number($0?.beatsPerMinute ?? .nan, in: .beatsPerMinute) }),
        .init(
            "tempo_sections", .integer, isNullable: true,
            "The number of parts with a tempo of their own: parts of 16 beats or more whose tempi differ by more than 4 %.",
            { $0.map { .integer($0.tempoCount) } }),
        .init(
            "time_signature", .integer, isNullable: true, "The number of beats in most bars.", { $0?.beatsPerBar.map { .integer($0) } }),
        .init("beats", .integer, isNullable: true, "The number of beats.", { $0.map { .integer(Int($0.beatCount)) } }),
        .init("bars", .integer, isNullable: true, "The number of downbeats.", { $0.map { .integer(Int($0.barCount)) } }),
        .init(
            "first_beat_s", .number, unit: .seconds, isNullable: true, "The time of the first beat.",
            { .number($0?.firstBeat ?? .nan, in: .seconds) }),
    ])

    private static let replayGainTable = RecordTable<ReplayGain>(rows: [
        gain("track_gain_db", "The gain to the reference loudness.", \.trackGain), peak("track_peak", "The true peak.", \.trackPeak),
        gain("album_gain_db", "The gain of all songs of its folder; null unless it is selected.", \.albumGain),
        peak("album_peak", "The largest true peak of the songs of its folder; null unless it is selected.", \.albumPeak),
    ])

    private typealias GainRow = RecordTable<ReplayGain>.Row

    private static func gain(_ name: String, _ summary: String, _ value: @escaping @Sendable (ReplayGain) -> Double?) -> GainRow {
        .init(name, .number, unit: "dB", isNullable: true, summary, { .number(value($0) ?? .nan, in: "dB") })
    }

    private static func peak(_ name: String, _ summary: String, _ value: @escaping @Sendable (ReplayGain) -> Double?) -> GainRow {
        .init(name, .number, unit: .amplitude, isNullable: true, summary, { .number(value($0) ?? .nan, in: .amplitude) })
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

extension StreamSummary {
    /// The values of each analyzer.
    var sectionObject: JSONValue { .object(sections.map { Member($0.analyzer, .object($0.values.map(\.member))) }) }
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
        _ analyzers: [StreamHeader.Analyzer], _ sections: [StreamSummary.Section], otherFormats: [StreamHeader.Analyzer]
    ) -> Record {
        let features = analyzers.filter { !$0.outputs.features.isEmpty }.map { analyzer in
            let others = otherFormats.features(of: analyzer.name)
            // A category has no mean.
            let fields = analyzer.outputs.features.filter { !$0.isCategory }.map { feature in
                Field(statisticsOf: feature, others: others.filter { $0.name == feature.name })
            }
            return Field(analyzer.name, .object(fields), "The features of \(analyzer.name).")
        }
        let summaries = sections.map { section in
            Field(section.analyzer, .object(section.values.map(\.field)), "The values of \(section.analyzer) for the whole stream.")
        }
        var fields = SummaryRecord.table.fields
        for index in fields.indices {
            if fields[index].name == "summaries" { fields[index].kind = .object(summaries) }
            if fields[index].name == "features" { fields[index].kind = .object(features) }
        }
        return Record(
            type: SummaryRecord.type, summary: "A whole stream, or an input that failed, in the output of the sink summary.", fields: fields
        )
    }
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
