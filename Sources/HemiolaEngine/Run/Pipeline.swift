public import Hemiola
internal import Synchronization

/// A checked pipeline, which opens nothing until it runs: `registry.assemble(configuration)`.
///
///     let pipeline = try PluginRegistry.standard.assemble(configuration)
///     let outcome = pipeline.run { notice in … }
///
/// Audio runs one way: capture → hop → spectrum → analyzers → row, events → directors → batch ⇒ queue ⇒ sink. Everything up
/// to the queue happens on the thread that calls `run`; each sink has a thread of its own. With several jobs, files are analysed ahead
/// of their turn on threads of their own, and passed to the queues in order.
public final class Pipeline: Sendable {
    /// An input and its capture.
    struct Input: Sendable {
        var name: String
        /// The path as given, where it was given one.
        var path: String?
        var capture: PluginInstance<any Capture>
        /// The path below the folder that is analysed; nil: there is no such folder.
        var relativePath: String?
        /// As in `SourceInput`.
        var fingerprint: String?
        /// Why it cannot be opened, where that is known before the run: it has no result.
        var fault: Problem?
        var policy: FailurePolicy
    }

    /// Where inputs come from while the pipeline runs.
    struct Supply: Sendable {
        var source: any InputSource
        /// Makes the capture of an input.
        var makeInput: @Sendable (PluginSpec) throws(Problem) -> Input
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

        /// The outputs and the values of a stream without sound; nil: the analyzer refuses the format. Only before the run. One that is
        /// external is not started, and has neither.
        func describe(for format: AnalysisFormat) -> (analyzer: StreamHeader.Analyzer, values: [SummaryValue])? {
            let described = analyzer.read { analyzer -> (AnalyzerOutputs, [SummaryValue])? in
                if analyzer is any ExternalAnalyzer { return (AnalyzerOutputs(), []) }
                return (try? analyzer.prepare(format)).map { ($0, analyzer.summary()) }
            }
            return described.flatMap(\.self).map { (header($0), $1) }
        }
    }

    /// A sink, made and not yet opened.
    struct SinkEntry: Sendable {
        var name: String
        var about: PluginDescription
        var sink: PluginInstance<any Sink>
        /// Whether it is a `DirectingSink`.
        var hasDirector: Bool
        var selection: Selection
        /// The items that select values of summaries; empty: all, or it writes none.
        var summaryItems: [String]
        /// The values of summaries that it writes; nil: it writes none.
        var summary: SummarySelection?
        /// Seconds that events are delivered ahead of their time; nil: as soon as they are detected.
        var lead: Double?
        var needs: SinkPlugin.Needs
        var policy: FailurePolicy

        /// The sink, which belongs to the caller from then on.
        func take() throws(Problem) -> sending any Sink {
            return try sink.take()
        }
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

    /// Blocks that wait for a slow sink: from a file four of up to 64 batches, live one second of one batch each.
    private static let offlineBlocks = 4
    private static let liveSeconds = 1.0
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

    private let isStopping = Atomic<Bool>(false)
    /// Whether every input was taken to its end, or as far as it could be read.
    private let isComplete = Atomic<Bool>(false)
    /// Sinks that need nothing more.
    private let closedSinks = Atomic<Int>(0)
    private let position = Atomic<Int64>(0)
    /// Inputs that were analysed, and whose results cannot be written.
    private let lostResults = Atomic<Int>(0)
    private let place = Mutex(PipelineProgress(seconds: 0, duration: nil, streamIndex: 0, streamCount: 0, streamName: ""))
    private let sampleRate = Atomic<Int>(1)
    private let activityCount = Atomic<Int64>(0)
    /// The inputs that are open, and how many threads are inside of a call of their captures.
    private let openInputs = Mutex<[String]>([])
    private let readerCount = Atomic<Int>(0)

    init(
        _ configuration: PipelineConfiguration, batching: Batching, catalog: RecordCatalog, inputs: [Input], supply: Supply? = nil,
        analyzerEntries: [AnalyzerEntry], sinkEntries: [SinkEntry], replay: Replay? = nil, clock: any MonotonicClock
    ) {
        self.configuration = configuration
        self.clock = clock
        self.catalog = catalog
        isLive = inputs.contains { $0.capture.read(\.isLive) ?? false }
        seed = configuration.seed ?? (isLive ? .random(in: 0...Self.largestSeed) : 0)
        self.batching = batching
        self.inputs = inputs
        self.supply = supply
        self.analyzerEntries = analyzerEntries
        self.sinkEntries = sinkEntries
        self.replay = replay
    }

    /// Whether a file is read in real time, by the user's option or because a sink needs it.
    public var isPaced: Bool {
        configuration.isPaced || sinkEntries.contains { $0.needs.realTime }
    }

    /// Whether batches come as time passes.
    public var isRealTime: Bool { isLive || isPaced }

    /// Whether analyzers may process an input in a first pass, if the input allows that.
    var mayLookAhead: Bool { configuration.usesLookAhead ?? !isRealTime }

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

