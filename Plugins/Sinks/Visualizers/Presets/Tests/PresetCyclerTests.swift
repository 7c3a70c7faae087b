import Foundation
import Hemiola
import HemiolaEngine
import HemiolaTesting
import HemiolaVisualizer
import TestSupport
import Testing

@testable import PresetsSink

@Suite(.mayNotHang) struct PresetCyclerTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func records(_ name: String) throws -> [[String: Any]] {
        try folder.text(of: name).split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test func `conformance suites of sinks and directors: pass`() throws {
        for settings in ["names=a+b+c", "names=a+b,mode=milkdrop", "names=a+b,mode=drop,state=\(folder("state.json"))", "bars=4"] {
            // In real time a plan does not replace a file.
            try SinkConformanceSuite(.presets, settings: "/dev/null,\(settings)").run()
            try DirectorConformanceSuite(.presets, settings: "/dev/null,\(settings)").run()
        }
    }

    @Test func `the plan has a header, the changes and an end record`() async throws {
        _ = try folder.write("b\na\n", to: "names.txt")
        let pipeline = PipelineFixture(
            steps: [.samples(TestSignal.silence(frames: 40 * 44_100))],
            settings: "\(folder("plan.jsonl")),list=\(folder("names.txt")),order=sequential", seed: 7)
        let (streams, notices, outcome) = try await pipeline.run()
        #expect(notices.isEmpty && outcome.failedSinks == 0)
        let records = try records("plan.jsonl")
        #expect(records.map { $0["type"] as? String } == ["header", "preset", "preset", "preset", "end"])
        #expect(records[0]["seed"] as? Int == 7)
        #expect(records.compactMap { $0["name"] as? String } == ["b", "a", "b"])
        #expect(records.dropFirst().dropLast().map { $0["t"] as? Double } == [0, 15, 30])
        #expect(records.compactMap { $0["frame"] as? Int } == [0, 661_500, 1_323_000])
        // The other sinks receive the same events with their batches.
        #expect(streams[0].events.presets.map(\.name) == ["b", "a", "b"])
    }

    @Test(arguments: [
        "mode=milkdrop,time_s=5", "mode=projectm,time_s=9", "bars=2", "beats=5", "mode=drop,min_s=3", "mode=timer",
    ])
    func `live and file input: identical plans`(mode: String) async throws {
        var replay = ControlReplay()
        let controls: [(Int, Control)] = [
            (3, Control(.nextPreset)), (9, Control(.setSpeed, .number(0.4))), (11, Control(.randomPreset)),
            (20, Control(.lockPreset, .boolean(true))), (26, Control(.lockPreset, .boolean(false))),
        ]
        for (second, control) in controls {
            replay.add(StampedControl(control, at: Int64(second * 44_100), from: "test"))
        }
        let sound = bursts(seconds: 45)
        var plans: [String] = []
        for (index, (isLive, fragment)) in [(false, Int.max), (true, Int.max), (true, 777), (false, 100)].enumerated() {
            let counter = WrittenBatchCounter()
            let pipeline = PipelineFixture(
                steps: isLive ? counter.steps(sound, fragment: fragment) : [.samples(sound, fragment: fragment)], isLive: isLive,
                settings: "\(folder("plan-\(index)")),names=a+b+c+d,state=none,\(mode)", seed: 3,
                replay: replay, counter: counter)
            let run = try await pipeline.run()
            #expect(run.outcome.failedSinks == 0)
            plans.append(try folder.text(of: "plan-\(index)"))
        }
        #expect(plans[0].split(separator: "\n").count { $0.contains("\"preset\"") } > 3)
        // Without the last line: its count of dropped batches may differ in a live run.
        let decisions = plans.map { $0.split(separator: "\n").dropLast() }
        #expect(decisions.allSatisfy { $0 == decisions[0] })
    }

