import Hemiola
import HemiolaEngine
import HemiolaTesting
import LevelsAnalyzer
import TestSupport
import Testing

/// Calls to sinks: order, loss, remedies for errors, selection and event times.
@Suite(.mayNotHang) struct SinkTests {
    @Test func `file, slow sink: gets every batch, in order`() async throws {
        let slow = CollectingSink(delay: .milliseconds(5))
        let fast = CollectingSink()
        try await Trial(
            [silence(batches: 64 * 20 + 7, of: 256)], analyzers: [.witness()],
            sinks: [.collecting(slow, as: "slow"), .collecting(fast, as: "fast")], batchFrames: 256
        ).run()
        #expect(slow.streams[0].batches.map(\.number) == Array(0..<1287))
        #expect(slow.streams[0].blocks == Array(repeating: 64, count: 20) + [7])
        #expect(slow.streams == fast.streams)
        #expect(slow.streams[0].summary?.dropped.isEmpty == true)
    }

    /// Runs live with two sinks: one blocks in its first write, the other does not block.
    private func runBlocked(batches: Int, _ report: Notices = Notices()) async throws -> (stuck: CollectingSink, free: CollectingSink) {
        let gate = Gate()
        let arrived = Gate()
        let stuck = CollectingSink(gate: gate) { call, _ in if call == .write { arrived.open() } }
        let free = CollectingSink()
        var steps: [CaptureStep] = [silence(batches: 1), .pause(until: { arrived.isOpen })]
        var count = 1
        while count < batches {
            let some = min(20, batches - count)
            count += some
            let goal = count
            steps += [silence(batches: some), .pause(until: { free.batchCount == goal })]
        }
        steps.append(.call { gate.open() })
        try await Trial(
            steps, isLive: true, analyzers: [.witness()],
            sinks: [.collecting(stuck, as: "stuck"), .collecting(free, as: "free")]
        ).run(report: report)
        return (stuck, free)
    }

    @Test func `live, blocked sink: gets the newest batches, and dropped batches are counted and reported`() async throws {
        let (stuck, free) = try await runBlocked(batches: 200)
        let (held, whole) = (stuck.streams[0], free.streams[0])
        // The queue holds one second of audio: 46 batches, after the one that is being written.
        #expect(held.batches.map(\.number) == [0] + Array(154..<200))
        #expect(whole.batches.map(\.number) == Array(0..<200))
        #expect(whole.summary?.dropped.map(\.sink) == ["stuck"])
        #expect(whole.summary?.dropped.map(\.batches) == [153])
        #expect(held.summary == whole.summary)
        let reports = whole.events.compactMap { DropReport($0) }
        #expect(!reports.isEmpty && reports.allSatisfy { $0.sink == "stuck" && $0.client == nil })
        #expect(reports.reduce(0) { $0 + $1.batches } == 153)
    }

    @Test func `live, dropped batches: their events are in the next batch`() async throws {
        let (stuck, free) = try await runBlocked(batches: 150)
        #expect(stuck.streams[0].events == free.streams[0].events)
        #expect(stuck.streams[0].batches[1].events.count { $0.type.name == "event" } == 104)
    }

    @Test func `blocked sink: does not delay another sink`() async throws {
        let gate = Gate()
        let stuck = CollectingSink(gate: gate)
        // The blocked sink continues only after the other sink has every batch.
        let free = CollectingSink { call, sink in
            if call == .end { gate.open() }
        }
        try await Trial(
            [silence(batches: 64 * 4, of: 256)], sinks: [.collecting(stuck, as: "stuck"), .collecting(free, as: "free")],
            batchFrames: 256
        ).run()
        #expect(stuck.streams == free.streams)
        #expect(free.batchCount == 256)
    }

    @Test func `two sinks: each has its own thread`() async throws {
        let capture = Shared<Set<UInt>>([])
        let sinks = (0..<3).map { _ in CollectingSink() }
        try await Trial(
            [silence(batches: 2), .call { capture.value.insert(currentThread()) }, silence(batches: 2)],
            sinks: sinks.enumerated().map { .collecting($1, as: "sink-\($0)") }
        ).run()
        #expect(sinks.allSatisfy { $0.threads.count == 1 && $0.threads.isDisjoint(with: capture.value) })
        #expect(Set(sinks.flatMap(\.threads)).union(capture.value).count == 4)
    }

    // MARK: - Remedies

