import Hemiola
import HemiolaEngine
import HemiolaTesting
import LevelsAnalyzer
import TestSupport
import Testing

/// Stop, progress, real-time speed and look-ahead.
@Suite(.mayNotHang) struct RunTests {
    // MARK: - Stop

    @Test(arguments: [false, true])
    func `stop: the stream ends with the audio that was read`(isLive: Bool) async throws {
        let sink = CollectingSink()
        let running = Shared<Pipeline?>(nil)
        let trial = Trial(
            [silence(batches: 3), .samples([0, 0]), .call { running.value?.stop() }, .idle(), silence(batches: 1000)],
            isLive: isLive, analyzers: [.witness()], sinks: [.collecting(sink)])
        let pipeline = try trial.pipeline()
        running.value = pipeline
        defer { running.value = nil }
        let outcome = await pipeline.run()
        let stream = sink.streams[0]
        #expect(stream.summary?.reason == .interrupted)
        #expect(stream.summary?.frames == 3074)
        #expect(stream.batches.map(\.frameCount) == [1024, 1024, 1024, 2])
        #expect(stream.analyzerEvents("last").count == 1)
        #expect(outcome.wasStopped)
        #expect(sink.calls.last == .close)
    }

    @Test func `stop: no further file is opened`() async throws {
        let log = Log<String>()
        let sink = CollectingSink()
        let running = Shared<Pipeline?>(nil)
        var trial = Trial([], sinks: [.collecting(sink)])
        trial.captures = [
            .scripted(log: { log.append($0) }, [silence(batches: 1), .call { running.value?.stop() }, silence(batches: 1)])
        ]
        trial.configuration.captures = [PluginSpec("scripted"), PluginSpec("scripted")]
        let pipeline = try trial.pipeline()
        running.value = pipeline
        defer { running.value = nil }
        let outcome = await pipeline.run()
        #expect(outcome.streams == 1)
        #expect(log.items == ["open", "close"])
    }

    /// Whether the run was complete when its sink was closed.
    private func completeness(_ steps: [CaptureStep], jobs: Int = 1, stopping running: Shared<Pipeline?>) async throws -> [Bool] {
        let log = Log<Bool>()
        let sink = CollectingSink(before: { call, sink in
            if call == .close, let context = sink.context { log.append(context.run.isComplete) }
        })
        var trial = Trial([], sinks: [.collecting(sink)])
        trial.captures = [.scripted(as: "first", [silence(batches: 1)]), .scripted(as: "second", steps)]
        trial.configuration.captures = [PluginSpec("first"), PluginSpec("second")]
        trial.configuration.jobCount = jobs
        let pipeline = try trial.pipeline()
        running.value = pipeline
        defer { running.value = nil }
        _ = await pipeline.run()
        return log.items
    }

    @Test(arguments: [1, 2]) func `complete run: reported to sinks before they are closed`(jobs: Int) async throws {
        let running = Shared<Pipeline?>(nil)
        #expect(try await completeness([silence(batches: 2)], jobs: jobs, stopping: running) == [true])
        // An input that fails counts as processed up to its error.
        let failing: [CaptureStep] = [silence(batches: 1), .failure(Problem("the file is damaged"))]
        #expect(try await completeness(failing, jobs: jobs, stopping: running) == [true])
    }

    @Test func `run that was stopped: not complete`() async throws {
        let running = Shared<Pipeline?>(nil)
        let steps: [CaptureStep] = [silence(batches: 1), .call { running.value?.stop() }, .idle(), silence(batches: 1)]
        #expect(try await completeness(steps, stopping: running) == [false])
    }

    @Test func `stop before the run: sinks are opened and closed only`() async throws {
        let sink = CollectingSink()
        let pipeline = try Trial([silence(batches: 1)], sinks: [.collecting(sink)]).pipeline()
        pipeline.stop()
        let outcome = await pipeline.run()
        #expect(outcome.wasStopped && outcome.streams == 0)
        #expect(sink.calls == [.open, .close])
    }

    // MARK: - Progress

    @Test func `progress: the input and its position`() async throws {
        let seen = Log<PipelineProgress>()
        let running = Shared<Pipeline?>(nil)
        var trial = Trial([], isLive: true)
        trial.captures = [
            .scripted(
                duration: 2, [silence(batches: 43), .call { if let now = running.value?.progress { seen.append(now) } }, .idle()])
        ]
        trial.configuration.captures = ["one", "two"].map { PluginSpec("scripted", primary: .text($0)) }
        let pipeline = try trial.pipeline()
        running.value = pipeline
        defer { running.value = nil }
        _ = await pipeline.run()
        #expect(seen.items.map(\.streamName) == ["one", "two"])
        #expect(seen.items.map(\.streamIndex) == [0, 1])
        #expect(seen.items.allSatisfy { $0.streamCount == 2 && $0.duration == 2 })
    }

