public import HemiolaRecords
public import HemiolaSignal
public import HemiolaSystem

/// Computes features and events from one hop at a time. Called on the analysis thread only.
///
/// `process` must not allocate, lock, log or wait: it is on the hot path. Everything it needs is made in `prepare`.
public protocol Analyzer: AnyObject {
    /// Loads what the settings name outside the program, such as a library or a model, and checks the settings with it. Called once for
    /// every analyzer, before `prepare`, on the thread that makes it; several jobs load theirs at the same time. Does nothing unless it is
    /// implemented.
    func load() throws(Problem)

    /// Called at the start of every stream; discards all earlier state, so that the outputs are those of a new analyzer. May refuse a format.
    /// The outputs (columns, events, their units and edges) and the requested spectra are fixed from here on.
    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs

    /// Processes a hop: writes values into the row and adds events. Each feature declares how the hops of a batch are aggregated.
    ///
    /// An analyzer that aggregates by itself declares its features `.latest` and writes, with every hop, the value of the batch up
    /// to and including this hop: any hop may be the batch's last.
    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList)

    /// Audio was lost between the last hop and the next. Spectral history starts anew.
    func skip(_ gap: Gap)

    /// The stream is over: last events, if any are pending.
    func finish(into events: inout EventList)

    /// A warning about the stream, in one line; nil: there is none. Read after `finish`, and reported once.
    var warning: String? { get }

    /// The values of the whole stream for the `end` record, in the order in which they are written; by default none. Called after `finish`.
    func summary() -> [SummaryValue]
}

extension Analyzer {
    public func load() throws(Problem) {}
    public var warning: String? { nil }
    public func summary() -> [SummaryValue] { [] }
    public func skip(_ gap: Gap) {}
    public func finish(into events: inout EventList) {}
}

/// The format and settings of a stream, for `prepare`.
public struct AnalysisFormat: Sendable, Hashable {
    /// Frames a second and channels.
    public var format: StreamFormat
    /// How the stream is cut into batches and hops.
    public var batching: Batching
    /// The seed of everything that is random.
    public var seed: UInt64

    /// A format for `prepare`, by default with batches of the standard size.
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

/// An analyzer with more accurate results after a first pass over the whole stream. Files are read twice, unless the user asks for causal
/// analysis: `analyzeFirstPass` for every hop, `finishFirstPass`, then `process` from the start. A first pass can be given up, as when the
/// format changes within the file: then `prepare` follows without `finishFirstPass`, and the analyzer works as without a first pass.
public protocol OfflineAnalyzer: Analyzer {
    /// Processes a hop of the first pass, which has no outputs.
    ///
    /// Here a gap is silence, so that what follows it is at its time. Of a gap of more than a minute only half a minute at either end is
    /// passed: `hop.frame` says how many hops are left out.
    func analyzeFirstPass(_ hop: borrowing Hop)
    /// Ends the first pass; `process` follows, from the start of the stream.
    func finishFirstPass()
}

/// An analyzer that uses something outside of this process, which can fail at any time and must be ended: a program, a device.
///
/// Lifecycle, per input: `open` → (`prepare` → `process` … → `finish`) per stream → `close`. It may allocate, lock and, for a file, wait in
/// `process`, each time for a bounded time.
public protocol ExternalAnalyzer: Analyzer {
    /// Gets the context of the run. Starts nothing: `prepare` does. Not called where only the outputs are listed.
    func open(_ context: AnalyzerContext)
    /// Why no further hop can be analysed; nil: nothing has failed. Read after every hop. The input ends with this error; where it
    /// is analysed without this analyzer (`on_error=skip`), `process` is still called, and writes NaN and no events.
    var failure: Problem? { get }
    /// Ends everything that `prepare` started. Called once after the streams of each input, and after outputs were listed.
    func close()
}

/// The context of an ``ExternalAnalyzer``, passed to `open`.
public struct AnalyzerContext: Sendable {
    /// Its name in this pipeline.
    public var name: String
    /// Whether hops come as time passes, from a live capture or a paced file: then `process` never waits. From a file it waits for
    /// results, so that they are the same in every run.
    public var isLive: Bool
    /// The clock of the run, for pauses before another attempt.
    public var clock: any MonotonicClock
    /// Prints one line for the user: a warning, after which the run continues. Never blocks.
    public var warn: @Sendable (String) -> Void
    /// Whether the run is to end: a wait polls this.
    public var isCancelled: @Sendable () -> Bool

    /// A context; by default that of a file, for tests and for listing outputs.
    public init(
        name: String, isLive: Bool = false, clock: any MonotonicClock = .system, warn: @escaping @Sendable (String) -> Void = { _ in },
        isCancelled: @escaping @Sendable () -> Bool = { false }
    ) {
        self.name = name
        self.isLive = isLive
        self.clock = clock
        self.warn = warn
        self.isCancelled = isCancelled
    }
}

/// An analyzer or director that handles controls. Called between batches, on the analysis thread, before the first hop of the batch in
/// which the control takes effect.
public protocol ControlHandler: AnyObject {
    /// Handles a control, at a constant cost.
    ///
    /// Called only with controls that its plugin declares (`controls:` or `fallbackControls:`). One that is declared and has no code is
    /// refused with `ControlReply.unknown`, so that the omission is noticed.
    func handle(_ control: StampedControl) -> ControlReply
}
