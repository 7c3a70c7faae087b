public import HemiolaSignal
internal import HemiolaSystem

/// The description of a stream, before its first batch.
public struct StreamHeader: Sendable, Equatable {
    /// One analyzer of the pipeline, prepared for this stream.
    public struct Analyzer: Sendable, Equatable {
        /// Its name in this pipeline: the plugin's id or its `as=` name.
        public var name: String
        /// The plugin's id.
        public var id: String
        /// The plugin's version: raised when the outputs' meaning changes.
        public var version: Int
        /// Every setting with its value, defaults filled in, in the order of their declaration.
        public var parameters: [Parameter]
        /// Its outputs for this stream.
        public var outputs: AnalyzerOutputs

        /// An analyzer of the header.
        public init(name: String, id: String, version: Int, parameters: [Parameter], outputs: AnalyzerOutputs) {
            self.name = name
            self.id = id
            self.version = version
            self.parameters = parameters
            self.outputs = outputs
        }
    }

    /// The version of the record schema. A schema may gain keys, never change or lose one.
    public static let schema = 2

    /// Its place among the streams of its run, 0…. No part of the record.
    public var number = 0
    /// The source.
    public var source: StreamSource
    /// The path as given, when one run has several files: every line then carries it.
    public var file: String?
    /// The bytes of that path, where they are not UTF-8.
    public var fileBytes: [UInt8]?
    /// The path of the input as `PathText` makes it, so that no byte is lost; of a source that is no file, its name.
    public var inputPath: String {
        if let file { return fileBytes.map(PathText.text(of:)) ?? file }
        return source.nameBytes.map(PathText.text(of:)) ?? source.name
    }
    /// The path below the folder that is analysed, when each input of a folder has its own result; nil: the run has no such folder.
    public var relativePath: String?
    /// The path whose parts replace `{dir}`, `{name}` and `{stem}` in the paths of outputs.
    public var outputPath: String { relativePath ?? inputPath }
    /// Identifies the version and the settings of a result in an output folder; nil: the run has no output folder.
    public var fingerprint: String?
    /// Whether it comes from a live capture: then batches may be dropped.
    public var isLive: Bool
    /// How the stream is cut into batches and hops.
    public var batching: Batching
    /// The seed of everything that is random.
    public var seed: UInt64
    /// In the order of the row.
    public var analyzers: [Analyzer]
    /// The types of records and controls that the program declares.
    public var catalog: RecordCatalog
    /// The columns of a row.
    public var layout: FeatureLayout

    /// A header; its layout follows from the analyzers' outputs.
    public init(
        source: StreamSource, file: String? = nil, fileBytes: [UInt8]? = nil, isLive: Bool, batching: Batching, seed: UInt64,
        analyzers: [Analyzer], catalog: RecordCatalog = .standard
    ) {
        self.catalog = catalog
        self.source = source
        self.file = file
        self.fileBytes = fileBytes
        self.isLive = isLive
        self.batching = batching
        self.seed = seed
        self.analyzers = analyzers
        layout = FeatureLayout()
        for analyzer in analyzers {
            layout.append(analyzer.outputs, of: analyzer.name)
        }
    }

    /// That of the source.
    public var format: StreamFormat { source.format }
}

/// The summary of a stream, after its last batch.
public struct StreamSummary: Sendable, Equatable {
    /// Why a stream ended.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The input has ended.
        case endOfInput = "end-of-input"
        /// The run was stopped, or all readers have closed the output.
        case interrupted
        /// The source could not be read any further.
        case error
        /// A live source changed its format: a new header follows.
        case formatChange = "format-change"
    }

    /// The values of one analyzer for the whole stream, in its order.
    public struct Section: Sendable, Hashable {
        /// The analyzer's name in this pipeline.
        public var analyzer: String
        /// Its values.
        public var values: [SummaryValue]

        /// The values of the analyzer of that name.
        public init(analyzer: String, values: [SummaryValue]) {
            self.analyzer = analyzer
            self.values = values
        }
    }

    /// Frames since the stream's first, lost ones included.
    public var frames: Int64
    /// Completed batches, the dropped ones included.
    public var batches: Int64
    /// Samples that were NaN or infinite and became 0.
    public var nonFinite: Int64
    /// The sum of the batches and events that each sink and its clients lost, by the sink's name; only those that lost any.
    public var dropped: [(sink: String, batches: Int64)]
    /// One for each analyzer with values for the whole stream.
    public var sections: [Section]
    /// The reason for the end.
    public var reason: Reason
    /// Why the input was incomplete or damaged, one line; nil: it was complete.
    public var error: String?
    /// Events emitted after the last batch was completed, in order of time: they precede the end.
    public var lateEvents: [Event]

    /// A summary; by default without losses.
    public init(
        frames: Int64, batches: Int64, nonFinite: Int64 = 0, dropped: [(sink: String, batches: Int64)] = [],
        sections: [Section] = [], reason: Reason, error: String? = nil, lateEvents: [Event] = []
    ) {
        self.error = error
        self.lateEvents = lateEvents
        self.frames = frames
        self.batches = batches
        self.nonFinite = nonFinite
        self.dropped = dropped
        self.sections = sections
        self.reason = reason
    }

    /// A number that an analyzer has for the whole stream; nil: it has none.
    ///
    /// - Parameters:
    ///   - analyzer: The analyzer's name in the pipeline.
    ///   - name: The name of the value.
    public func number(_ analyzer: String, _ name: String) -> Double? {
        let value = sections.first { $0.analyzer == analyzer }?.values.first { $0.name == name }?.value
        guard case .feature(let number, _)? = value, number.isFinite else { return nil }
        return number
    }

    public static func == (one: Self, other: Self) -> Bool {
        one.frames == other.frames && one.batches == other.batches && one.nonFinite == other.nonFinite
            && one.dropped.elementsEqual(other.dropped, by: ==) && one.sections == other.sections && one.reason == other.reason
            && one.error == other.error && one.lateEvents == other.lateEvents
    }
}

/// A value of an analyzer's summary: a feature in its unit, a count, or a text.
public struct SummaryValue: Sendable, Hashable {
    /// A number with its unit, a count, or a text.
    public enum Value: Sendable, Hashable {
        /// A text, such as a key; nil when there is none.
        case text(String?)
        /// So many; written without a decimal point.
        case count(Int64)
        /// NaN when there is none.
        case feature(Double, Unit)
    }

    /// `snake_case`, with its unit when it has one.
    public var name: String
    /// Its value.
    public var value: Value

    /// A count of that name.
    public init(_ name: String, count: Int64) {
        self.name = name
        value = .count(count)
    }

    /// A text of that name; nil when there is none.
    public init(_ name: String, text: String?) {
        self.name = name
        value = .text(text)
    }

    /// The text of a category, and its number beside it; both are null when there is none.
    public static func category(_ name: String, _ number: Int?, labels: [String]) -> [SummaryValue] {
        let key = Feature.numberName(of: name)
        return [
            SummaryValue(name, text: number.map { labels[$0] }),
            number.map { SummaryValue(key, count: Int64($0)) } ?? SummaryValue(key, .nan, .none),
        ]
    }

    /// A value of that name and unit; NaN when there is none.
    public init(_ name: String, _ value: Double, _ unit: Unit) {
        self.name = name
        self.value = .feature(value, unit)
    }
}
