public import Hemiola
internal import Synchronization

/// A checked pipeline, which opens nothing until it runs: `registry.assemble(configuration)`.
///
///     let pipeline = try PluginRegistry.standard.assemble(configuration)
///     let outcome = pipeline.run { notice in … }
///
/// Audio runs one way: capture → hop → spectrum → analyzers → row, events → directors → batch ⇒ queue ⇒ sink. Everything up
/// to the queue happens on the thread that calls `run`; each sink has a thread of its own. With several jobs, each further one has a thread
/// too.
public final class Pipeline: Sendable {
    /// An input with its capture.
    struct Input: Sendable {
        var given: SourceInput
        var capture: PluginInstance<any Capture>
        var policy = FailurePolicy.fail

        var name: String { path.map(PathText.shown) ?? given.capture.name }
        /// The path as given, where it was given one.
        var path: String? { given.capture.primary?.text }
        /// The path, whether it was given alone or by its key.
        var file: String? { (given.capture.primary ?? given.capture.settings["path"])?.text }
        /// Why it cannot be opened, where that is known before: it has no result.
        var fault: Problem? { given.error }
    }

    /// Where inputs come from while the pipeline runs.
    struct Supply: Sendable {
        var source: any InputSource
        var makeInput: @Sendable (SourceInput) -> Input
    }

    /// An analyzer with its settings.
    struct AnalyzerEntry: Sendable {
        var name: String
        var about: PluginDescription
        var settings: SettingValues
        var analyzer: PluginInstance<any Analyzer>
        var policy: FailurePolicy

        /// Whether it is an ``Hemiola/ExternalAnalyzer``. Only before the run.
        var isExternal: Bool { analyzer.read { $0 is any ExternalAnalyzer } ?? false }

        /// The outputs for a format, and the values of a stream without sound; nil: a run has taken the analyzer.
        ///
        /// - Parameter startsExternals: Whether an ``Hemiola/ExternalAnalyzer`` is started for its outputs; false: it has none.
        func describe(
            for format: AnalysisFormat, startsExternals: Bool
        ) throws(Problem) -> (outputs: AnalyzerOutputs, values: [SummaryValue])? {
            let described = analyzer.read { analyzer in
                Result { () throws(Problem) in
                    guard let external = analyzer as? any ExternalAnalyzer else {
                        return (try analyzer.prepare(format), analyzer.summary())
                    }
                    guard startsExternals else { return (AnalyzerOutputs(), []) }
                    defer { external.close() }
                    return (try external.prepare(format), [])
                }
            }
            return try described?.get()
        }
    }

    /// A sink, made and not yet opened.
    struct SinkEntry: Sendable {
        /// Its place in the configuration.
        var place: Place
        var name: String
        var about: PluginDescription
        var sink: PluginInstance<any Sink>
        /// Whether it is a `DirectingSink`.
        var hasDirector: Bool
        var selection = Selection.all
        /// The items that select values of summaries; empty: all, or it writes none.
        var summaryItems: [String] = []
        /// The values of summaries that it writes; nil: it writes none.
        var summary: SummarySelection?
        /// Seconds that events are delivered ahead of their time; nil: as soon as they are detected.
        var lead: Double?
        var needs: SinkPlugin.Needs
        var policy: FailurePolicy
    }

    /// A recording that is sent to the sinks instead of the analysis of inputs.
    struct Replay: Sendable {
        var recording: Recording
        /// The audio of its streams, in order.
        var audio: [Input]
        /// What the sinks need of each stream.
        var needs: [RecordedNeed]
        /// The recorded types that the directors of this pipeline derive themselves.
        var derivedTypes: Set<String>
    }

    /// The header carries the seed as a JSON number: beyond this a reader may lose its last digits.
    static let largestSeed: UInt64 = (1 << 53) - 1