    /// The outputs that the analyzers declare for a stream of this format. Only before the run; opens nothing, except for analyzers that
    /// use something outside of this process.
    ///
    /// - Parameters:
    ///   - format: The format of the stream.
    ///   - startsExternals: Whether an `ExternalAnalyzer` is started for its outputs; false: it is listed without any.
    public func describeAnalyzers(
        for format: StreamFormat, startsExternals: Bool = true
    ) throws(Problem) -> [StreamHeader.Analyzer] {
        var result: [StreamHeader.Analyzer] = []
        for entry in analyzerEntries {
            let format = AnalysisFormat(format, batching: batching, seed: seed)
            let outputs = entry.analyzer.read { analyzer in
                Result { () throws(Problem) in
                    let external = analyzer as? any ExternalAnalyzer
                    if external != nil, !startsExternals { return AnalyzerOutputs() }
                    defer { external?.close() }
                    return try analyzer.prepare(format)
                }
            }
            if let outputs { result.append(entry.header(try outputs.get())) }
        }
        return result
    }

    /// Ends the run, from any thread, at any time: the current stream ends with the reason `interrupted`.
    public func stop() {
        isStopping.store(true, ordering: .releasing)
        supply?.source.cancel()
    }

    /// How far the run is.
    public var progress: PipelineProgress {
        var progress = place.withLock { $0 }
        progress.seconds = Double(position.load(ordering: .relaxed)) / Double(sampleRate.load(ordering: .relaxed))
        return progress
    }

    /// A number that changes while the run reads its source, also one that has no audio yet. It stays the same when the run hangs.
    public var activity: Int64 { activityCount.load(ordering: .relaxed) }

    /// The inputs of which one is being read, and none is between two reads: where this stays so after ``stop()``, a decoder does not end.
    public var inputsBeingRead: [String] { readerCount.load(ordering: .relaxed) > 0 ? openInputs.withLock { $0 } : [] }

    /// Runs all inputs on the calling thread; the sinks get them one after another. Call once.
    ///
    /// - Parameters:
    ///   - replay: Controls of an earlier run, which are applied again.
    ///   - report: Receives the notices of the run, on several threads.
    public func run(
        replaying replay: ControlReplay = ControlReplay(), report: @escaping @Sendable (PipelineNotice) -> Void = { _ in }
    ) -> RunOutcome {
        var outcome = RunOutcome()
        if let sink = sinkEntries.first(where: \.needs.realTime), !isLive, !configuration.isPaced {
            report(.pacing(sink: sink.name))
        }
        let startTime = Int(clock.now + MonotonicTime.wallClockOffset)
        if let (sink, error) = firstUnwritableOutput(startTime: startTime) {
            report(.sinkFailed(sink: sink, error))
            outcome.failedSinks += 1
            return outcome
        }
        let inbox = ControlInbox(capacity: isLive || isPaced ? ControlInbox.liveCapacity : ControlInbox.fileCapacity)
        defer { inbox.close() }
        var sinks: [SinkThread] = []
        var directors: [PipelineDirector] = []
        let scope = makeScope(startTime: startTime)
        for (index, entry) in sinkEntries.enumerated() {
            let context = context(of: index, in: scope, inbox: inbox, report: report)
            let queue = BoundedQueue<StreamItem>(capacity: isLive ? liveBlocks : Self.offlineBlocks, isLive ? .dropOldest : .wait)
            do throws(Problem) {
                let runner = SinkRunner(
                    try entry.take(), context: context, events: entry.selection.adding(types: entry.needs.events.map(\.name)),
                    lead: entry.needs.schedulesEvents ? nil : entry.lead, policy: entry.policy, hasFilePerInput: hasFilePerInput(entry),
                    queue: queue, report: report)
                let director = try runner.open()
                sinks.append(
                    try SinkThread(runner) { [self] in
                        // The next input may arrive much later, or never.
                        if closedSinks.add(1, ordering: .relaxed).newValue == sinkEntries.count { supply?.source.cancel() }
                    })
                if let director { directors.append(PipelineDirector(director, entry.about)) }
            } catch {
                report(.sinkFailed(sink: entry.name, error))
                outcome.failedSinks += 1
                for sink in sinks {
                    sink.queue.abandon()
                    sink.queue.finish()
                    _ = sink.join()
                }
                return outcome
            }
        }
        inbox.setPreparers(
            directors.enumerated().compactMap { index, director in
                (director.director as? any PreparedDirector).map { (index, $0.preparer) }
            })
        let dispatcher = SinkDispatcher(self, sinks: sinks, inbox: inbox)
        if InputScheduler(pipeline: self, dispatcher: dispatcher, directors: directors, replay: replay, report: report).run() {
            isComplete.store(true, ordering: .releasing)
        }
        inbox.close()
        for sink in sinks { sink.queue.finish() }
        let ends = sinks.map { $0.join() }
        outcome = dispatcher.outcome
        outcome.failedInputs += lostResults.load(ordering: .acquiring)
        outcome.failedSinks += ends.count { $0 == .failed }
        outcome.skippedSinks = ends.count { $0 == .skipped }
        for sink in sinks where sink.queue.isSkipped {
            report(.sinkLosses(sink: sink.name, batches: sink.queue.loss.batches))
        }
        if outcome.skippedSinks > 0, ends.allSatisfy({ $0 == .skipped || $0 == .failed }) {
            // Nothing has the results.
            report(.noSinkLeft)
            outcome.failedSinks += 1
        }
        outcome.readerIsGone = ends.contains(.readerIsGone) && !ends.contains(.done)
        outcome.wasStopped = shouldStop
        return outcome
    }

