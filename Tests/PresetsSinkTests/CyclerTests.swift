import Foundation
import Hemiola
import HemiolaEngine
import HemiolaSignal
import HemiolaTesting
import TestSupport
import Testing

@testable import PresetsSink

@Suite(.mayNotHang) struct CyclerTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func records(_ name: String) throws -> [[String: Any]] {
        try folder.text(of: name).split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test func `it passes the exam of sinks`() async throws {
        for settings in ["names=a+b+c", "names=a+b,mode=milkdrop", "names=a+b,mode=drop,state=\(folder("state.json"))", "bars=4"] {
            // In real time a plan does not replace a file.
            try await SinkExam(.presets, settings: "/dev/null,\(settings)").sit()
        }
    }

    @Test func `the plan is header, decisions and end`() async throws {
        _ = try folder.write("b\na\n", to: "names.txt")
        let production = Production(
            steps: [.samples(TestSignal.silence(frames: 40 * 44_100))],
            settings: "\(folder("plan.jsonl")),list=\(folder("names.txt")),order=sequential", seed: 7)
        let (streams, notices, outcome) = try await production.run()
        #expect(notices.isEmpty && outcome.failedSinks == 0)
        let records = try records("plan.jsonl")
        #expect(records.map { $0["type"] as? String } == ["header", "preset", "preset", "preset", "end"])
        #expect(records[0]["seed"] as? Int == 7)
        #expect(records.compactMap { $0["name"] as? String } == ["b", "a", "b"])
        #expect(records.dropFirst().dropLast().map { $0["t"] as? Double } == [0, 15, 30])
        #expect(records.compactMap { $0["frame"] as? Int } == [0, 661_500, 1_323_000])
        // The others see the same, in their batches.
        #expect(streams[0].events.presets.map(\.name) == ["b", "a", "b"])
    }

    @Test(arguments: ["mode=milkdrop", "mode=projectm", "bars=2", "beats=5", "mode=drop,min_s=3", "mode=timer,spread_s=5"])
    func `live and from a file the plan is the same, byte for byte`(mode: String) async throws {
        var replay = ControlReplay()
        let wishes: [(Int, Control)] = [
            (3, .nextPreset), (9, .setSpeed(0.4)), (11, .randomPreset), (20, .lockPreset(true)), (26, .lockPreset(false)),
        ]
        for (second, control) in wishes {
            replay.add(StampedControl(control, at: Int64(second * 44_100), from: "test"))
        }
        let sound = strokes(seconds: 45)
        var plans: [String] = []
        for (index, (isLive, fragment)) in [(false, Int.max), (true, Int.max), (true, 777), (false, 100)].enumerated() {
            let watch = Watch()
            let production = Production(
                steps: isLive ? watch.steps(sound, fragment: fragment) : [.samples(sound, fragment: fragment)], isLive: isLive,
                settings: "\(folder("plan-\(index)")),names=a+b+c+d,hard_cut=1,hard_cut_after_s=2,state=none,\(mode)", seed: 3,
                replay: replay, watch: watch)
            let run = try await production.run()
            #expect(run.outcome.failedSinks == 0)
            plans.append(try folder.text(of: "plan-\(index)"))
        }
        #expect(plans[0].split(separator: "\n").count { $0.contains("\"preset\"") } > 3)
        // The last line may count batches that the listener lost live.
        let decisions = plans.map { $0.split(separator: "\n").dropLast() }
        #expect(decisions.allSatisfy { $0 == decisions[0] })
    }

    @Test func `another seed is another show`() async throws {
        var plans: [[String]] = []
        for seed in [0, 0, 1] as [UInt64] {
            let production = Production(
                steps: [.samples(TestSignal.silence(frames: 100 * 44_100))],
                settings: "\(folder("plan")),names=a+b+c+d+e+f,mode=milkdrop", seed: seed)
            plans.append(try await production.run().streams[0].events.presets.map(\.name))
        }
        #expect(plans[0] == plans[1])
        #expect(plans[0] != plans[2])
    }