    /// What it was assembled from.
    public let configuration: PipelineConfiguration
    /// Of everything that is random in the run.
    let seed: UInt64
    /// Of pacing, of pauses before another attempt, and of the sinks.
    package let clock: any MonotonicClock
    let isLive: Bool
    let batching: Batching
    /// The record types and controls that the program declares.
    public let catalog: RecordCatalog
    /// Empty where a source supplies the inputs.
    let inputs: [Input]
    let supply: Supply?
    let analyzerEntries: [AnalyzerEntry]
    let sinkEntries: [SinkEntry]
    let replay: Replay?

    /// What the threads of a run share, and change once per block at most.
    private struct State {
        /// How many of `inputs` were taken.
        var takenInputs = 0
        var openInputs: [String] = []
        var lostResults = 0
        var isComplete = false
        /// Whether the progress is that of a sink.
        var hasSlowSink = false
        var progress = PipelineProgress(seconds: 0, duration: nil, streamIndex: 0, streamCount: 0, streamName: "")
    }

    private let state = Mutex(State())
    private let isStopping = Atomic<Bool>(false)
    private let activityCount = Atomic<Int64>(0)
    /// How many threads are inside of a call of a capture.
    private let readerCount = Atomic<Int>(0)

    init(
        _ assembly: Assembly, batching: Batching, inputs: [Input], supply: Supply?, replay: Replay?, clock: any MonotonicClock
    ) {
        configuration = assembly.configuration
        catalog = assembly.catalog
        analyzerEntries = assembly.analyzers
        sinkEntries = assembly.sinks
        self.clock = clock
        isLive = inputs.contains { $0.capture.read(\.isLive) ?? false }
        seed = configuration.seed ?? (isLive ? .random(in: 0...Self.largestSeed) : 0)
        self.batching = batching
        self.inputs = inputs
        self.supply = supply
        self.replay = replay
    }

    /// Whether a file is read in real time, by the user's option or because a sink needs it.
    public var isPaced: Bool {
        configuration.isPaced || sinkEntries.contains { $0.needs.realTime }
    }

    /// Whether batches come as time passes.
    public var isRealTime: Bool { isLive || isPaced }

    /// Whether a sink receives something of an analyzer: values, events, or its values of the whole stream in the `end` record.
    func delivers(_ outputs: AnalyzerOutputs, of name: String) -> Bool {
        let types = outputs.events.map { catalog.event($0.name)?.name ?? RecordType.analyzerEvent.name }
        return sinkEntries.contains { entry in
            let selection = entry.selection.adding(types: entry.needs.events.map(\.name))
            // A director receives everything.
            return entry.hasDirector || selection.contains("end") || types.contains { selection.contains($0) }
                || selection.contains("batch") && outputs.features.contains { selection.contains(name, $0.name) }
        }
    }

    /// The names of the analyzers, in order.
    public var analyzerNames: [String] { replay?.recording.header.analyzers.map(\.name) ?? analyzerEntries.map(\.name) }

    /// The name of the recording that is replayed; nil: inputs are analysed.
    public var recordingName: String? { replay?.recording.name }

    /// The values of summaries that a sink writes; nil: no sink writes summaries.
    public var summary: SummarySelection? { sinkEntries.lazy.compactMap(\.summary).first }

    /// The names of the sinks, in order.
    public var sinkNames: [String] { sinkEntries.map(\.name) }

    /// The index of the sink that writes to standard output: the one that needs it, else the first that can use it; nil: there is none.
    var standardOutputWriter: Int? {
        sinkEntries.firstIndex(where: \.needs.standardOutput) ?? sinkEntries.firstIndex(where: \.needs.spareStandardOutput)
    }

    /// Whether a sink writes to standard output.
    public var usesStandardOutput: Bool { standardOutputWriter != nil }

    /// The outputs that the analyzers declare for a stream of this format. Only before the run; opens nothing, except for analyzers that
    /// use something outside of this process.
    ///
    /// - Parameters:
    ///   - format: The format of the stream.
    ///   - startsExternals: Whether an `ExternalAnalyzer` is started for its outputs; false: it is listed without any.
    public func describeAnalyzers(
        for format: StreamFormat, startsExternals: Bool = true
    ) throws(Problem) -> [StreamHeader.Analyzer] {
        let format = AnalysisFormat(format, batching: batching, seed: seed)
        var result: [StreamHeader.Analyzer] = []
        for entry in analyzerEntries {
            guard let (outputs, _) = try entry.describe(for: format, startsExternals: startsExternals) else { continue }
            result.append(entry.header(outputs))
        }
        return result
    }