    @Test func `equal seeds give equal plans, different seeds different ones`() async throws {
        var plans: [[String]] = []
        for seed in [0, 0, 1] as [UInt64] {
            let pipeline = PipelineFixture(
                steps: [.samples(TestSignal.silence(frames: 100 * 44_100))],
                settings: "\(folder("plan")),names=a+b+c+d+e+f,mode=milkdrop", seed: seed)
            plans.append(try await pipeline.run().streams[0].events.presets.map(\.name))
        }
        #expect(plans[0] == plans[1])
        #expect(plans[0] != plans[2])
    }

    @Test func `mode bars: changes on downbeats`() async throws {
        let pipeline = PipelineFixture(
            steps: [.samples(TestSignal.silence(frames: 60 * 44_100))], settings: "\(folder("plan")),names=a+b+c,bars=4")
        let events = try await pipeline.run().streams[0].events
        let bars = events.filter { PresetChange($0)?.reason == .bar }
        #expect(bars.count == 7)
        for (index, event) in bars.enumerated() { #expect(abs(event.time - (0.5 + 2 * Double(3 + 4 * index))) < 1e-9) }
    }

    @Test func `controls through the control port: replies and effects`() async throws {
        let sink = CollectingSink()
        let pipeline = PipelineFixture(
            steps: [
                .samples(TestSignal.silence(frames: 4096)),
                .call {
                    sink.post(Control(.loadPreset, .text("C")), from: "key")
                    sink.post(Control(.loadPreset, .text("zz")))
                    sink.post(Control(.toggleCycle))
                },
                // A name is looked up on another thread, which a busy machine may delay.
                .pause(until: { sink.replies.count == 3 }),
                .samples(TestSignal.silence(frames: 44_100 * 20)),
            ], settings: "\(folder("plan")),names=a+b+c,order=sequential",
            sinks: [.collecting(sink)])
        let stream = try await pipeline.run().streams[0]
        #expect(sink.replies.map(\.reply) == [.done, .refused("there is no preset \"zz\""), .switched(false)])
        #expect(stream.events.presets.map(\.name) == ["a", "c"])
        // The order of the two clients' controls depends on the duration of the lookup.
        let types = stream.events.map(\.type.name)
        #expect(types.first == "preset" && types.count { $0 == "control" } == 2 && types.count == 4)
    }

    @Test func `every file starts a new schedule`() async throws {
        let pipeline = PipelineFixture(
            steps: [.samples(TestSignal.silence(frames: 40 * 44_100))], settings: "\(folder("plan")),names=a+b+c+d+e",
            captureCount: 2)
        let streams = try await pipeline.run().streams
        #expect(streams.count == 2)
        #expect(streams[0].events == streams[1].events)
    }

    @Test func `live format change: the schedule continues`() async throws {
        let pipeline = PipelineFixture(
            steps: [
                .samples(TestSignal.silence(frames: 20 * 44_100)), .format(StreamFormat(sampleRate: 48_000, channelCount: 1)),
                .samples(TestSignal.silence(frames: 20 * 48_000)),
            ], isLive: true, settings: "\(folder("plan")),names=a+b+c+d+e,state=none")
        let streams = try await pipeline.run().streams
        #expect(streams.map { $0.events.presets.map(\.reason) } == [[.start, .timer], [.timer]])
        #expect(abs(streams[1].events.presetTimes[0] - 10) < 0.03)
    }

    // MARK: - Standard output, lists, state file

    @Test func `standard output: yields to another sink that writes there`() throws {
        let other = SinkPlugin.collecting(CollectingSink(), as: "other", needs: .init(standardOutput: true))
        let registry = PluginRegistry(captures: [.scripted([])], sinks: [.presets, other])
        var configuration = PipelineConfiguration(captures: [PluginSpec("scripted")])
        configuration.sinks = [PluginSpec("presets"), PluginSpec("other")]
        #expect(throws: Never.self) { try registry.assemble(configuration) }
        for path in ["-", "/dev/stdout", "/dev/fd/1"] {
            #expect(try Self.needs("presets:\(path)").spareStandardOutput && !Self.needs("presets:\(path)").standardOutput)
        }
        #expect(try !Self.needs("presets:plan").spareStandardOutput)
    }

    @Test func `context without standard output: no plan is written`() throws {
        let settings = PresetSettings(try SinkPlugin.presets.about.values(parsing: "presets:-,names=a"))
        let sink = PresetCycler(settings, plan: try settings.check())
        let header = StreamHeader(
            source: StreamSource(format: TestSignal.mono, kind: "test", name: "test"), isLive: false, batching: .standard, seed: 0,
            analyzers: [])
        // The sink's state is checked, because a plan would be written to the standard output of the tests.
        try sink.open(SinkContext(name: "presets", records: RecordChoice(mayUseStandardOutput: false)))
        #expect(sink.plan == nil)
        try sink.begin(header)
        try sink.end(StreamSummary(frames: 0, batches: 0, reason: .endOfInput))
        try sink.close()
        let otherSettings = PresetSettings(try SinkPlugin.presets.about.values(parsing: "presets:\(folder("plan")),names=a"))
        let other = PresetCycler(otherSettings, plan: try otherSettings.check())
        try other.open(SinkContext(name: "presets", records: RecordChoice(mayUseStandardOutput: false)))
        #expect(other.plan != nil)
        try other.close()
        #expect(folder.names == [])
    }

    @Test func `no list and no visualizer: no automatic change, and one warning at the end`() async throws {
        let pipeline = PipelineFixture(steps: [.samples(TestSignal.silence(frames: 44_100 * 20))], settings: folder("plan"))
        let run = try await pipeline.run()
        #expect(run.streams[0].events.isEmpty)
        #expect(run.notices.count == 1 && run.notices[0].contains("no visualizer reported its presets"))
    }

    @Test func `no list, and a visualizer that shows a preset: no warning`() async throws {
        var pipeline = PipelineFixture(steps: [.samples(TestSignal.silence(frames: 44_100 * 2))], settings: folder("plan"))
        pipeline.replay = ControlReplay([StampedControl(Control(.ready, .texts(["a", "b"])), at: 44_100, from: "web/1")])
        let run = try await pipeline.run()
        #expect(run.streams[0].events.contains { $0.type.name == "preset" })
        #expect(run.notices == [])
    }

    @Test func `empty list: a warning`() async throws {
        _ = try folder.write("# none\n", to: "empty.txt")
        let empty = PipelineFixture(steps: [.samples([0, 0])], settings: "\(folder("plan")),list=\(folder("empty.txt"))")
        #expect(try await empty.run().notices.contains { $0.contains("the list of presets is empty") })
    }

    @Test func `list file missing: the sink fails`() async throws {
        let pipeline = PipelineFixture(steps: [.samples([0, 0])], settings: "\(folder("plan")),list=\(folder("nowhere"))")
        let run = try await pipeline.run()
        #expect(run.outcome.failedSinks == 1)
        #expect(run.notices.contains { $0.contains("nowhere: No such file or directory") })
        #expect(folder.names == [])
    }

    @Test func `preset and speed are restored, and a damaged state file is renamed`() async throws {
        let state = folder("state.json")
        func run(_ controls: [Control]) async throws -> (events: [Event], notices: [String]) {
            var replay = ControlReplay()
            for control in controls { replay.add(StampedControl(control, at: 44_100, from: "test")) }
            let pipeline = PipelineFixture(
                steps: [.samples(TestSignal.silence(frames: 3 * 44_100))],
                settings: "\(folder("plan")),names=a+b+c+d,order=sequential,state=\(state)", replay: replay)
            let run = try await pipeline.run()
            return (run.streams[0].events, run.notices)
        }
        #expect(try await run([Control(.loadPreset, .text("c")), Control(.setSpeed, .number(0.25))]).notices.isEmpty)
        #expect(try folder.text(of: "state.json") == "{\"preset\":\"c\",\"speed\":0.25}\n")
        let next = try await run([Control(.nextPreset)]).events
        #expect(next.presets.map(\.name) == ["c", "d"])
        #expect(next.speeds == [0.25])
        #expect(try folder.text(of: "state.json") == "{\"preset\":\"d\",\"speed\":0.25}\n")
        _ = try folder.write("{\"pre", to: "state.json")
        let damaged = try await run([])
        #expect(damaged.events.presets.map(\.name) == ["a"])
        #expect(damaged.notices.count == 1 && damaged.notices[0].contains("is damaged"))
        #expect(try folder.text(of: "state.json.damaged") == "{\"pre")
    }

    @Test func `favourites: kept, and set again at the start of the next run`() async throws {
        func run(_ control: Control) async throws -> [Control] {
            let pipeline = PipelineFixture(
                steps: [.samples(TestSignal.silence(frames: 3 * 44_100))],
                settings: "\(folder("plan")),mode=manual,state=\(folder("state.json"))",
                replay: ControlReplay([StampedControl(control, at: 44_100, from: "web/1")]))
            let run = try await pipeline.run()
            #expect(run.notices == [])
            return run.streams[0].events.compactMap(\.control?.control)
        }
        let favourites = Control(.setFavourites, .texts(["b", "Élan"]))
        #expect(try await run(favourites) == [favourites])
        #expect(try folder.text(of: "state.json") == #"{"favourites":["b","Élan"]}"# + "\n")
        #expect(try await run(Control(.loadPreset, .text("x"))) == [favourites, Control(.loadPreset, .text("x"))])
        #expect(try folder.text(of: "state.json") == #"{"preset":"x","favourites":["b","Élan"]}"# + "\n")
        #expect(try await run(Control(.ready, .texts(["a"]))) == [favourites, Control(.ready, .texts(["a"]))])
        let others = Control(.setFavourites, .texts(["c"]))
        #expect(try await run(others) == [favourites, others])
        #expect(try folder.text(of: "state.json") == #"{"preset":"x","favourites":["c"]}"# + "\n")
    }

    @Test func `selection of other records: the state is stored, and the plan has the selected ones`() async throws {
        let pipeline = PipelineFixture(
            steps: [.samples(TestSignal.silence(frames: 3 * 44_100))],
            settings: "\(folder("plan")),names=a,mode=manual,state=\(folder("state.json")),select=speed",
            replay: ControlReplay([
                StampedControl(Control(.setFavourites, .texts(["b"])), at: 0, from: "web/1"),
                StampedControl(Control(.setSpeed, .number(0.5)), at: 0, from: "web/1"),
            ]))
        #expect(try await pipeline.run().notices == [])
        #expect(try folder.text(of: "state.json") == #"{"preset":"a","speed":0.5,"favourites":["b"]}"# + "\n")
        #expect(try records("plan").map { $0["type"] as? String } == ["speed"])
    }

    /// A sink in real time, and the call that gives it a control.
    private func sink(_ settings: String, _ clock: VirtualClock, _ run: RunScope = RunScope()) throws -> (
        PresetCycler, write: (Control, String) throws -> Void
    ) {
        let settings = PresetSettings(try SinkPlugin.presets.about.values(parsing: "presets:/dev/null,\(settings)"))
        let sink = PresetCycler(settings, plan: try settings.check())
        try sink.open(SinkContext(name: "presets", timing: SinkTiming(isLive: true, clock: clock), run: run))
        try sink.begin(
            StreamHeader(
                source: StreamSource(format: TestSignal.mono, kind: "test", name: "test"), isLive: true, batching: .standard, seed: 0,
                analyzers: []))
        return (sink, { control, origin in try sink.write([Event(at: 0, StampedControl(control, at: 0, from: origin))]) })
    }

    @Test func `favourites of another program: kept, and at most one saving a second`() throws {
        let clock = VirtualClock()
        let (sink, write) = try sink("state=\(folder("state.json"))", clock)
        func favourites(_ names: String...) -> Control { Control(.setFavourites, .texts(names)) }
        // Those of the last run, which another program has replaced since.
        try write(favourites("old"), "presets")
        #expect(folder.names == [])
        try write(favourites("a"), "web/1")
        #expect(try folder.text(of: "state.json") == #"{"favourites":["a"]}"# + "\n")
        _ = try folder.write(#"{"favourites":["other"]}"#, to: "state.json")
        try sink.write([SpeedChange(0.5).event(at: 0)])
        #expect(try folder.text(of: "state.json") == #"{"favourites":["other"]}"#)
        clock.advance(by: 1)
        try sink.write([])
        #expect(try folder.text(of: "state.json") == #"{"speed":0.5,"favourites":["other"]}"# + "\n")
        try write(favourites("b"), "web/1")
        try sink.close()
        #expect(try folder.text(of: "state.json") == #"{"speed":0.5,"favourites":["b"]}"# + "\n")
    }

    @Test(arguments: [false, true]) func `real time: the user's state file, but not for a replay`(isReplay: Bool) throws {
        let (sink, _) = try sink("mode=manual", VirtualClock(), RunScope(isReplay: isReplay))
        #expect(sink.statePath == (isReplay ? nil : PersistedState.defaultPath()))
        try sink.close()
    }

    @Test func `state file not writable: one warning, and the run continues`() async throws {
        _ = try folder.write("x", to: "file")
        let pipeline = PipelineFixture(
            steps: [.samples(TestSignal.silence(frames: 3 * 44_100))],
            settings: "\(folder("plan")),names=a+b,state=\(folder("file/below.json"))")
        let run = try await pipeline.run()
        #expect(run.outcome.failedSinks == 0)
        #expect(run.notices.count == 1 && run.notices[0].contains("cannot write the state file"))
        #expect(run.streams[0].events.presets.count == 1)
    }

    // MARK: - Settings

    private static func needs(_ spec: String) throws -> SinkPlugin.Needs {
        SinkPlugin.presets.needs(try SinkPlugin.presets.about.values(parsing: spec))
    }

    @Test func `each mode declares the analyzers that it needs`() throws {
        func analyzers(_ settings: String) throws -> [String] { try Self.needs("presets:-,\(settings)").analyzers.map(\.name) }
        #expect(try analyzers("mode=timer") == [])
        #expect(try analyzers("mode=manual") == [])
        #expect(try analyzers("mode=milkdrop") == [])
        #expect(try analyzers("mode=projectm") == [])
        #expect(try analyzers("bars=8") == ["beat"])
        #expect(try analyzers("mode=beats") == ["beat"])
        #expect(try analyzers("mode=drop") == ["levels", "spectrum"])
        #expect(try analyzers("mode=segments") == ["structure"])
    }

    @Test func `defaults are those of MilkDrop and projectM`() throws {
        func timing(_ settings: String) throws -> ChangeTiming {
            PresetSettings(try SinkPlugin.presets.about.values(parsing: "presets:-,\(settings)")).timing
        }
        #expect(try timing("mode=timer") == ChangeTiming(duration: .uniform(15), blend: 1, requestBlend: 1))
        #expect(
            try timing("mode=milkdrop")
                == ChangeTiming(duration: .uniform(18.7, extra: 10), blend: 2.7, requestBlend: 1.7))
        #expect(
            try timing("mode=projectm")
                == ChangeTiming(duration: .normal(30, deviation: 1), minimum: 1, blend: 3, requestBlend: 3))
        #expect(
            try timing("beats=12,confidence=0.5")
                == ChangeTiming(duration: .uniform(15), trigger: .beats(.beats(12), confidence: 0.5), blend: 1, requestBlend: 1))
        #expect(try timing("mode=manual,time_s=5") == ChangeTiming(duration: .uniform(5), blend: 1, requestBlend: 1))
    }

    @Test(arguments: ["presets:\"\"", "presets:-,list=", "presets:-,mode=drop,max_s=3", "presets:-,min_s=5,max_s=4", "presets:-,state="])
    func `contradictory settings are rejected`(spec: String) throws {
        let values = try SinkPlugin.presets.about.values(parsing: spec)
        #expect(throws: Problem.self) { try SinkPlugin.presets.make(values) }
    }
}
