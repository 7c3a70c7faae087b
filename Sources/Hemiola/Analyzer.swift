public import HemiolaSignal

/// Hears one hop at a time and writes what it heard. Used by the analysis thread alone.
///
/// `process` must not allocate, lock, log or wait: it is on the hot path. Everything it needs is made in `prepare`.
public protocol Analyzer: AnyObject {
    /// Called at the start of every stream; forgets whatever came before. May refuse a format. Outputs (columns, events, their
    /// units and edges) and the spectra it asks for are fixed from here on.
    func prepare(_ stream: AnalysisFormat) throws(AnalyzerError) -> AnalyzerOutputs

    /// Hears a hop. Values go into the row; how several hops fold into a batch was declared with each feature.
    ///
    /// An analyzer that folds by itself declares its features `.latest` and writes with every hop what holds for the batch up
    /// to there: any hop may turn out to be its last.
    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList)

    /// Audio was lost between the last hop and the next. Spectral history starts anew.
    func skip(_ gap: Gap)

    /// The stream is over: last events, if any are pending.
    func finish(into events: inout EventList)

    /// Back to the state after `prepare`: a reset analyzer answers as a new one would.
    func reset()
}

extension Analyzer {
    public func skip(_ gap: Gap) {}
    public func finish(into events: inout EventList) {}
}

/// What an analyzer is prepared for.
public struct AnalysisFormat: Sendable, Hashable {
    /// Frames a second and channels.
    public var format: StreamFormat
    /// How the stream is cut into batches and hops.
    public var batching: Batching
    /// The seed of everything that is random.
    public var seed: UInt64

    /// What an analyzer is prepared for, with batches of the standard size unless told otherwise.
    public init(_ format: StreamFormat, batching: Batching = .standard, seed: UInt64 = 0) {
        self.format = format
        self.batching = batching
        self.seed = seed
    }

    /// Frames per second.
    public var sampleRate: Int { format.sampleRate }
    /// Samples per frame.
    public var channelCount: Int { format.channelCount }
    /// Frames per hop.
    public var hopFrames: Int { batching.hopFrames }
}

/// An analyzer that can answer better after it has heard everything. When the user asks for it, the engine runs the capture
/// twice: `survey` for every hop, `concludeSurvey`, then `process` from the start.
public protocol OfflineAnalyzer: Analyzer {
    /// Hears a hop of the whole stream, before any answer is due.
    func survey(_ hop: borrowing Hop)
    /// The stream has been heard once; `process` follows, from its start.
    func concludeSurvey()
}

/// An analyzer with a last word about the whole stream; it goes into the `end` record.
public protocol SummarizingAnalyzer: Analyzer {
    /// What there is to say about the stream as a whole, in the order it is to be written. Called after `finish`.
    func summary() -> [SummaryValue]
}

/// An analyzer or director that obeys controls. Called between batches, before the first hop of the batch whose frame the
/// control bears.
public protocol Controllable: AnyObject {
    /// Obeys a control, if it is any of its business.
    ///
    /// - Returns: What became of it, or nil when this control is none of its business.
    func obey(_ control: StampedControl) -> ControlReply?
}

/// Steps in: it is asked to obey a control only when nobody else in the pipeline does.
public protocol Understudy: Controllable {}