    @Test(arguments: [CollectingSink.Call.begin, .write, .end])
    func `retry: the same call again, without loss`(call: CollectingSink.Call) async throws {
        let sink = CollectingSink()
        sink.fail(call, times: 2, with: Problem("not now", remedy: .retry))
        let notices = Notices()
        let outcome = try await Trial([silence(batches: 3)], sinks: [.collecting(sink)]).run(report: notices)
        #expect(sink.streams.map { $0.batches.count } == [3])
        #expect(sink.streams[0].summary != nil)
        #expect(sink.calls.count { $0 == call } == 3)
        #expect(outcome.failedSinks == 0)
        #expect(notices.count("sink") == 0)
    }

    @Test func `retry for more than 0.8 s: the outage and the recovery are reported once each`() async throws {
        let sink = CollectingSink()
        sink.fail(.write, times: 5, with: Problem("not now", remedy: .retry))
        let notices = Notices()
        let outcome = try await Trial([silence(batches: 3)], sinks: [.collecting(sink)]).run(report: notices)
        #expect(sink.streams.map { $0.batches.count } == [3])
        #expect(outcome.failedSinks == 0)
        #expect(notices.texts.count { $0.contains("; retrying") } == 1 && notices.texts.count { $0.contains(": recovered") } == 1)
    }

    @Test func `reopen: close, open and the header again, then the same batches`() async throws {
        let sink = CollectingSink()
        sink.fail(.write, with: Problem("the pipe broke", remedy: .reopen))
        sink.fail(.open, after: 1, with: Problem("connection refused", remedy: .reopen))
        let outcome = try await Trial([silence(batches: 3)], sinks: [.collecting(sink)]).run()
        #expect(sink.calls == [.open, .begin, .write, .close, .open, .open, .begin, .write, .end, .close])
        #expect(sink.streams.map { $0.batches.count } == [0, 3])
        #expect(outcome.failedSinks == 0)
    }

    @Test func `give up: the sink is closed and reported, the others continue`() async throws {
        let (broken, sound) = (CollectingSink(), CollectingSink())
        broken.fail(.write, with: Problem("the disk is full"))
        let notices = Notices()
        let outcome = try await Trial(
            [silence(batches: 200)], sinks: [.collecting(broken, as: "broken"), .collecting(sound, as: "sound")]
        ).run(report: notices)
        #expect(broken.calls == [.open, .begin, .write, .close])
        #expect(sound.batchCount == 200)
        #expect(outcome.failedSinks == 1 && !outcome.readerIsGone)
        #expect(notices.texts.count { $0.contains("the disk is full") } == 1)
    }

    @Test func `finish: not a failure`() async throws {
        let sink = CollectingSink()
        sink.fail(.write, with: Problem("the reader has gone", remedy: .finish))
        let notices = Notices()
        let outcome = try await Trial([silence(batches: 3)], sinks: [.collecting(sink)]).run(report: notices)
        #expect(sink.calls == [.open, .begin, .write, .close])
        #expect(outcome.failedSinks == 0 && outcome.readerIsGone)
        #expect(notices.count("sink") == 0)
    }

    @Test func `finish of one of two sinks: the run continues, and readerIsGone is false`() async throws {
        let (gone, there) = (CollectingSink(), CollectingSink())
        gone.fail(.write, with: Problem("the reader has gone", remedy: .finish))
        let outcome = try await Trial(
            [silence(batches: 500)], sinks: [.collecting(gone, as: "gone"), .collecting(there, as: "there")]
        ).run()
        #expect(there.batchCount == 500)
        #expect(!outcome.readerIsGone)
    }

    @Test(arguments: [Remedy.giveUp, .nextInput, .finish])
    func `every sink gave up or finished: the run ends`(remedy: Remedy) async throws {
        let sinks = [CollectingSink(), CollectingSink()]
        for sink in sinks { sink.fail(.write, with: Problem("no more", remedy: remedy)) }
        let notices = Notices()
        let hops = Shared(0)
        let steps = (0..<100).flatMap { _ in [silence(batches: 64, of: 256), CaptureStep.call { hops.value += 64 }] }
        let outcome = try await Trial(
            steps, sinks: sinks.enumerated().map { .collecting($1, as: "sink-\($0)") }, batchFrames: 256
        ).run(report: notices)
        // At most the capacity of the queues is read, not the whole file.
        #expect(hops.value < 64 * 20)
        #expect(outcome.failedSinks == (remedy == .finish ? 0 : 2))
        #expect(outcome.readerIsGone == (remedy == .finish))
    }