    // MARK: - Real-time speed

    @Test func `sink that needs real time: the file is read at real-time speed, without loss`() async throws {
        let sink = CollectingSink()
        let notices = Notices()
        let music = TestSignal.noise(seed: 1, frames: 13_230)
        var trial = Trial(
            [.samples(music)], analyzers: [.witness()], sinks: [.collecting(sink, needs: SinkPlugin.Needs(realTime: true))])
        let clock = VirtualClock()
        trial.clock = clock
        let pipeline = try trial.pipeline()
        #expect(pipeline.isPaced)
        let start = clock.now
        _ = await pipeline.run { notices.append($0) }
        #expect(abs(clock.now - start - 13_230.0 / 44_100) < 0.001)
        #expect(notices.warnings("collecting requires real time") == 1)
        #expect(sink.context?.timing.isLive == true)
        #expect(sink.streams[0].header.isLive == false)
        #expect(sink.streams[0].blocks == Array(repeating: 1, count: 13))
        let unpaced = try await Trial([.samples(music)], analyzers: [.witness()]).stream()
        #expect(sink.streams[0].batches == unpaced.batches)
    }

    @Test func `live: the capture is not slowed down`() async throws {
        let notices = Notices()
        let sink = CollectingSink()
        var trial = Trial(
            [silence(batches: 43 * 100)], isLive: true, sinks: [.collecting(sink, needs: SinkPlugin.Needs(realTime: true))])
        let clock = VirtualClock()
        trial.clock = clock
        let start = clock.now
        try await trial.run(report: notices)
        #expect(clock.now == start)
        #expect(notices.count("warning") == 0)
    }

    // MARK: - Look-ahead

    private func lookingAhead(_ capture: CapturePlugin, _ sink: CollectingSink) -> Trial {
        var trial = Trial([], analyzers: [.witness(), .levels], sinks: [.collecting(sink)])
        trial.captures = [capture]
        trial.configuration.usesLookAhead = true
        return trial
    }

    @Test func `look-ahead: two passes over the whole input`() async throws {
        let log = Log<String>()
        let sink = CollectingSink()
        let music = TestSignal.noise(seed: 4, frames: 2500)
        let steps: [CaptureStep] = [.samples(music), .gap(Gap(frames: 50, reason: .frozen)), .idle(), .samples(music, fragment: 100)]
        try await lookingAhead(.scripted(isRewindable: true, log: { log.append($0) }, steps), sink).run()
        #expect(log.items == ["open", "rewind", "close"])
        #expect(sink.streams.count == 1)
        let stream = sink.streams[0]
        // The hops of 5050 frames: the first pass takes the gap for silence.
        #expect(stream.value("witness", "first_pass") == [5, 5, 5, 5, 5, 5])
        // Other features are equal to those of a run with one pass.
        let plain = try await Trial(steps, analyzers: [.witness(), .levels]).stream()
        #expect(stream.value("levels", "rms_db") == plain.value("levels", "rms_db"))
        #expect(stream.batches.map(\.frame) == plain.batches.map(\.frame))
        #expect(stream.summary == plain.summary)
    }

    @Test func `no look-ahead: one pass`() async throws {
        let stream = try await Trial([silence(batches: 2)], analyzers: [.witness()]).stream()
        #expect(stream.value("witness", "first_pass") == [-1, -1])
    }

    @Test func `look-ahead, duration: both passes end at the batch that reaches it`() async throws {
        let run = try await defaultRun([silence(batches: 6)]) { $0.duration = 2.5 * 1024 / 44_100 }
        #expect(run.calls == ["open", "rewind", "close"])
        #expect(run.streams.first?.value("witness", "first_pass") == [3, 3, 3])
    }

    @Test func `look-ahead, input that cannot be rewound: refused`() async throws {
        let sink = CollectingSink()
        let notices = Notices()
        let log = Log<String>()
        let outcome = try await lookingAhead(.scripted(log: { log.append($0) }, [silence(batches: 2)]), sink).run(report: notices)
        #expect(outcome.failedInputs == 1 && outcome.streams == 0)
        #expect(notices.texts.contains { $0.contains("can be read only once") })
        #expect(sink.calls == [.open, .close])
        #expect(log.items == ["open", "close"])
    }

    @Test func `look-ahead, input that cannot be rewound, no analyzer with a first pass: accepted`() async throws {
        let sink = CollectingSink()
        var trial = lookingAhead(.scripted([silence(batches: 2)]), sink)
        trial.analyzers = [.levels]
        let outcome = try await trial.run()
        #expect(outcome.failedInputs == 0)
        #expect(sink.batchCount == 2)
    }

