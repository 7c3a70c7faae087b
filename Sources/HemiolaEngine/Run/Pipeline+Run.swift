internal import Hemiola

extension Pipeline {
    /// Blocks that wait for a slow sink: from a file four of up to 64 batches, live one second of one batch each.
    private static let offlineBlocks = 4
    private static let liveSeconds = 1.0

    /// Runs all inputs: on the calling thread, and on those of further jobs. Call once.
    ///
    /// - Parameters:
    ///   - replay: Controls of an earlier run, which are applied again.
    ///   - report: Receives the notices of the run, on several threads.
    public func run(
        replaying replay: ControlReplay = ControlReplay(), report: @escaping @Sendable (PipelineNotice) -> Void = { _ in }
    ) -> RunOutcome {
        var outcome = RunOutcome()
        if let sink = sinkEntries.first(where: \.needs.realTime), !isLive, !configuration.isPaced {
            report(.warning("\(sink.name) requires real time: processing at real-time speed"))
        }
        let startTime = Int(clock.now + MonotonicTime.wallClockOffset)
        if let (sink, error) = firstUnwritableOutput(startTime: startTime) {
            report(.sinkFailed(sink: sink, error))
            outcome.failedSinks += 1
            return outcome
        }
        let scope = makeScope(startTime: startTime, isReplay: self.replay != nil || !replay.isEmpty)
        let jobCount = jobCount
        if jobCount > 1, supply?.source.results == .filePerInput, sinkEntries.allSatisfy(hasFilePerInput) {
            let outcomes = runJobs(jobCount, report) { [self] in
                let outcome = run(1, in: scope, replaying: replay, report)
                // The results of other inputs would fail as well: the disk is full.
                if outcome.failedSinks > 0 { stop() }
                return outcome
            }
            for job in outcomes { outcome.add(job) }
        } else {
            outcome = run(jobCount, in: scope, replaying: replay, report)
        }
        outcome.failedInputs += lostResults
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

    // MARK: - Jobs

    /// How many inputs are analysed at the same time: a director processes the streams in their order, and so do all sinks in real time.
    private var jobCount: Int {
        if isRealTime || sinkEntries.contains(where: \.hasDirector) { return 1 }
        return supply == nil ? min(configuration.jobCount, max(1, inputs.count)) : configuration.jobCount
    }

    /// Runs one job on this thread and each other one on a thread of its own, as far as the system has threads for them.
    private func runJobs<Result: Sendable>(
        _ count: Int, _ report: @Sendable (PipelineNotice) -> Void, _ run: @escaping @Sendable () -> Result
    ) -> [Result] {
        var others: [WorkerThread<Result>] = []
        do {
            while others.count < count - 1 { others.append(try WorkerThread(for: "a job", run)) }
        } catch {
            report(.warning("\(others.count + 1) of \(count) jobs run: \(error.message)"))
        }
        return [run()] + others.map { $0.join() }
    }

    // MARK: - Sinks

    /// Opens the sinks, runs jobs for them, and closes them.
    private func run(
        _ jobCount: Int, in scope: RunScope, replaying replay: ControlReplay, _ report: @escaping @Sendable (PipelineNotice) -> Void
    ) -> RunOutcome {
        let inbox = ControlInbox(capacity: isRealTime ? ControlInbox.liveCapacity : ControlInbox.fileCapacity)
        defer { inbox.close() }
        let queues = sinkEntries.map { _ in
            BoundedQueue(capacity: isLive ? liveBlocks : Self.offlineBlocks, isLive ? .dropOldest : .wait)
        }
        var sinks: [SinkThread] = []
        var directors: [PipelineDirector] = []
        for (index, entry) in sinkEntries.enumerated() {
            let context = context(of: index, in: scope, inbox: inbox, report: report)
            do {
                let runner = SinkRunner(
                    try entry.sink.take(), of: entry, context: context, hasFilePerInput: hasFilePerInput(entry), queue: queues[index],
                    report: report)
                let director = try runner.open()
                sinks.append(
                    try SinkThread(runner) { [supply] in
                        // The next input may arrive much later, or never.
                        if !queues.contains(where: \.hasReader) { supply?.source.cancel() }
                    })
                if let director { directors.append(PipelineDirector(director, entry.about)) }
            } catch {
                report(.sinkFailed(sink: entry.name, error))
                for sink in sinks {
                    sink.queue.abandon()
                    sink.queue.finish()
                    _ = sink.join()
                }
                var outcome = RunOutcome()
                outcome.failedSinks = 1
                outcome.isMisconfigured = error.place != nil
                return outcome
            }
        }
        inbox.setPreparers(
            directors.enumerated().compactMap { index, director in
                (director.director as? any PreparedDirector).map { (index, $0.preparer) }
            })
        let dispatcher = SinkDispatcher(self, sinks: sinks, inbox: inbox)
        if let recording = self.replay {
            RecordingPlayer(pipeline: self, setup: recording, dispatcher: dispatcher, directors: directors, report: report).play()
        } else if jobCount == 1 {
            let job = AnalysisJob(self, directors: directors, replay: replay, report: report)
            while !dispatcher.isOver, let input = nextInput() { job.analyze(input, for: dispatcher) }
        } else {
            let turns = InputTurns(dispatcher, jobCount: jobCount)
            _ = runJobs(jobCount, report) { [self] in
                let job = AnalysisJob(self, replay: replay, report: report)
                while let (input, turn) = turns.next(of: self) { job.analyze(input, for: turn) }
            }
        }
        if !dispatcher.isOver { noteComplete() }
        inbox.close()
        return close(sinks, dispatcher.outcome, report)
    }

    /// Closes the sinks, and completes the outcome.
    private func close(_ sinks: [SinkThread], _ outcome: RunOutcome, _ report: @Sendable (PipelineNotice) -> Void) -> RunOutcome {
        var outcome = outcome
        for sink in sinks { sink.queue.finish() }
        let ends = sinks.map { $0.join() }
        outcome.failedSinks += ends.count { $0 == .failed || $0 == .misconfigured }
        outcome.isMisconfigured = ends.contains(.misconfigured)
        outcome.skippedSinks = ends.count { $0 == .skipped }
        for sink in sinks where sink.queue.isSkipped {
            report(.warning("\(sink.name): batches that were not written: \(sink.queue.loss.batches)"))
        }
        if outcome.skippedSinks > 0, !ends.contains(where: { $0 == .done || $0 == .readerIsGone }) {
            // Nothing has the results.
            report(.runFailed(Problem("all sinks have failed; the rest was not analysed")))
            outcome.failedSinks += 1
        }
        outcome.readerIsGone = ends.contains(.readerIsGone) && !ends.contains(.done)
        return outcome
    }

    /// The batch rate is known only when the source is open; the capacity is computed for 48 kHz.
    private var liveBlocks: Int { max(4, Int(Self.liveSeconds * 48_000 / Double(batching.batchFrames))) }

    /// Sinks may keep it for longer than the pipeline.
    private func makeScope(startTime: Int, isReplay: Bool) -> RunScope {
        RunScope(
            startTime: startTime, syncsFiles: configuration.syncsFiles, answersInputs: supply?.source.results == .sharedOutput,
            keepsInterruptedResults: supply?.source.results != .filePerInput, isReplay: isReplay,
            isComplete: { [weak self] in self?.isComplete ?? false }, isStopping: { [weak self] in self?.shouldStop ?? true },
            note: { [weak self] in self?.note(sinkSeconds: $0) }, end: { [weak self] in self?.stop() })
    }

    private func context(
        of index: Int, in scope: RunScope, inbox: ControlInbox, report: @escaping @Sendable (PipelineNotice) -> Void
    ) -> SinkContext {
        let entry = sinkEntries[index]
        let name = entry.name
        let writer = standardOutputWriter
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
}

extension RunOutcome {
    /// Adds that of another job, which had sinks of its own.
    fileprivate mutating func add(_ job: RunOutcome) {
        streams += job.streams
        inputs += job.inputs
        failedInputs += job.failedInputs
        failedSinks += job.failedSinks
        isMisconfigured = isMisconfigured || job.isMisconfigured
        skippedInputs += job.skippedInputs
        skippedSinks += job.skippedSinks
        readerIsGone = readerIsGone || job.readerIsGone
    }
}