    @Test func `changes come with the downbeat`() async throws {
        let production = Production(
            steps: [.samples(TestSignal.silence(frames: 60 * 44_100))], settings: "\(folder("plan")),names=a+b+c,bars=4")
        let events = try await production.run().streams[0].events
        let bars = events.filter { if case .preset(let change) = $0.payload { change.reason == .bar } else { false } }
        #expect(bars.count == 7)
        for (index, event) in bars.enumerated() { #expect(abs(event.time - (0.5 + 2 * Double(3 + 4 * index))) < 1e-9) }
    }

    @Test func `hard cuts hear the milkdrop profile`() async throws {
        let production = Production(
            steps: [.samples(strokes(seconds: 30))], settings: "\(folder("plan")),names=a+b+c,mode=milkdrop")
        let stream = try await production.run().streams[0]
        let cuts = stream.events.filter { if case .preset(let change) = $0.payload { change.reason == .hardCut } else { false } }
        #expect(cuts.count >= 2)
        // Computed from the rows by the formula of MilkDrop.
        let sums = zip(zip(stream.value("milkdrop", "bass"), stream.value("milkdrop", "mid")), stream.value("milkdrop", "treb"))
            .map { Double($0.0) + Double($0.1) + Double($1) }
        var (threshold, expected) = (5.0, [Double]())
        for (index, sum) in sums.enumerated() {
            // Not before the levels have settled.
            if sum > 3 * threshold, (index + 1) * 1024 >= 3 * 44_100 {
                expected.append(Double((index + 1) * 1024) / 44_100)
                threshold *= 2
            } else {
                threshold = (threshold - 2.5) * exp(-1.3863 * 1024 / 44_100 / 60) + 2.5
            }
        }
        #expect(cuts.map(\.time) == expected)
    }

    @Test func `wishes come by the door and have their answers`() async throws {
        let sink = CollectingSink()
        let production = Production(
            steps: [
                .samples(TestSignal.silence(frames: 4096)),
                .call {
                    sink.post(.loadPreset(name: "C"), from: "key")
                    sink.post(.loadPreset(name: "zz"))
                    sink.post(.toggleCycle)
                }, .idle(), .samples(TestSignal.silence(frames: 44_100 * 20)),
            ], settings: "\(folder("plan")),names=a+b+c,order=sequential", sinks: [.collecting(sink)])
        let stream = try await production.run().streams[0]
        #expect(sink.replies.map(\.reply) == [.done, .refused("there is no preset \"zz\""), .done])
        #expect(stream.events.presets.map(\.name) == ["a", "c"])
        // Two clients: which one's control comes first depends on how long it takes to look the name up.
        let types = stream.events.map(\.recordType)
        #expect(types.first == "preset" && types.count { $0 == "control" } == 2 && types.count == 4)
    }

    @Test func `every file is a show of its own`() async throws {
        let production = Production(
            steps: [.samples(TestSignal.silence(frames: 40 * 44_100))], settings: "\(folder("plan")),names=a+b+c+d+e",
            captureCount: 2)
        let streams = try await production.run().streams
        #expect(streams.count == 2)
        #expect(streams[0].events == streams[1].events)
    }

    @Test func `a live show goes on when the format changes`() async throws {
        let production = Production(
            steps: [
                .samples(TestSignal.silence(frames: 20 * 44_100)), .format(StreamFormat(sampleRate: 48_000, channelCount: 1)),
                .samples(TestSignal.silence(frames: 20 * 48_000)),
            ], isLive: true, settings: "\(folder("plan")),names=a+b+c+d+e,state=none")
        let streams = try await production.run().streams
        #expect(streams.map { $0.events.presets.map(\.reason) } == [[.start, .timer], [.timer]])
        #expect(abs(streams[1].events.presetTimes[0] - 10) < 0.03)
    }

    // MARK: - Standard output, lists, memory

    @Test func `it has standard output as long as nobody else does`() throws {
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

    @Test func `a context that has no standard output gets no plan there`() async throws {
        let settings = PresetSettings(try SinkPlugin.presets.about.values(parsing: "presets:-,names=a"))
        let sink = PresetCycler(settings, plan: try settings.check())
        let header = StreamHeader(
            source: StreamSource(format: TestSignal.mono, kind: "test", name: "test"), isLive: false, batching: .standard, seed: 0,
            analyzers: [])
        // Were it written, it would stand in the output of these tests: the writer itself is asked.
        try await sink.open(SinkContext(name: "presets", mayUseStandardOutput: false))
        #expect(!sink.writesPlan)
        try await sink.begin(header)
        try await sink.end(StreamSummary(frames: 0, batches: 0, reason: .endOfInput))
        try await sink.close()
        let otherSettings = PresetSettings(try SinkPlugin.presets.about.values(parsing: "presets:\(folder("plan")),names=a"))
        let other = PresetCycler(otherSettings, plan: try otherSettings.check())
        try await other.open(SinkContext(name: "presets", mayUseStandardOutput: false))
        #expect(other.writesPlan)
        try await other.close()
        #expect(folder.names == [])
    }

    @Test func `with no list it says so and cycles nothing`() async throws {
        let production = Production(steps: [.samples(TestSignal.silence(frames: 44_100 * 20))], settings: folder("plan"))
        let run = try await production.run()
        #expect(run.streams[0].events.isEmpty)
        #expect(run.notices.count == 1 && run.notices[0].contains("no list of presets"))
    }

    @Test func `an empty list and names that are not listed are told`() async throws {
        _ = try folder.write("# none\n", to: "empty.txt")
        _ = try folder.write("A\nnebulla\n", to: "skip.txt")
        let empty = Production(steps: [.samples([0, 0])], settings: "\(folder("plan")),list=\(folder("empty.txt"))")
        #expect(try await empty.run().notices.contains { $0.contains("names no preset") })
        let unknown = Production(steps: [.samples([0, 0])], settings: "\(folder("plan")),names=a+Nebula,skip=\(folder("skip.txt"))")
        let notices = try await unknown.run().notices
        #expect(notices.count == 1)
        #expect(notices[0].contains("did you mean \\\"Nebula\\\"?") || notices[0].contains("did you mean \"Nebula\"?"))
    }

    @Test func `a list that cannot be read fails the sink`() async throws {
        let production = Production(steps: [.samples([0, 0])], settings: "\(folder("plan")),list=\(folder("nowhere"))")
        let run = try await production.run()
        #expect(run.outcome.failedSinks == 1)
        #expect(run.notices.contains { $0.contains("there is no such file") })
        #expect(folder.names == [])
    }

    @Test func `a show is remembered, and a damaged memory set aside`() async throws {
        let state = folder("state.json")
        func run(_ controls: [Control]) async throws -> (events: [Event], notices: [String]) {
            var replay = ControlReplay()
            for control in controls { replay.add(StampedControl(control, at: 44_100, from: "test")) }
            let production = Production(
                steps: [.samples(TestSignal.silence(frames: 3 * 44_100))],
                settings: "\(folder("plan")),names=a+b+c+d,order=sequential,state=\(state)", replay: replay)
            let run = try await production.run()
            return (run.streams[0].events, run.notices)
        }
        #expect(try await run([.loadPreset(name: "c"), .setSpeed(0.25)]).notices.isEmpty)
        #expect(try folder.text(of: "state.json") == "{\"preset\":\"c\",\"speed\":0.25}\n")
        let next = try await run([.nextPreset]).events
        #expect(next.presets.map(\.name) == ["c", "d"])
        #expect(next.speeds == [0.25])
        #expect(try folder.text(of: "state.json") == "{\"preset\":\"d\",\"speed\":0.25}\n")
        _ = try folder.write("{\"pre", to: "state.json")
        let damaged = try await run([])
        #expect(damaged.events.presets.map(\.name) == ["a"])
        #expect(damaged.notices.count == 1 && damaged.notices[0].contains("is damaged"))
        #expect(try folder.text(of: "state.json.damaged") == "{\"pre")
    }

    @Test func `a show that cannot be remembered goes on`() async throws {
        _ = try folder.write("x", to: "file")
        let production = Production(
            steps: [.samples(TestSignal.silence(frames: 3 * 44_100))],
            settings: "\(folder("plan")),names=a+b,state=\(folder("file/below.json"))")
        let run = try await production.run()
        #expect(run.outcome.failedSinks == 0)
        #expect(run.notices.count == 1 && run.notices[0].contains("will not be remembered"))
        #expect(run.streams[0].events.presets.count == 1)
    }

    // MARK: - Settings

    private static func needs(_ spec: String) throws -> SinkPlugin.Needs {
        SinkPlugin.presets.needs(try SinkPlugin.presets.about.values(parsing: spec))
    }

    @Test func `each mode needs what it hears`() throws {
        func analyzers(_ settings: String) throws -> [String] { try Self.needs("presets:-,\(settings)").analyzers.map(\.name) }
        #expect(try analyzers("mode=timer") == [])
        #expect(try analyzers("mode=manual") == [])
        #expect(try analyzers("mode=milkdrop") == ["milkdrop"])
        #expect(try analyzers("mode=milkdrop,hard_cut=0") == [])
        #expect(try analyzers("mode=projectm") == ["milkdrop"])
        #expect(try analyzers("bars=8") == ["beat"])
        #expect(try analyzers("mode=beats") == ["beat"])
        #expect(try analyzers("mode=drop") == ["levels"])
    }

    @Test func `the defaults are those of the originals`() throws {
        func pacing(_ settings: String) throws -> Pacing {
            PresetSettings(try SinkPlugin.presets.about.values(parsing: "presets:-,\(settings)")).pacing
        }
        #expect(try pacing("mode=timer") == Pacing(period: .fixed(15), blend: 1, requestBlend: 1))
        #expect(
            try pacing("mode=milkdrop")
                == Pacing(
                    period: .uniform(18.7, extra: 10), trigger: .milkDrop(level: 2.5, halfLife: 60), blend: 2.7, requestBlend: 1.7))
        #expect(
            try pacing("mode=projectm")
                == Pacing(
                    period: .normal(30, deviation: 1), trigger: .projectM(jump: 2, earliest: 20), minimum: 1, blend: 3, requestBlend: 3))
        #expect(
            try pacing("beats=12,confidence=0.5")
                == Pacing(period: .fixed(15), trigger: .beats(.beats(12), confidence: 0.5), blend: 1, requestBlend: 1))
        #expect(try !pacing("mode=manual,max_s=5").isAutomatic)
    }

    @Test(arguments: ["presets:\"\"", "presets:-,list=", "presets:-,mode=drop,max_s=3", "presets:-,min_s=5,max_s=4", "presets:-,state="])
    func `settings that cannot be are told`(spec: String) throws {
        let values = try SinkPlugin.presets.about.values(parsing: spec)
        #expect(throws: ConfigurationError.self) { try SinkPlugin.presets.make(values) }
    }
}
