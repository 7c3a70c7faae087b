import Hemiola
import HemiolaEngine
import HemiolaTesting
import HemiolaVisualizer
import TestSupport
import Testing

/// Controls replayed from the records of an earlier run.
@Suite(.mayNotHang) struct ReplayTests {
    private func run(
        _ steps: [CaptureStep] = [silence(batches: 5)], replaying replay: ControlReplay, notices: Notices = Notices()
    ) async throws -> [CollectedStream] {
        let sink = CollectingSink()
        let trial = Trial(steps, analyzers: [.witness()], sinks: [.collecting(sink)])
        _ = try await trial.pipeline().run(replaying: replay) { notices.append($0) }
        return sink.streams
    }

    @Test(arguments: [(0, 0), (1, 0), (1023, 0), (1024, 1), (3072, 3), (4095, 3), (5119, 4)] as [(Int64, Int64)])
    func `replayed control: takes effect in the batch that contains its frame`(frame: Int64, batch: Int64) async throws {
        let streams = try await run(replaying: ControlReplay([StampedControl(Control(.tap), at: frame, from: "web/7")]))
        let stream = streams[0]
        #expect(stream.batchNumber { $0.type.name == "control" } == batch)
        let event = try #require(stream.events.first { $0.type.name == "control" })
        #expect(event.control == StampedControl(Control(.tap), at: batch * 1024, from: "web/7"))
    }

    @Test(arguments: [false, true]) func `sinks: know whether controls are replayed`(isReplay: Bool) async throws {
        let sink = CollectingSink()
        let replay = ControlReplay(isReplay ? [StampedControl(Control(.tap), at: 0, from: "web/7")] : [])
        _ = try await Trial([silence(batches: 1)], analyzers: [.witness()], sinks: [.collecting(sink)]).pipeline().run(replaying: replay)
        #expect(sink.context?.run.isReplay == isReplay)
    }

    @Test func `replayed controls: sorted by frame, those of one frame keep their order`() async throws {
        let controls = [
            StampedControl(Control(.halveTempo), at: 2048, from: "a"), StampedControl(Control(.tap), at: 2048, from: "b"),
            StampedControl(Control(.tap), at: 0, from: "c"), StampedControl(Control(.tap), at: 9_999_999, from: "never"),
        ]
        let streams = try await run(replaying: ControlReplay(controls))
        let origins = streams[0].events.compactMap { $0.control?.origin }
        #expect(origins == ["c", "a", "b"])
    }

    @Test func `records of a live control, replayed: the same batches`() async throws {
        let sink = CollectingSink()
        try await Trial(
            [silence(batches: 1), .call { sink.post(Control(.tap), from: "web/1") }, silence(batches: 4)],
            analyzers: [.witness()], sinks: [.collecting(sink)]
        ).run()
        let recorded = sink.streams[0].events.compactMap(\.control)
        #expect(recorded == [StampedControl(Control(.tap), at: 2048, from: "web/1")])
        let again = try await run(replaying: ControlReplay(recorded))
        #expect(again[0].batches == sink.streams[0].batches)
        #expect(try await run(replaying: ControlReplay(recorded))[0].batches == again[0].batches)
    }

    @Test func `several inputs: each gets its own controls and those for all inputs`() async throws {
        let sink = CollectingSink()
        var trial = Trial([silence(batches: 2)], analyzers: [.witness()], sinks: [.collecting(sink)])
        trial.configuration.captures = [PluginSpec("scripted"), PluginSpec("scripted")]
        var replay = ControlReplay([StampedControl(Control(.tap), at: 0, from: "all")])
        replay.add(StampedControl(Control(.tap), at: 0, from: "other"), file: "another.wav")
        #expect(replay.count == 2 && !replay.isEmpty)
        _ = try await trial.pipeline().run(replaying: replay)
        #expect(sink.streams.map { $0.events.count { $0.type.name == "control" } } == [1, 1])
    }

    @Test func `refused replayed control: reported once`() async throws {
        let notices = Notices()
        let streams = try await run(
            replaying: ControlReplay((0..<3).map { StampedControl(Control(.nextPreset), at: $0 * 1024, from: "x") }), notices: notices)
        #expect(notices.warnings("the control nextPreset at frame 0 had no effect") == 1 && notices.count("warning") == 1)
        #expect(!streams[0].events.contains { $0.type.name == "control" })
    }
}
