public import Hemiola
public import HemiolaSignal
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// A pipeline that was checked and touches nothing until it runs: `registry.assemble(configuration)`.
///
///     let pipeline = try PluginRegistry.standard.assemble(configuration)
///     let outcome = await pipeline.run { notice in … }
///
/// Audio runs one way: capture → hop → spectrum → analyzers → row, events → directors → batch ⇒ mailbox ⇒ sink. Everything up
/// to the mailbox happens on one thread; each sink has a thread of its own. With several jobs, files are analysed ahead of their
/// turn on threads of their own, and handed to the mailboxes in order.
public final class Pipeline: Sendable {
    /// An input and how to make its capture.
    struct Input: Sendable {
        var name: String
        /// The path as given, where it was given one.
        var path: String?
        var make: @Sendable () throws(ConfigurationError) -> any Capture
    }

    /// An analyzer and how to make it.
    struct Part: Sendable {
        var name: String
        var about: PluginDescription
        var settings: SettingValues
        var make: @Sendable () throws(ConfigurationError) -> any Analyzer
    }

    /// A sink, made and not yet opened.
    struct Outlet: Sendable {
        var name: String
        var sink: any Sink
        var selection: Selection
        /// Seconds that events are told ahead of their time; nil: as soon as they are known.
        var lead: Double?
        var needs: SinkPlugin.Needs
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
    let isLive: Bool
    let batching: Batching
    let inputs: [Input]
    let parts: [Part]
    let outlets: [Outlet]

    private let isStopping = Atomic<Bool>(false)
    /// Whether every input was taken to its end, or as far as it could be read.
    private let isComplete = Atomic<Bool>(false)
    private let position = Atomic<Int64>(0)
    private let place = Mutex(PipelineProgress(seconds: 0, duration: nil, streamIndex: 0, streamCount: 0, streamName: ""))
    private let sampleRate = Atomic<Int>(1)

    init(_ configuration: PipelineConfiguration, batching: Batching, inputs: [Input], parts: [Part], outlets: [Outlet]) {
        self.configuration = configuration
        isLive = inputs.contains { (try? $0.make())?.isLive ?? false }
        seed = configuration.seed ?? (isLive ? .random(in: 0...Self.largestSeed) : 0)
        self.batching = batching
        self.inputs = inputs
        self.parts = parts
        self.outlets = outlets
    }

    /// Whether the input is held back to real time: because the user asked for it, or because a sink needs it.
    public var isPaced: Bool {
        configuration.isPaced || outlets.contains { $0.needs.realTime }
    }

    /// The names of the analyzers, in order.
    public var analyzerNames: [String] { parts.map(\.name) }

    /// The names of the sinks, in order.
    public var sinkNames: [String] { outlets.map(\.name) }

    /// What the analyzers would declare for a stream of this format. Touches nothing outside.
    public func describeAnalyzers(for format: StreamFormat) throws(AnalyzerError) -> [StreamHeader.Analyzer] {
        var result: [StreamHeader.Analyzer] = []
        for part in parts {
            guard let analyzer = try? part.make() else { continue }
            let outputs = try analyzer.prepare(AnalysisFormat(format, batching: batching, seed: seed))
            result.append(part.header(outputs))
        }
        return result
    }

    /// Ends the run, from any thread, at any time: the stream under way gets its end, with the reason `interrupted`.
    public func stop() {
        isStopping.store(true, ordering: .releasing)
    }

    /// How far the run is.
    public var progress: PipelineProgress {
        var progress = place.withLock { $0 }
        progress.seconds = Double(position.load(ordering: .relaxed)) / Double(sampleRate.load(ordering: .relaxed))
        return progress
    }

