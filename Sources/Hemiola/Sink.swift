public import HemiolaSignal

/// Takes batches out of the process. Each sink runs on a thread of its own: it may block without delaying anybody else.
///
/// Lifecycle: make → `open` → (`begin` → `write` … → `end`) per stream → `close` once.
public protocol Sink: Sendable {
    /// Touches the world: files, sockets. One that throws is not closed: it leaves nothing behind.
    func open(_ context: SinkContext) async throws(SinkError)
    /// A stream begins: once per file, and again when a live format changes.
    func begin(_ stream: StreamHeader) async throws(SinkError)
    /// Consecutive batches of the stream. From a file all of them; live the newest, after losses that are told.
    func write(_ batches: BatchBlock) async throws(SinkError)
    /// Events of the stream that happen while no batch is being completed, e.g. a lost device; in order with the blocks, between
    /// `begin` and `end`. Only the selected ones, and never an empty array. The default implementation does nothing.
    func write(_ events: [Event]) async throws(SinkError)
    /// The stream is over.
    func end(_ summary: StreamSummary) async throws(SinkError)
    /// The last call. What is still buffered must reach its destination or be reported.
    func close() async throws(SinkError)
}

extension Sink {
    public func write(_ events: [Event]) async throws(SinkError) {}
}

/// A sink that can often write without waiting for anybody (into a pipe that has room).
///
/// To wake a thread costs half as much as to analyse a batch. So live, while nothing waits for the sink and its own thread has nothing
/// to do, it is asked on the analysis thread first.
public protocol PromptSink: Sink {
    /// Writes batches in full if that takes no waiting at all, and else does nothing: they come by `write` then. Called
    /// between `begin` and `end`, on another thread than the other methods, and never at the same time as one of them.
    ///
    /// - Returns: Whether they are written.
    func writeAtOnce(_ batches: BatchBlock) -> Bool
}

/// What a sink is given when it is opened.
public struct SinkContext: Sendable {
    /// Its name in this pipeline.
    public var name: String
    /// The records that it shall write. Events come already selected, unless it needs them all; header, batches and the end are
    /// the sink's own duty.
    public var selection: Selection
    /// Whether batches come as time passes, from a live capture or a paced file: then every line is flushed at once.
    public var isLive: Bool
    /// Whether standard output is this sink's, where it needs it only as long as nobody else writes there.
    public var mayUseStandardOutput: Bool
    /// The door for wishes from outside.
    public var controls: ControlPort
    /// Takes one line that a person should read: what is not as it was meant, and does not end anything.
    public var warn: @Sendable (String) -> Void
    /// Ends the run in order, as a person would, because somebody outside wants it: `stop` from within.
    public var endRun: @Sendable () -> Void
    /// The start of the run, in seconds since 1970. For the names of files; nothing that is analysed may depend on it.
    public var startTime: Int
    /// Whether files and their folders are synchronized with the disk when they are complete.
    public var syncsFiles: Bool
    /// Whether all inputs were taken to their ends, or as far as they could be read. Final when the sink is closed; false then if the
    /// run was stopped before.
    public var isRunComplete: @Sendable () -> Bool

    /// What a sink is given; for tests a closed door and everything selected.
    public init(
        name: String, selection: Selection = .all, isLive: Bool = false, mayUseStandardOutput: Bool = true,
        controls: ControlPort = .closed, warn: @escaping @Sendable (String) -> Void = { _ in },
        endRun: @escaping @Sendable () -> Void = {}, startTime: Int = 0, syncsFiles: Bool = false,
        isRunComplete: @escaping @Sendable () -> Bool = { true }
    ) {
        self.name = name
        self.selection = selection
        self.isLive = isLive
        self.mayUseStandardOutput = mayUseStandardOutput
        self.controls = controls
        self.warn = warn
        self.endRun = endRun
        self.startTime = startTime
        self.syncsFiles = syncsFiles
        self.isRunComplete = isRunComplete
    }
}

/// A sink that also decides something while the music plays (the preset cycler).
public protocol DirectingSink: Sink {
    /// Made once per run, used on the analysis thread alone.
    func makeDirector() throws(SinkError) -> sending any Director
}

/// Decides at batch rate on the analysis thread, after the analyzers and before the batch is sealed. May not block.
/// One that is also `Controllable` hears the controls of the batch first.
public protocol Director: AnyObject {
    /// A stream begins: the place of every feature is known from here on. Its clock starts at 0.
    func prepare(_ stream: StreamHeader)
    /// Hears what the analyzers say about a batch, and decides.
    ///
    /// - Parameters:
    ///   - moment: Where the batch stands in the stream.
    ///   - row: The whole row, by the handles of `StreamHeader.layout`.
    ///   - events: Those of the analyzers, to be read and added to.
    func direct(_ moment: BatchMoment, _ row: borrowing FeatureRow, into events: inout EventList)
    /// Audio was lost; the clock has moved on.
    func skip(_ gap: Gap)
}

extension Director {
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

    /// A moment from its parts.
    public init(number: Int64, frame: Int64, frameCount: Int, format: StreamFormat) {
        self.number = number
        self.frame = frame
        self.frameCount = frameCount
        self.format = format
    }

    /// Seconds at its first frame.
    public var start: Double { format.seconds(at: frame) }
    /// Seconds at the frame after its last: what is decided now cannot be heard before.
    public var end: Double { format.seconds(at: frame + Int64(frameCount)) }
}
