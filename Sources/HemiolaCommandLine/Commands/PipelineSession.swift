internal import Hemiola
internal import HemiolaEngine
internal import HemiolaSystem

/// Runs a pipeline on the command line: stops it on a signal, prints its notices and shows its progress.
struct PipelineSession {
    /// Time limit for sinks to finish after a signal, in seconds.
    private static let grace = 5.0

    private let pipeline: Pipeline
    private let console: Console
    private let replay: ControlReplay
    private let showsBar: Bool

    /// - Parameters:
    ///   - usesStandardOutput: Whether records go to standard output.
    ///   - replay: Recorded controls to replay.
    ///   - showsProgress: Whether the run has an end, so that a progress bar makes sense.
    init(
        _ pipeline: Pipeline, usesStandardOutput: Bool, replay: ControlReplay = ControlReplay(), console: Console,
        showsProgress: Bool = true
    ) {
        self.pipeline = pipeline
        self.replay = replay
        self.console = console
        showsBar =
            showsProgress && !console.verbosity.isQuiet
            && ProgressLine.fits(
                standardError: System.destination(of: System.standardError),
                standardOutput: usesStandardOutput ? System.destination(of: System.standardOutput) : .nowhere,
                terminal: EnvironmentVariable.value("TERM"))
    }

    func run() -> CommandStatus {
        let configuration = pipeline.configuration
        let notifier = ServiceNotifier(pipeline)
        if configuration.jobCount == 1 || configuration.captures.count == 1 { System.useOneArena() }
        printPipeline()
        let listener = System.SignalListener()
        startThread { [self] in handleSignals(from: listener, notifier) }
        let printer = NoticePrinter(pipeline, console)
        let outcome = pipeline.run(replaying: replay) { notice in
            notifier?.count(notice)
            printer.print(notice)
        }
        listener.finish()
        notifier?.stop()
        console.endBar()
        printer.finish()
        console.finish()
        return CommandStatus(outcome, signal: listener.signal)
    }

    private func printPipeline() {
        let configuration = pipeline.configuration
        let count = configuration.captures.count
        let files = count == 0 ? "files as they are found" : "\(count) file\(count == 1 ? "" : "s")"
        let inputs = pipeline.recordingName ?? files
        console.note(
            "\(pipeline.analyzerNames.joined(separator: ", ")) to \(pipeline.sinkNames.joined(separator: ", ")); "
                + "\(inputs), \(configuration.batchFrames) frames per batch")
        guard console.verbosity.detail >= 2 else { return }
        for (name, settings) in pipeline.settings {
            console.note("\(name)\(settings.isEmpty ? " has no settings" : ": \(settings)")", detail: 2)
        }
    }

    // MARK: - Signals and progress

    /// Waits for signals, draws the progress bar and notifies the service manager, on a separate thread.
    private func handleSignals(from listener: System.SignalListener, _ notifier: ServiceNotifier?) {
        var meter = ProgressMeter(start: MonotonicTime.now)
        // Made with the first line: comparing strings takes more of a short run than all else on this thread.
        lazy var style = ProgressLine.Style(environment: EnvironmentVariable.value)
        var showsBar = showsBar
        var deadline = Double.infinity
        while true {
            let timeout = showsBar ? ProgressLine.interval : deadline - MonotonicTime.now
            let notification = notifier?.update(at: MonotonicTime.now) ?? .infinity
            switch listener.next(timeout: min(timeout, notification, 3600)) {
            case .finish:
                return
            case .signal(let number):
                pipeline.stop()
                notifier?.stop()
                showsBar = false
                console.endBar()
                console.note("ending on signal \(number)")
                deadline = MonotonicTime.now + Self.grace
            case .nothing where MonotonicTime.now >= deadline:
                console.error("a sink did not finish within \(Int(Self.grace)) s; exiting without it")
                console.finish()
                System.exitAtOnce(.signal(listener.signal ?? 0))
            case .nothing:
                guard showsBar, let line = meter.line(for: pipeline.progress, at: MonotonicTime.now) else { continue }
                console.show(bar: line.rendered(width: System.columns(of: System.standardError) ?? 80, style: style))
            }
        }
    }
}
