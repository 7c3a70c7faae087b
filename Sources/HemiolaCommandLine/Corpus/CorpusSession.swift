internal import Hemiola
internal import HemiolaEngine

/// Runs the pipelines that share the inputs of a corpus: stops them on a signal, and shows the progress.
struct CorpusSession: Sendable {
    /// Seconds between two updates on a terminal.
    private static let interval = 0.2

    private let pipelines: [Pipeline]
    private let source: CorpusSource
    private let failures: FailureList
    private let console: Console
    private let clock: any MonotonicClock
    private let start: Double
    private let showsBar: Bool

    init(_ pipelines: [Pipeline], _ source: CorpusSource, _ failures: FailureList, console: Console) {
        self.pipelines = pipelines
        self.source = source
        self.failures = failures
        self.console = console
        clock = pipelines.first?.clock ?? SystemClock()
        start = clock.now
        showsBar = ProgressLine.fits(
            standardError: FileDescriptor.standardError.destination, standardOutput: .nowhere,
            terminal: EnvironmentVariable.value("TERM"))
    }

    func run() -> CommandStatus {
        if pipelines.count == 1 { CurrentProcess.useOneArena() }
        let listener = SignalListener()
        do throws(Problem) {
            try startThread(for: "signals and progress") { [self] in handleSignals(from: listener) }
        } catch {
            // Before the first result: a run that a signal does not end in order would leave partial files.
            stop()
            console.error(error.message)
            console.finish()
            return .inputFailed
        }
        let failedSinks = runPipelines()
        listener.finish()
        console.endBar()
        let status = finish(failedSinks: failedSinks, signal: listener.signal)
        console.finish()
        return status
    }

    /// Runs the pipelines: the first on the calling thread, each other on a thread of its own, as far as the system has threads for them. A
    /// sink without a thread ends the run, as any sink that cannot be opened.
    ///
    /// - Returns: The number of sinks that failed.
    private func runPipelines() -> Int {
        var others: [WorkerThread<Int>] = []
        do throws(Problem) {
            for pipeline in pipelines.dropFirst() { others.append(try WorkerThread(for: "a job") { [self] in run(pipeline) }) }
        } catch {
            console.warning(PipelineNotice.fewerJobs(others.count + 1, of: pipelines.count, error).text)
        }
        let failedSinks = pipelines.first.map(run) ?? 0
        return others.reduce(failedSinks) { $0 + $1.join() }
    }

    /// Runs a pipeline on the calling thread.
    ///
    /// - Returns: The number of sinks that failed.
    private func run(_ pipeline: Pipeline) -> Int {
        let printer = NoticePrinter(pipeline, console, saysEnd: false)
        let outcome: RunOutcome = pipeline.run { printer.print($0) }
        // The results of other files would fail as well: the disk is full.
        if outcome.failedSinks > 0 { stop() }
        return outcome.failedSinks
    }

    private func finish(failedSinks: Int, signal: Int32?) -> CommandStatus {
        var outcome = RunOutcome()
        outcome.failedSinks = failedSinks
        var list: String? = failures.path
        do throws(Failure) {
            try failures.finish()
        } catch {
            for line in error.lines { console.error(line) }
            outcome.failedSinks += 1
            list = nil
        }
        let counts = source.counts
        outcome.failedInputs = counts.failed
        if signal != nil || failedSinks > 0 {
            let total = counts.total.map { " of \($0)" } ?? ""
            console.error("ended with \(counts.analyzed + counts.skipped)\(total) results complete; to continue, add --resume")
        } else if counts.done == 0 {
            console.error(source.emptyText)
            outcome.failedInputs = 1
        } else {
            console.remark(CorpusProgress(counts: counts, elapsed: clock.now - start).summary(failures: list))
        }
        return CommandStatus(outcome, signal: signal)
    }

    private var inputsBeingRead: [String] { pipelines.flatMap(\.inputsBeingRead) }

    private func stop() {
        for pipeline in pipelines { pipeline.stop() }
    }

    // MARK: - Signals and progress

    /// Waits for signals and shows the progress, on a separate thread.
    private func handleSignals(from listener: SignalListener) {
        let interval = showsBar ? Self.interval : CorpusProgress.plainInterval
        var signalTime = Double.infinity
        while true {
            let timeout = signalTime < .infinity ? 0.1 : console.verbosity.isQuiet ? 3600 : interval
            switch listener.next(timeout: timeout) {
            case .finish:
                return
            case .signal:
                stop()
                console.endBar()
                signalTime = clock.now
            case .nothing where clock.now >= signalTime + (inputsBeingRead.isEmpty ? Pipeline.grace : Pipeline.readerGrace):
                let inputs = inputsBeingRead.map { PathText.shown($0).onOneLine }.joined(separator: ", ")
                let names = inputs.isEmpty ? "a file" : inputs
                console.error("\(names): did not end after the signal; exiting without it; to continue, add --resume")
                console.finish()
                CurrentProcess.exitAtOnce(CommandStatus.signal(listener.signal ?? 0).rawValue)
            case .nothing:
                guard signalTime == .infinity, !console.verbosity.isQuiet else { continue }
                let text = CorpusProgress(counts: source.counts, elapsed: clock.now - start).text
                if showsBar {
                    let width = FileDescriptor.standardError.columns
                    console.show(bar: text.shortened(to: width - 1, TerminalStyle(environment: EnvironmentVariable.value)))
                } else {
                    console.remark(text)
                }
            }
        }
    }
}