    @Test func `look-ahead, input that changes its format: refused`() async throws {
        let notices = Notices()
        let sink = CollectingSink()
        let steps: [CaptureStep] = [
            silence(batches: 1), .format(StreamFormat(sampleRate: 8_000, channelCount: 1)), silence(batches: 1),
        ]
        let outcome = try await lookingAhead(.scripted(isRewindable: true, steps), sink).run(report: notices)
        #expect(outcome.failedInputs == 1 && outcome.streams == 0)
        #expect(notices.texts.contains { $0.contains("format changes within this input") })
    }

    // MARK: - Look-ahead by default

    /// A run with the default of look-ahead: the streams, and the calls of the capture.
    private func defaultRun(
        isRewindable: Bool = true, _ steps: [CaptureStep]? = nil, controls: [StampedControl] = [],
        needs: SinkPlugin.Needs = SinkPlugin.Needs(), _ change: (inout PipelineConfiguration) -> Void = { _ in }
    ) async throws -> (streams: [CollectedStream], calls: [String]) {
        let (log, sink) = (Log<String>(), CollectingSink())
        var trial = Trial([], analyzers: [.witness(), .levels], sinks: [.collecting(sink, needs: needs)])
        trial.captures = [.scripted(isRewindable: isRewindable, log: { log.append($0) }, steps ?? [silence(batches: 2)])]
        change(&trial.configuration)
        let outcome = try await trial.pipeline().run(replaying: ControlReplay(controls)) { _ in }
        #expect(outcome.failedInputs == 0)
        return (sink.streams, log.items)
    }

    private func looksAhead(_ stream: CollectedStream?) -> [Bool]? { stream?.header.analyzers.map { !$0.outputs.isCausal } }

    @Test func `default, input that can be rewound: two passes, and the header says so`() async throws {
        let run = try await defaultRun()
        #expect(run.calls == ["open", "rewind", "close"])
        #expect(run.streams.first?.value("witness", "first_pass") == [2, 2])
        #expect(looksAhead(run.streams.first) == [true, false])
    }

    @Test func `default, input that cannot be rewound: one pass`() async throws {
        let run = try await defaultRun(isRewindable: false)
        #expect(run.calls == ["open", "close"])
        #expect(looksAhead(run.streams.first) == [false, false])
    }

    @Test(arguments: [(nil, false), (true, true)] as [(Bool?, Bool)])
    func `input of more than six hours: one pass, unless the user demands two`(choice: Bool?, isWhole: Bool) async throws {
        let steps: [CaptureStep] = [silence(batches: 1), .gap(Gap(frames: 7 * 3600 * 48_000, reason: .overrun)), silence(batches: 1)]
        let run = try await defaultRun(steps) { $0.usesLookAhead = choice }
        #expect(looksAhead(run.streams.first) == [isWhole, false])
        #expect(run.calls == ["open", "rewind", "close"])
        let causal = try await defaultRun(steps) { $0.usesLookAhead = false }
        if !isWhole { #expect(run.streams.map(\.batches) == causal.streams.map(\.batches)) }
    }

    @Test func `default, in real time or with replayed controls: one pass`() async throws {
        let tap = StampedControl(Control(.tap), at: 0, from: "test")
        for run in [
            try await defaultRun { $0.isPaced = true }, try await defaultRun(needs: SinkPlugin.Needs(realTime: true)),
            try await defaultRun(controls: [tap]), try await defaultRun { $0.usesLookAhead = false },
        ] {
            #expect(run.calls == ["open", "close"])
            #expect(looksAhead(run.streams.first) == [false, false])
        }
    }

    @Test func `default, input that changes its format: one pass over all streams`() async throws {
        let other = StreamFormat(sampleRate: 8_000, channelCount: 1)
        let steps: [CaptureStep] = [silence(batches: 2), .format(other), silence(batches: 1)]
        let run = try await defaultRun(steps)
        #expect(run.calls == ["open", "rewind", "close"])
        #expect(run.streams.map(\.batches.count) == [2, 1])
        #expect(run.streams.allSatisfy { looksAhead($0) == [false, false] })
        let causal = try await defaultRun(steps) { $0.usesLookAhead = false }
        #expect(run.streams.map(\.batches) == causal.streams.map(\.batches))
    }

    @Test(arguments: [("levels", 1), ("levels,end", 2), ("witness.mean", 2), ("event", 2), ("header,beat", 1)])
    func `selection: a first pass only if a sink gets something of its analyzer`(items: String, passes: Int) async throws {
        for choice in [nil, true] as [Bool?] {
            let run = try await defaultRun {
                $0.usesLookAhead = choice
                $0.selection = items.split(separator: ",").map(String.init)
            }
            #expect(run.calls.count { $0 == "rewind" } == passes - 1)
        }
    }
}