    @Test func `no sinks: the input is analysed to its end`() async throws {
        let notices = Notices()
        try await Trial([silence(batches: 300)], analyzers: [.levels]).run(report: notices)
        #expect(notices.texts.contains { $0.hasPrefix("finished") && $0.contains("batches: 300") && $0.contains("endOfInput") })
    }

    @Test func `open of a sink fails: the run ends before its first stream`() async throws {
        let sinks = [CollectingSink(), CollectingSink(), CollectingSink()]
        sinks[1].fail(.open, with: Problem("the port is taken"))
        let notices = Notices()
        let outcome = try await Trial(
            [silence(batches: 3)], sinks: sinks.enumerated().map { .collecting($1, as: "sink-\($0)") }
        ).run(report: notices)
        #expect(outcome.failedSinks == 1 && outcome.streams == 0)
        #expect(sinks.map(\.calls) == [[.open, .close], [.open], []])
        #expect(notices.texts.contains { $0.contains("the port is taken") })
    }

    @Test func `director of a sink cannot be made: the sink is closed, and the run ends before its first stream`() async throws {
        let (first, broken, notices) = (CollectingSink(), DirectingTestSink(fault: Problem("the list is empty")), Notices())
        let outcome = try await Trial([silence(batches: 3)], sinks: [.collecting(first), broken.plugin]).run(report: notices)
        #expect(outcome.failedSinks == 1 && outcome.streams == 0)
        #expect(first.calls == [.open, .close] && broken.sink.calls == [.open, .close])
        #expect(notices.texts.contains { $0.contains("the list is empty") })
    }

    @Test func `close of a sink fails: a failed sink`() async throws {
        let sink = CollectingSink()
        sink.fail(.close, with: Problem("the last bytes are lost"))
        let notices = Notices()
        let outcome = try await Trial([silence(batches: 1)], sinks: [.collecting(sink)]).run(report: notices)
        #expect(outcome.failedSinks == 1)
        #expect(notices.texts.contains { $0.contains("the last bytes are lost") })
    }

    @Test func `live, sink retries without end: the run ends`() async throws {
        let sink = CollectingSink()
        sink.fail(.write, times: .max, with: Problem("not now", remedy: .retry))
        let outcome = try await Trial([silence(batches: 3)], isLive: true, sinks: [.collecting(sink)]).run()
        #expect(outcome.failedSinks == 1)
        #expect(sink.calls.last == .close)
    }

    // MARK: - Context and selection

