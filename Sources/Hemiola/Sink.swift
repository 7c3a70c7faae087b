public import HemiolaRecords
public import HemiolaSignal
public import HemiolaSystem

/// Writes batches to a destination outside the process.
///
/// A sink has one owner: the thread that runs the pipeline makes and opens it, and hands it to a thread of its own, which calls all other
/// methods. It therefore needs no lock, and may block without delaying the analysis or other sinks.
///
/// Lifecycle: make → `open` → (`begin` → `write` … → `end`) per stream → `end` per input … → `close` once.
public protocol Sink: AnyObject {
    /// Opens files or sockets. A sink that throws here is not closed: it leaves nothing behind. A problem that names a setting, such as a file
    /// that does not exist, is one of the configuration (exit code 2); any other is one of the output (3).
    func open(_ context: SinkContext) throws(Problem)
    /// A stream begins: once per file, and again when a live format changes.
    func begin(_ stream: StreamHeader) throws(Problem)
    /// Consecutive batches of the stream. From a file all of them; live the newest: lost ones are reported.
    func write(_ batches: BatchBlock) throws(Problem)
    /// Events of the stream that happen while no batch is being completed, e.g. a lost device; in order with the blocks, between
    /// `begin` and `end`. Never an empty array. The default implementation does nothing.
    func write(_ events: [Event]) throws(Problem)
    /// The stream is over.
    func end(_ summary: StreamSummary) throws(Problem)
    /// An input is over, after the ends of its streams; also an input that failed before its first stream. The result of the input is
    /// complete: a file of its own can be finished. The default implementation does nothing.
    func end(_ input: InputEnd) throws(Problem)
    /// The last call. What is still buffered must reach its destination or be reported.
    func close() throws(Problem)
}

extension Sink {
    public func write(_ events: [Event]) throws(Problem) {}
    public func end(_ input: InputEnd) throws(Problem) {}
}

/// The context of a sink, passed to `open`.
public struct SinkContext: Sendable {
    /// Its name in this pipeline.
    public var name: String
    /// What it writes.
    public var records: RecordChoice
    /// When batches and events come, and by which clock.
    public var timing: SinkTiming
    /// Submits controls of this sink's clients, and reports lost data.
    public var controls: ControlPort
    /// Prints lines for the user.
    public var messages: SinkMessages
    /// What all sinks of the run share.
    public var run: RunScope

    /// A context; by default for tests: everything is selected, controls are refused, messages go nowhere, and no other sink is in the run.
    public init(
        name: String, records: RecordChoice = RecordChoice(), timing: SinkTiming = SinkTiming(), controls: ControlPort = .closed,
        messages: SinkMessages = SinkMessages(), run: RunScope = RunScope()
    ) {
        self.name = name
        self.records = records
        self.timing = timing
        self.controls = controls
        self.messages = messages
        self.run = run
    }
}

/// What a sink writes.
public struct RecordChoice: Sendable {
    /// All record types and controls that the program declares.
    public var catalog: RecordCatalog
    /// The records that it writes. Events arrive already selected, with those that it declares as needed; the sink itself selects header,
    /// batches and end.
    public var selection: Selection
    /// The values of summaries that it writes, when it declares `summaries`.
    public var summary: SummarySelection?
    /// Whether this sink may write to standard output, when it declares `spareStandardOutput`.
    public var mayUseStandardOutput: Bool

    /// A choice from its parts; by default everything.
    public init(
        catalog: RecordCatalog = .standard, selection: Selection = .all, summary: SummarySelection? = nil, mayUseStandardOutput: Bool = true
    ) {
        self.catalog = catalog
        self.selection = selection
        self.summary = summary
        self.mayUseStandardOutput = mayUseStandardOutput
    }
}