    /// Runs all inputs; the sinks get them one after another. Call once.
    ///
    /// - Parameters:
    ///   - replay: Controls to be obeyed again.
    ///   - report: Hears what befalls the run, from several threads.
    public func run(
        replaying replay: ControlReplay = ControlReplay(), report: @escaping @Sendable (PipelineNotice) -> Void = { _ in }
    ) async -> RunOutcome {
        var outcome = RunOutcome()
        if let needy = outlets.first(where: \.needs.realTime), !isLive, !configuration.isPaced {
            report(.pacing(sink: needy.name))
        }
        if configuration.jobCount > 1, inputs.count > 1, let reason = reasonForOneAtATime {
            report(.oneAtATime(wished: configuration.jobCount, reason))
        }
        let inbox = ControlInbox(capacity: isLive || isPaced ? ControlInbox.liveCapacity : ControlInbox.fileCapacity)
        let runners = makeRunners(inbox: inbox, report: report)
        if let first = runners.first, let (sink, error) = firstUnwritableOutput(startTime: first.context.startTime) {
            report(.sinkFailed(sink: sink, error))
            outcome.failedSinks += 1
            for runner in runners { runner.dismiss() }
            inbox.close()
            return outcome
        }
        for (index, runner) in runners.enumerated() {
            guard let error = await runner.open() else { continue }
            report(.sinkFailed(sink: runner.context.name, error))
            outcome.failedSinks += 1
            for other in runners[..<index] { await other.closeUnused() }
            for other in runners[index...] { other.dismiss() }
            inbox.close()
            return outcome
        }
        let analysis = AnalysisThread()
        let ends = await withTaskGroup(of: SinkRunner.Outcome.self) { group in
            for runner in runners { group.addTask { await runner.run() } }
            let started = outcome
            outcome = await analysis.perform {
                let desk = SinkDesk(self, runners: runners, inbox: inbox, outcome: started, report: report)
                if PipelineRun(pipeline: self, desk: desk, replay: replay).run() { isComplete.store(true, ordering: .releasing) }
                inbox.close()
                return desk.outcome
            }
            for runner in runners { runner.mailbox.finish() }
            return await group.reduce(into: []) { $0.append($1) }
        }
        analysis.stop()
        outcome.failedSinks += ends.count { $0 == .failed }
        outcome.readerIsGone = ends.contains(.readerIsGone) && !ends.contains(.done)
        outcome.wasStopped = shouldStop
        return outcome
    }

    /// Why inputs cannot be analysed ahead of their turn; nil when they can.
    var reasonForOneAtATime: OneAtATimeReason? {
        // A director hears the streams in their order, and so does everybody whose time is real.
        if isLive { return .live }
        if isPaced { return .pacing }
        return outlets.first { $0.sink is any DirectingSink }.map { .directing(sink: $0.name) }
    }

    private func makeRunners(
        inbox: ControlInbox, report: @escaping @Sendable (PipelineNotice) -> Void
    ) -> [SinkRunner] {
        // One sink has standard output: whoever needs it, else the first who would use it.
        let startTime = Int(time(nil))
        let writer = outlets.firstIndex(where: \.needs.standardOutput) ?? outlets.firstIndex(where: \.needs.spareStandardOutput)
        return outlets.enumerated().map { index, outlet in
            let name = outlet.name
            // Batches per second are known only once the source is open; 48 kHz is a fair guess for the room to keep.
            let liveBlocks = max(4, Int(Self.liveSeconds * 48_000 / Double(batching.batchFrames)))
            return SinkRunner(
                outlet.sink,
                context: SinkContext(
                    name: name, selection: outlet.selection, isLive: isLive || isPaced,
                    mayUseStandardOutput: writer == nil || writer == index, controls: inbox.port(forSink: index),
                    warn: { report(.sinkRemark(sink: name, $0)) }, endRun: { [weak self] in self?.stop() },
                    startTime: startTime, syncsFiles: configuration.syncsFiles,
                    isRunComplete: { [weak self] in self?.isComplete.load(ordering: .acquiring) ?? false }),
                events: outlet.needs.everyEvent ? .all : outlet.selection, lead: outlet.lead,
                mailbox: Mailbox(capacity: isLive ? liveBlocks : Self.offlineBlocks, isLossless: !isLive), report: report)
        }
    }

    // MARK: - For the analysis thread

    var shouldStop: Bool { isStopping.load(ordering: .acquiring) }

    func note(_ source: StreamSource, index: Int) {
        sampleRate.store(source.format.sampleRate, ordering: .relaxed)
        position.store(0, ordering: .relaxed)
        place.withLock {
            $0 = PipelineProgress(
                seconds: 0, duration: source.duration, streamIndex: index, streamCount: inputs.count, streamName: source.name)
        }
    }

    func note(frame: Int64) {
        position.store(frame, ordering: .relaxed)
    }
}

extension Pipeline.Part {
    func header(_ outputs: AnalyzerOutputs) -> StreamHeader.Analyzer {
        StreamHeader.Analyzer(
            name: name, id: about.id, version: about.version,
            parameters: settings.parameters.map { ($0.key, $0.value) }, outputs: outputs)
    }
}

/// The thread that everything from the capture to the batch happens on.
private actor AnalysisThread {
    private let executor = ThreadExecutor()

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    func perform<Result: Sendable>(_ body: @Sendable () -> Result) -> Result {
        body()
    }

    nonisolated func stop() {
        executor.stop()
    }
}