    @Test func `sink context: has the name, the selection and whether the run is live`() async throws {
        let sink = CollectingSink()
        var trial = Trial([silence(batches: 1)], isLive: true, analyzers: [.levels], sinks: [.collecting(sink)])
        trial.configuration.sinks = [
            PluginSpec("collecting", as: "mine", settings: ["select": .text("header+levels.peak_db")])
        ]
        try await trial.run()
        let context = try #require(sink.context)
        #expect(context.name == "mine" && context.timing.isLive)
        #expect(
            context.records.selection.contains("header") && context.records.selection.contains("batch")
                && !context.records.selection.contains("end"))
        #expect(context.records.selection.contains("levels", "peak_db") && !context.records.selection.contains("levels", "rms_db"))
    }

    @Test func `scope of a run: the same for all its sinks, another in the next run`() async throws {
        let (first, second) = (CollectingSink(), CollectingSink())
        let trial = Trial([silence(batches: 1)], sinks: [.collecting(first, as: "first"), .collecting(second, as: "second")])
        try await trial.run()
        let run = try #require(first.context?.run)
        #expect(second.context?.run === run)
        try await trial.run()
        #expect(first.context?.run !== run)
    }

    @Test func `sink that retains its context: deallocated after the run`() async throws {
        weak var sink: CollectingSink?
        let (changes, end) = AsyncStream.makeStream(of: Void.self)
        do {
            let token = Token(end)
            let keeping = CollectingSink { _, _ in withExtendedLifetime(token) {} }
            sink = keeping
            _ = try await Trial([silence(batches: 2)], sinks: [.collecting(keeping)]).run()
            #expect(keeping.context != nil)
        }
        // The thread of the sink ends some time after the run. For a sink that stays, this waits until the time limit of the test.
        for await _ in changes {}
        #expect(sink == nil)
    }

    @Test func `selection: only selected events are sent`() async throws {
        let sink = CollectingSink()
        var trial = Trial([silence(batches: 4)], analyzers: [.earlyBeats, .witness()], sinks: [.collecting(sink)])
        trial.configuration.sinks = [PluginSpec("collecting", settings: ["select": .text("onset+end")])]
        try await trial.run()
        #expect(sink.streams[0].batches.count == 4)
        #expect(sink.streams[0].recordTypes == Array(repeating: "onset", count: 4))
    }

    @Test func `selection for all sinks and one of a sink: the sink's own applies`() async throws {
        let (own, common) = (CollectingSink(), CollectingSink())
        var trial = Trial(
            [silence(batches: 2)], analyzers: [.earlyBeats], sinks: [.collecting(own, as: "own"), .collecting(common, as: "common")])
        trial.configuration.selection = ["beat"]
        trial.configuration.sinks = [PluginSpec("own", settings: ["select": .text("onset")]), PluginSpec("common")]
        try await trial.run()
        #expect(Set(own.streams[0].recordTypes) == ["onset"])
        #expect(Set(common.streams[0].recordTypes) == ["beat"])
    }

    @Test(arguments: [200.0, 0, -150])
    func `lead_ms: an event is in the batch that ends this time before it`(lead: Double) async throws {
        let sink = CollectingSink()
        let plain = CollectingSink()
        var trial = Trial(
            [silence(batches: 60)], analyzers: [.earlyBeats], sinks: [.collecting(sink, as: "timed"), .collecting(plain, as: "plain")])
        trial.configuration.sinks = [
            PluginSpec("timed", settings: ["lead_ms": .number(lead)]), PluginSpec("plain"),
        ]
        try await trial.run()
        let stream = sink.streams[0]
        var before = -Double.infinity
        for batch in stream.batches {
            let end = Double(batch.frame + Int64(batch.frameCount)) / 44_100
            for event in batch.events where event.type.name == "beat" {
                #expect(event.time - lead / 1000 <= end && event.time - lead / 1000 > before - 1e-9)
            }
            #expect(batch.events.map(\.time) == batch.events.map(\.time).sorted())
            before = end
        }
        // No event is lost: events that are not yet due are sent before the end.
        let times = { (stream: CollectedStream) in stream.events.filter { $0.type.name == "beat" }.map(\.time) }
        #expect(times(stream) == times(plain.streams[0]))
        #expect(stream.summary?.lateEvents.isEmpty == false)
        let late = stream.summary?.lateEvents.map(\.time) ?? []
        #expect(late == late.sorted())
    }

    @Test func `lead_ms of a sink that schedules events: it gets them as soon as they are detected, and the lead`() async throws {
        let (sink, plain) = (CollectingSink(), CollectingSink())
        let timed = SinkPlugin(
            PluginDescription("timed", "Times events."), settings: NoSettings.self, needs: { _ in SinkPlugin.Needs(schedulesEvents: true) },
            make: { _ throws(Problem) in sink })
        var trial = Trial([silence(batches: 60)], analyzers: [.earlyBeats], sinks: [timed, .collecting(plain, as: "plain")])
        trial.configuration.sinks = [PluginSpec("timed", settings: ["lead_ms": .number(-150)]), PluginSpec("plain")]
        try await trial.run()
        #expect(sink.context?.timing.lead == -0.15)
        #expect(plain.context?.timing.lead == 0)
        #expect(sink.streams == plain.streams && !sink.streams[0].events.isEmpty)
    }

    @Test func `lead_ms, write that is retried: each event is sent once`() async throws {
        let (sink, plain) = (CollectingSink(), CollectingSink())
        sink.fail(.write, after: 1, times: 2, with: Problem("not now", remedy: .retry))
        var trial = Trial(
            [silence(batches: 200)], analyzers: [.earlyBeats], sinks: [.collecting(sink, as: "timed"), .collecting(plain, as: "plain")])
        trial.configuration.sinks = [PluginSpec("timed", settings: ["lead_ms": .number(-150)]), PluginSpec("plain")]
        try await trial.run()
        #expect(sink.calls.count { $0 == .write } == plain.calls.count { $0 == .write } + 2)
        // Compared in order of time: the order of two types of events at one time may differ.
        #expect(sink.streams[0].events.map(\.time).sorted() == plain.streams[0].events.map(\.time).sorted())
    }
}

/// Ends a stream with its own life.
private final class Token: Sendable {
    private let end: AsyncStream<Void>.Continuation

    init(_ end: AsyncStream<Void>.Continuation) { self.end = end }

    deinit { end.finish() }
}