/// When batches and events come to a sink.
public struct SinkTiming: Sendable {
    /// Whether batches come as time passes, from a live capture or a paced file: then every line is flushed at once.
    public var isLive: Bool
    /// The clock of the run, for whatever waits or has a time of its own.
    public var clock: any MonotonicClock
    /// Seconds by which the sink sends events before (negative: after) they occur, when it declares `schedulesEvents`; else 0.
    public var lead: Double

    /// A timing from its parts; by default that of a file.
    public init(isLive: Bool = false, clock: any MonotonicClock = .system, lead: Double = 0) {
        self.isLive = isLive
        self.clock = clock
        self.lead = lead
    }
}

/// Prints lines of a sink for the user. Thread-safe.
public struct SinkMessages: Sendable {
    /// Prints one line: a warning, after which the run continues.
    public var warn: @Sendable (String) -> Void
    /// Prints one line of information, such as the URL of a page, and below it a figure of several lines, which only a terminal shows. An
    /// empty figure is none.
    public var inform: @Sendable (_ text: String, _ figure: [String]) -> Void
    /// Prints what a user needs to use the sink, also with `--quiet`: the URL of a page, and below it a figure as that of `inform`.
    public var announce: @Sendable (_ text: String, _ figure: [String]) -> Void
    /// Prints a line that a program of the sink has printed. Unlike warnings, lines that are alike are all printed.
    public var relay: @Sendable (String) -> Void

    /// Messages that call these closures; by default nothing is printed.
    public init(
        warn: @escaping @Sendable (String) -> Void = { _ in },
        inform: @escaping @Sendable (_ text: String, _ figure: [String]) -> Void = { _, _ in },
        announce: @escaping @Sendable (_ text: String, _ figure: [String]) -> Void = { _, _ in },
        relay: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.warn = warn
        self.inform = inform
        self.announce = announce
        self.relay = relay
    }
}

/// A sink with a director (the preset cycler).
public protocol DirectingSink: Sink {
    /// Made once per run, after `open`, and used on the analysis thread alone: what it shares with the sink is `Sendable`.
    func makeDirector() throws(Problem) -> sending any Director
}

/// Derives events from feature rows and events, once per batch, on the analysis thread, after the analyzers and before the batch is
/// completed. Must not block.
/// A director that is also a ``ControlHandler`` handles the controls of the batch first.
public protocol Director: AnyObject {
    /// A stream begins: the place of every feature is known from here on. Its clock starts at 0.
    func prepare(_ stream: StreamHeader)
    /// Processes the row and the events of a batch, and adds events.
    ///
    /// - Parameters:
    ///   - moment: Where the batch stands in the stream.
    ///   - row: The whole row, by the handles of `StreamHeader.layout`.
    ///   - events: Those of the analyzers, to be read and added to.
    func direct(_ moment: BatchMoment, _ row: borrowing FeatureRow, into events: inout EventList)
    /// Controls were handled while the source pauses: adds the events that need no batch, such as the change of a preset. Called only for a
    /// director that is a ``ControlHandler``; does nothing unless it is implemented.
    func directPause(into events: inout EventList)
    /// Audio was lost; the clock has moved on.
    func skip(_ gap: Gap)
}

extension Director {
    public func directPause(into events: inout EventList) {}
    public func skip(_ gap: Gap) {}
}

/// Where a batch stands in its stream.
public struct BatchMoment: Sendable, Hashable {
    /// The batch's number, 0….
    public var number: Int64
    /// Its first frame.
    public var frame: Int64
    /// Real frames in it; fewer than the others have only when it is partial.
    public var frameCount: Int
    /// Frames a second and channels.
    public var format: StreamFormat

    /// The position from its parts.
    public init(number: Int64, frame: Int64, frameCount: Int, format: StreamFormat) {
        self.number = number
        self.frame = frame
        self.frameCount = frameCount
        self.format = format
    }

    /// Seconds at its first frame.
    public var start: Double { format.seconds(at: frame) }
    /// Seconds at the frame after its last: the earliest time at which an event of this batch can take effect.
    public var end: Double { format.seconds(at: frame + Int64(frameCount)) }
}
