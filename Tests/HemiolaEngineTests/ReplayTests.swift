import Hemiola
import HemiolaEngine
import HemiolaSignal
import HemiolaTesting
import TestSupport
import Testing

/// Controls of an earlier run.
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
    func `a control takes effect in the batch that contains its frame`(frame: Int64, batch: Int64) async throws {
        let streams = try await run(replaying: ControlReplay([StampedControl(.tap, at: frame, from: "web/7")]))
        let stream = streams[0]
        #expect(stream.batchNumber { $0.recordType == "control" } == batch)
        let event = try #require(stream.events.first { $0.recordType == "control" })
        #expect(event.payload == .control(StampedControl(.tap, at: batch * 1024, from: "web/7")))
    }

    @Test func `controls of one frame keep their order, others are sorted`() async throws {
        let controls = [
            StampedControl(.halveTempo, at: 2048, from: "a"), StampedControl(.tap, at: 2048, from: "b"),
            StampedControl(.tap, at: 0, from: "c"), StampedControl(.tap, at: 9_999_999, from: "never"),
        ]
        let streams = try await run(replaying: ControlReplay(controls))
        let origins = streams[0].events.compactMap { event -> String? in
            guard case .control(let control) = event.payload else { return nil }
            return control.origin
        }
        #expect(origins == ["c", "a", "b"])
    }

    @Test func `what a live wish left behind, replayed, gives the same batches`() async throws {
        let sink = CollectingSink()
        try await Trial(
            [silence(batches: 2), .call { sink.post(.tap, from: "web/1") }, .idle(), silence(batches: 3)],
            analyzers: [.witness()], sinks: [.collecting(sink)]
        ).run()
        let recorded = sink.streams[0].events.compactMap { event -> StampedControl? in
            guard case .control(let control) = event.payload else { return nil }
            return control
        }
        #expect(recorded == [StampedControl(.tap, at: 2048, from: "web/1")])
        let again = try await run(replaying: ControlReplay(recorded))
        #expect(again[0].batches == sink.streams[0].batches)
        #expect(try await run(replaying: ControlReplay(recorded))[0].batches == again[0].batches)
    }

    @Test func `an input hears its own controls and those of all`() async throws {
        let sink = CollectingSink()
        var trial = Trial([silence(batches: 2)], analyzers: [.witness()], sinks: [.collecting(sink)])
        trial.configuration.captures = [PluginSpec("scripted"), PluginSpec("scripted")]
        var replay = ControlReplay([StampedControl(.tap, at: 0, from: "all")])
        replay.add(StampedControl(.tap, at: 0, from: "other"), file: "another.wav")
        #expect(replay.count == 2 && !replay.isEmpty)
        _ = try await trial.pipeline().run(replaying: replay)
        #expect(sink.streams.map { $0.events.count { $0.recordType == "control" } } == [1, 1])
    }

    @Test func `a control without effect is told once`() async throws {
        let notices = Notices()
        let streams = try await run(
            replaying: ControlReplay((0..<3).map { StampedControl(.nextPreset, at: $0 * 1024, from: "x") }), notices: notices)
        #expect(notices.count("controlRefused") == 1)
        #expect(!streams[0].events.contains { $0.recordType == "control" })
    }
}
