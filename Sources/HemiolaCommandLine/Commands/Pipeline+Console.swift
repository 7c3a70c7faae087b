internal import Hemiola
internal import HemiolaEngine

extension Pipeline {
    /// Time limit for sinks to finish after a signal, in seconds.
    static let grace = 5.0
    /// Time limit for a reader to return after a signal, in seconds. Nothing stops a decoder in the middle of a call.
    private static let readerGrace = 1.0

    /// Runs the pipeline: stops it on a signal, prints its notices and shows its progress.
    ///
    /// - Parameters:
    ///   - controls: Recorded controls to replay.
    ///   - showsProgress: Whether the run has an end, so that a progress bar makes sense.
    ///   - saysEnd: Whether the end of an input is said: a view on the terminal would end without a word.
    ///   - pictureRate: The pictures in a second of a film, in which its progress is measured; nil: the run makes none.
    ///   - grace: Seconds for sinks to finish after a signal.
    ///   - corpus: The progress and the end of a run with one result per input; nil: of any other run.
    func run(
        on console: Console, replaying controls: ControlReplay = ControlReplay(), showsProgress: Bool = true, saysEnd: Bool = false,
        pictureRate: Double? = nil, grace: Double = grace, of corpus: CorpusReport? = nil
    ) -> CommandStatus {
        let showsBar =
            showsProgress && !console.verbosity.isQuiet
            && ProgressLine.fits(
                standardError: FileDescriptor.standardError.destination,
                standardOutput: usesStandardOutput ? FileDescriptor.standardOutput.destination : .nowhere,
                terminal: EnvironmentVariable.value("TERM"))
        let notifier = corpus == nil ? ServiceNotifier(self) : nil
        if configuration.jobCount == 1 || configuration.captures.count == 1 { CurrentProcess.useOneArena() }
        printSettings(on: console)
        let listener = SignalListener()
        do {
            try startThread(for: "signals and progress") { [self] in
                handleSignals(
                    from: listener, notifier, on: console, showsBar: showsBar,
                    ProgressMeter(start: clock.now, pictureRate: pictureRate), grace: grace, corpus)
            }
        } catch {
            // Before anything is written: a run that a signal does not end in order would leave partial output.
            stop()
            notifier?.stop()
            console.error(error.message)
            console.finish()
            return .inputFailed
        }
        let printer = NoticePrinter(self, console, saysEnd: saysEnd)
        let outcome = run(replaying: controls) { notice in printer.print(notice) }
        listener.finish()
        notifier?.stop()
        console.endBar()
        printer.finish()
        let status = corpus?.end(outcome, signal: listener.signal, on: console) ?? CommandStatus(outcome, signal: listener.signal)
        if summary != nil, max(outcome.inputs, configuration.captures.count) > 1,
            FileDescriptor.standardError.isTerminal
        {
            console.remark(outcome.text(of: configuration.captures.count))
        }
        console.finish()
        return status
    }

    private func printSettings(on console: Console) {
        let count = configuration.captures.count
        let files = count == 0 ? "files as they are found" : "\(count) file\(count == 1 ? "" : "s")"
        let inputs = recordingName ?? files
        console.note(
            "\(analyzerNames.joined(separator: ", ")) to \(sinkNames.joined(separator: ", ")); "
                + "\(inputs), \(configuration.batchFrames) frames per batch")
        guard console.verbosity.detail >= 2 else { return }
        for analyzer in (try? describeAnalyzers(for: PluginPage.format)) ?? [] {
            // In the syntax of a SPEC, with all defaults.
            let settings = analyzer.parameters.filter { $0.value != .none }.map { "\($0.key)=\($0.value.text)" }.joined(separator: ",")
            console.note("\(analyzer.name)\(settings.isEmpty ? " has no settings" : ": \(settings)")", detail: 2)
        }
    }

    // MARK: - Signals and progress

    /// Waits for signals, draws the progress bar and notifies the service manager, on a separate thread.
    private func handleSignals(
        from listener: SignalListener, _ notifier: ServiceNotifier?, on console: Console, showsBar: Bool, _ meter: ProgressMeter,
        grace: Double,
        _ corpus: CorpusReport?
    ) {
        // Where no bar can be shown, that of a corpus is a line now and then.
        var interval = showsBar ? ProgressLine.interval : .infinity
        if corpus != nil, !showsBar, !console.verbosity.isQuiet { interval = CorpusReport.plainInterval }
        var meter = meter
        // Made with the first line: comparing strings takes more of a short run than all else on this thread.
        lazy var style = TerminalStyle(environment: EnvironmentVariable.value)
        var signalTime = Double.infinity
        while true {
            let notification = notifier?.update() ?? .infinity
            switch listener.next(timeout: min(interval, notification, 3600)) {
            case .finish:
                return
            case .signal(let number):
                stop()
                notifier?.stop()
                console.endBar()
                console.note("ending on signal \(number)")
                signalTime = clock.now
                interval = 0.1
            case .nothing:
                if signalTime < .infinity {
                    exitIfLate(
                        after: signalTime, grace, of: listener, on: console, hint: corpus == nil ? "" : "; to continue, add --resume")
                    continue
                }
                let width = FileDescriptor.standardError.columns
                if let corpus {
                    let text = corpus.progress
                    showsBar ? console.show(bar: text.shortened(to: width - 1, style)) : console.remark(text)
                } else if showsBar, let line = meter.line(for: progress, at: clock.now) {
                    console.show(bar: line.rendered(width: width, style: style))
                }
            }
        }
    }

    /// Ends the process where a reader or a sink takes too long to end after a signal.
    private func exitIfLate(after signalTime: Double, _ grace: Double, of listener: SignalListener, on console: Console, hint: String) {
        let inputs = inputsBeingRead.map { PathText.shown($0).onOneLine }
        let limit = inputs.isEmpty ? grace : Self.readerGrace
        guard clock.now >= signalTime + limit else { return }
        let late = inputs.isEmpty ? "a sink did not finish" : "\(inputs.joined(separator: ", ")): the reader did not stop"
        console.error("\(late) within \(Int(limit)) s; exiting without it\(hint)")
        console.finish()
        CurrentProcess.exitAtOnce(CommandStatus.signal(listener.signal ?? 0).rawValue)
    }
}

extension RunOutcome {
    /// The line for the end of a run over several inputs.
    ///
    /// - Parameter total: The number of inputs, where it is known before the run.
    fileprivate func text(of total: Int) -> String {
        let failed = failedInputs + skippedInputs
        return "\(inputs - failed) of \(max(inputs, total)) files analysed" + (failed > 0 ? "; \(failed) failed or incomplete" : "")
            + (wasStopped ? "; the run was interrupted" : "")
    }
}