    /// Ends the run, from any thread, at any time: the current stream ends with the reason `interrupted`.
    public func stop() {
        isStopping.store(true, ordering: .releasing)
        supply?.source.cancel()
    }

    /// How far the run is.
    public var progress: PipelineProgress { state.withLock(\.progress) }

    /// A number that changes while the run reads its source, also one that has no audio yet. It stays the same when the run hangs.
    public var activity: Int64 { activityCount.load(ordering: .relaxed) }

    /// The inputs of which one is being read, and none is between two reads: where this stays so after ``stop()``, a decoder does not end.
    public var inputsBeingRead: [String] { readerCount.load(ordering: .relaxed) > 0 ? state.withLock(\.openInputs) : [] }

    /// Whether there is, or may be, more than one input.
    var hasSeveralInputs: Bool { supply != nil || inputs.count > 1 }

    /// Whether every line names its file.
    var namesFiles: Bool { supply.map { $0.source.results == .sharedOutput } ?? (inputs.count > 1) }

    // MARK: - For the jobs

    var shouldStop: Bool { isStopping.load(ordering: .acquiring) }

    /// The next input: of the configuration, or of the source, where it may block until one arrives; nil at the end, or when the run was
    /// stopped.
    func nextInput() -> Input? {
        if shouldStop { return nil }
        if let supply { return supply.source.next().map(supply.makeInput) }
        return state.withLock { state in
            guard state.takenInputs < inputs.count else { return nil }
            state.takenInputs += 1
            return inputs[state.takenInputs - 1]
        }
    }

    /// Inputs that were analysed, and whose results cannot be written.
    var lostResults: Int { state.withLock(\.lostResults) }

    /// Notes such an input.
    func noteLostResult() {
        state.withLock { $0.lostResults += 1 }
    }

    /// Whether every input was taken to its end, or as far as it could be read.
    var isComplete: Bool { state.withLock(\.isComplete) }

    /// Notes that every input was taken.
    func noteComplete() {
        state.withLock { $0.isComplete = true }
    }

    func note(_ source: StreamSource, index: Int) {
        state.withLock {
            $0.progress = PipelineProgress(
                seconds: 0, duration: source.duration, streamIndex: index, streamCount: supply == nil ? max(inputs.count, 1) : 0,
                streamName: source.name)
        }
    }

    /// Notes that the source was read.
    func noteActivity() {
        activityCount.add(1, ordering: .relaxed)
    }

    /// Calls a capture, and notes that meanwhile.
    func reading<Result>(_ body: () throws(Problem) -> Result) throws(Problem) -> Result {
        readerCount.add(1, ordering: .relaxed)
        defer { readerCount.subtract(1, ordering: .relaxed) }
        return try body()
    }

    func noteOpen(_ name: String) {
        state.withLock { $0.openInputs.append(name) }
    }

    func noteClosed(_ name: String) {
        state.withLock { state in
            if let index = state.openInputs.firstIndex(of: name) { state.openInputs.remove(at: index) }
        }
    }

    /// Notes how far the current stream is.
    func note(seconds: Double) {
        state.withLock { if !$0.hasSlowSink { $0.progress.seconds = seconds } }
    }

    /// Notes how far a sink is that takes longer than the analysis.
    func note(sinkSeconds: Double) {
        state.withLock {
            $0.hasSlowSink = true
            $0.progress.seconds = sinkSeconds
        }
    }
}

extension Pipeline.AnalyzerEntry {
    func header(_ outputs: AnalyzerOutputs) -> StreamHeader.Analyzer {
        StreamHeader.Analyzer(
            name: name, id: about.id, version: about.version, parameters: settings.parameters, outputs: outputs)
    }
}