    /// `run` on a thread of its own, for callers that must not block theirs.
    public func run(
        replaying replay: ControlReplay = ControlReplay(), report: @escaping @Sendable (PipelineNotice) -> Void = { _ in }
    ) async -> RunOutcome {
        await withCheckedContinuation { (continuation: CheckedContinuation<RunOutcome, Never>) in
            do throws(Problem) {
                try startThread(for: "the run") { [self] in
                    let outcome: RunOutcome = run(replaying: replay, report: report)
                    continuation.resume(returning: outcome)
                }
            } catch {
                report(.runFailed(error))
                var outcome = RunOutcome()
                outcome.failedInputs = max(1, inputs.count)
                continuation.resume(returning: outcome)
            }
        }
    }

    /// Whether there is, or may be, more than one input.
    var hasSeveralInputs: Bool { supply != nil || inputs.count > 1 }

    /// Whether every line names its file.
    var namesFiles: Bool { supply.map { $0.source.results == .sharedOutput } ?? (inputs.count > 1) }

    /// Whether inputs may be analysed ahead of their turn: a director processes the streams in their order, and so do all sinks in real time.
    var mayRunAhead: Bool { !isRealTime && !sinkEntries.contains(where: \.hasDirector) }

    /// The batch rate is known only when the source is open; the capacity is computed for 48 kHz.
    private var liveBlocks: Int { max(4, Int(Self.liveSeconds * 48_000 / Double(batching.batchFrames))) }

    /// Sinks may keep it for longer than the pipeline.
    private func makeScope(startTime: Int) -> RunScope {
        RunScope(
            startTime: startTime, syncsFiles: configuration.syncsFiles, answersInputs: supply?.source.results == .sharedOutput,
            keepsInterruptedResults: supply?.source.results != .filePerInput,
            isComplete: { [weak self] in self?.isComplete.load(ordering: .acquiring) ?? false }, end: { [weak self] in self?.stop() })
    }

    private func context(
        of index: Int, in scope: RunScope, inbox: ControlInbox, report: @escaping @Sendable (PipelineNotice) -> Void
    ) -> SinkContext {
        let entry = sinkEntries[index]
        let name = entry.name
        // One sink writes to standard output: the one that needs it, else the first that can use it.
        let writer = sinkEntries.firstIndex(where: \.needs.standardOutput) ?? sinkEntries.firstIndex(where: \.needs.spareStandardOutput)
        return SinkContext(
            name: name,
            records: RecordChoice(
                catalog: catalog, selection: entry.selection, summary: entry.summary,
                mayUseStandardOutput: writer == nil || writer == index),
            timing: SinkTiming(
                isLive: isLive || isPaced, clock: clock, lead: entry.needs.schedulesEvents ? entry.lead ?? 0 : 0),
            controls: inbox.port(of: index),
            messages: SinkMessages(
                warn: { report(.sinkWarning(sink: name, $0)) }, inform: { report(.sinkInformation(sink: name, $0, figure: $1)) },
                announce: { report(.sinkAddress(sink: name, $0, figure: $1)) }, relay: { report(.sinkOutput(sink: name, $0)) }),
            run: scope)
    }

    /// Notes an input that was analysed, and whose result cannot be written.
    func noteLostResult() {
        lostResults.add(1, ordering: .acquiringAndReleasing)
    }

    // MARK: - For the analysis thread

    var shouldStop: Bool { isStopping.load(ordering: .acquiring) }

    func note(_ source: StreamSource, index: Int) {
        sampleRate.store(source.format.sampleRate, ordering: .relaxed)
        position.store(0, ordering: .relaxed)
        place.withLock {
            $0 = PipelineProgress(
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
        openInputs.withLock { $0.append(name) }
    }

    func noteClosed(_ name: String) {
        openInputs.withLock { names in
            if let index = names.firstIndex(of: name) { names.remove(at: index) }
        }
    }

    func note(frame: Int64) {
        position.store(frame, ordering: .relaxed)
    }
}

extension Pipeline.AnalyzerEntry {
    func header(_ outputs: AnalyzerOutputs) -> StreamHeader.Analyzer {
        StreamHeader.Analyzer(
            name: name, id: about.id, version: about.version,
            parameters: settings.parameters.map { ($0.key, $0.value) }, outputs: outputs)
    }
}
