import Hemiola
import HemiolaEngine
import HemiolaTesting
import HemiolaVisualizer
import LevelsAnalyzer
import TestSupport
import Testing

/// Recordings that are sent to sinks.
@Suite(.mayNotHang) struct RecordingTests {
    private let folder: TemporaryFolder
    private let sink = CollectingSink()

    init() throws {
        folder = try TemporaryFolder()
    }

    private static func header(_ outputs: String = #"{"name":"rms_db","unit":"dBFS","count":1,"list":false,"description":"Level."}"#)
        -> String
    {
        #"{"type":"header","schema":2,"hemiola":"1","source":{"kind":"scripted","name":"x","duration_s":null},"sample_rate":44100,"#
            + #""channels":1,"batch_frames":1024,"seed":0,"analyzers":[{"id":"levels","plugin":"levels","version":1,"#
            + #""latency_frames":0,"causal":true,"parameters":{},"outputs":["# + outputs + #"],"events":[]}]}"#
    }

    private static func batch(_ number: Int, frame: Int? = nil, level: String = "-6.5", partial: Bool = false) -> String {
        let frame = frame ?? number * 1024
        return #"{"type":"batch","n":\#(number),"frame":\#(frame),"t":\#(Double(frame) / 44_100),"levels":{"rms_db":\#(level)}"#
            + (partial ? #","partial":true}"# : "}")
    }

    private static func beat(_ time: Double, emitted frame: Int) -> String {
        #"{"type":"beat","t":\#(time),"bpm":120.0,"position":1,"confidence":0.5,"emitted_t":\#(Double(frame) / 44_100),"due_in_s":0.0}"#
    }

    private static func end(_ frames: Int, reason: String = "end-of-input") -> String {
        #"{"type":"end","t":0.0,"frames":\#(frames),"batches":2,"non_finite":0,"dropped":{},"summaries":{},"reason":"\#(reason)"}"#
    }

    /// Replays lines to the collecting sink and other sinks.
    @discardableResult
    private func replay(
        _ lines: [String], isPaced: Bool = false, clock: any MonotonicClock = .system, needs: SinkPlugin.Needs = SinkPlugin.Needs(),
        audio: [CaptureStep]? = nil,
        format: StreamFormat = TestSignal.mono, sinks: [SinkPlugin] = [], notices: Notices = Notices()
    ) async throws -> RunOutcome {
        let path = try folder.write(lines.map { $0 + "\n" }.joined(), to: "r.jsonl")
        let registry = PluginRegistry(
            captures: audio.map { [.scripted(format: format, $0)] } ?? [], sinks: [.collecting(sink, needs: needs)] + sinks)
        let configuration = PipelineConfiguration(
            captures: audio == nil ? [] : [PluginSpec("scripted")], sinks: registry.sinks.map { PluginSpec($0.about.id) }, isPaced: isPaced)
        let pipeline = try registry.assemble(replaying: try Recording(path, registry), configuration, clock: clock)
        #expect(pipeline.recordingName == path && pipeline.analyzerNames == ["levels"])
        return await pipeline.run { notices.append($0) }
    }

    // MARK: - Batches

    @Test func `batches with events: rows, frames and events are those of the records`() async throws {
        let outcome = try await replay([
            Self.header(), Self.batch(0), Self.beat(0.1, emitted: 1024), Self.batch(1, level: "null"), Self.end(2048),
        ])
        let stream = sink.streams[0]
        #expect(outcome.failedInputs == 0 && outcome.streams == 1)
        #expect(stream.batches.map(\.number) == [0, 1] && stream.batches.map(\.frameCount) == [1024, 1024])
        #expect(stream.batches[0].row == [-6.5] && stream.batches[1].row[0].isNaN)
        #expect(stream.batches[0].events.compactMap(Beat.init) == [Beat(beatsPerMinute: 120, position: 1, confidence: 0.5)])
        #expect(stream.summary?.frames == 2048 && stream.summary?.reason == .endOfInput)
        #expect(stream.header.format.sampleRate == 44_100 && !stream.header.isLive)
    }

    @Test func `sink that another one wants: not added to a replay`() async throws {
        let path = try folder.write([Self.header(), Self.batch(0), Self.end(1024)].map { $0 + "\n" }.joined(), to: "r.jsonl")
        let other = SinkPlugin.collecting(CollectingSink(), as: "other")
        let registry = PluginRegistry(sinks: [.collecting(sink, needs: SinkPlugin.Needs(sinks: [PluginSpec("other")])), other])
        let configuration = PipelineConfiguration(captures: [], sinks: [PluginSpec("collecting")])
        #expect(try registry.assemble(replaying: try Recording(path, registry), configuration).sinkNames == ["collecting"])
    }

    @Test func `partial batch before a gap: its length is that up to the gap`() async throws {
        try await replay([
            Self.header(), Self.batch(0, partial: true),
            #"{"type":"gap","t":\#(300.0 / 44_100),"duration_s":0.1,"frames":4410,"reason":"frozen"}"#, Self.batch(1, frame: 4710),
            Self.batch(2, frame: 5734, partial: true), Self.end(5800),
        ])
        #expect(sink.streams[0].batches.map(\.frameCount) == [300, 1024, 66])
        #expect(sink.streams[0].batches[0].events.compactMap(Gap.init) == [Gap(frames: 4410, reason: .frozen)])
    }

    @Test func `events before the first batch and after the last: sent at their time, without values`() async throws {
        let device = #"{"type":"device","t":0.0,"name":"d","description":"D","state":"opened","sample_rate":44100,"channels":1}"#
        try await replay([Self.header(), device, Self.batch(0), Self.beat(0.05, emitted: 2000), Self.end(2000)])
        let batches = sink.streams[0].batches
        #expect(batches.map(\.frame) == [0, 0, 2000] && batches.map(\.frameCount) == [0, 1024, 0])
        #expect(batches.map { $0.events.map(\.type.name) } == [["device"], [], ["beat"]])
    }

    @Test func `many streams: each with its header`() async throws {
        let outcome = try await replay([Self.header(), Self.batch(0), Self.end(1024), "", Self.header(), Self.batch(0), Self.end(1024)])
        #expect(outcome.streams == 2 && sink.streams.map(\.batches.count) == [1, 1])
    }

    @Test(arguments: [
        (#"{"type":"batch"}"#, "r.jsonl:3: missing \\\"n\\\""), ("nonsense", "r.jsonl:3: invalid JSON"),
        (batch(5, frame: 100), "r.jsonl:3: the batch begins before the end of the batch before"),
    ])
    func `broken line: the stream ends with an error before it`(line: String, message: String) async throws {
        let notices = Notices()
        let outcome = try await replay([Self.header(), Self.batch(0), line, Self.batch(2)], notices: notices)
        #expect(outcome.failedInputs == 1 && sink.streams[0].batches.count == 1)
        #expect(sink.streams[0].summary?.reason == .error)
        #expect(notices.texts.contains { $0.contains(message) || $0.contains(message.replacing("\\", with: "")) }, "\(notices.texts)")
    }

    @Test func `record after the end of a stream: fault`() async throws {
        let outcome = try await replay([Self.header(), Self.end(0), Self.batch(0)])
        #expect(outcome.failedInputs == 1 && sink.streams.count == 1)
    }

    @Test func `many events of one batch: divided, all sent`() async throws {
        let text = String(repeating: "x", count: 1000)
        let events = (0..<2000).map { #"{"type":"other","t":0.01,"number":\#($0),"text":"\#(text)"}"# }
        let notices = Notices()
        try await replay([Self.header(), Self.batch(0)] + events + [Self.end(1024)], notices: notices)
        #expect(sink.streams[0].events.compactMap(\.line) == events.map { Array($0.utf8) })
        #expect(sink.streams[0].batches.count > 5 && sink.streams[0].batches.allSatisfy { $0.events.count < 600 })
        #expect(notices.count("warning") == 1, "the undeclared type is reported once")
    }

    @Test func `long events: a block is passed on when they have 256 KiB`() async throws {
        let text = String(repeating: "x", count: 1 << 20)
        let lines = (0..<20).flatMap { number in
            [Self.batch(number), #"{"type":"other","t":\#((Double(number) + 0.5) * 1024 / 44_100),"text":"\#(text)"}"#]
        }
        try await replay([Self.header()] + lines + [Self.end(20_480)])
        #expect(sink.streams[0].blocks.reduce(0, +) >= 20 && sink.streams[0].blocks.allSatisfy { $0 == 1 })
        #expect(sink.streams[0].events.count == 20)
    }

    // MARK: - Real time

    @Test func `paced: the run takes the time of the stream`() async throws {
        let clock = VirtualClock()
        let start = clock.now
        try await replay([Self.header()] + (0..<22).map { Self.batch($0) } + [Self.end(22_528)], isPaced: true, clock: clock)
        #expect(abs(clock.now - start - 22_528.0 / 44_100) < 0.001)
        #expect(sink.streams[0].blocks == [Int](repeating: 1, count: 22))
    }

    @Test func `stop during a gap of an hour: the run ends`() async throws {
        let path = try folder.write(
            [Self.header(), Self.batch(0), Self.batch(1, frame: 160_000_000), Self.end(160_001_024)].map { $0 + "\n" }.joined(),
            to: "r.jsonl")
        let registry = PluginRegistry(sinks: [.collecting(sink)])
        let running = Shared<Pipeline?>(nil)
        let clock = AlarmClock(after: 60) { running.value?.stop() }
        let start = clock.now
        let pipeline = try registry.assemble(
            replaying: try Recording(path, registry), PipelineConfiguration(sinks: [PluginSpec("collecting")], isPaced: true), clock: clock)
        running.value = pipeline
        defer { running.value = nil }
        #expect(await pipeline.run().wasStopped)
        #expect(clock.now - start < 61)
        #expect(sink.streams[0].summary?.reason == .interrupted && sink.streams[0].batches.count == 1)
    }

    // MARK: - Audio

    @Test func `audio with a gap: aligned with the records`() async throws {
        let samples = (0..<4096).map { Float($0) / 4096 }
        try await replay(
            [Self.header()] + (0..<4).map { Self.batch($0) } + [Self.end(4096)], needs: SinkPlugin.Needs(samples: true),
            audio: [
                .samples(Array(samples[..<1500]), fragment: 100), .idle(times: 2), .gap(Gap(frames: 1000, reason: .damagedFile)),
                .samples(Array(samples[2500...])),
            ])
        let received = sink.streams[0].batches.flatMap(\.samples)
        #expect(received == samples.enumerated().map { (1500..<2500).contains($0) ? 0 : $1 })
    }

    @Test func `recording without batches: the batches of the stream with their samples`() async throws {
        let samples = (0..<5000).map { Float($0) / 5000 }
        try await replay(
            [Self.header(""), Self.beat(0.05, emitted: 2048), Self.beat(0.09, emitted: 4096), Self.end(5000)],
            needs: SinkPlugin.Needs(samples: true), audio: [.samples(samples)])
        let batches = sink.streams[0].batches
        #expect(batches.map(\.frame) == [0, 1024, 2048, 3072, 4096] && batches.map(\.frameCount) == [1024, 1024, 1024, 1024, 904])
        #expect(batches.map(\.events.count) == [0, 1, 0, 1, 0])
        #expect(batches.flatMap(\.samples) == samples)
    }

    @Test func `audio with another sample rate: the input fails`() async throws {
        let notices = Notices()
        let outcome = try await replay(
            [Self.header(), Self.batch(0), Self.end(1024)], needs: SinkPlugin.Needs(samples: true),
            audio: [silence(batches: 1)], format: StreamFormat(sampleRate: 48_000, channelCount: 1), notices: notices)
        #expect(outcome.failedInputs == 1 && sink.streams.isEmpty)
        #expect(notices.texts.contains { $0.contains("48000 Hz and 1 channel, but the recording has 44100 Hz") }, "\(notices.texts)")
    }

    // MARK: - Directors

    @Test func `director: processes the recorded rows, and its records replace the recorded ones`() async throws {
        let directing = DirectingTestSink()
        let preset =
            #"{"type":"preset","t":0.01,"frame":441,"emitted_t":\#(1024.0 / 44_100),"action":"load","name":"old","cut":"hard","#
            + #""blend_s":0.0,"reason":"start","next_in_s":null}"#
        let control = #"{"type":"control","t":\#(1024.0 / 44_100),"frame":1024,"control":"nextPreset","from":"web/1"}"#
        try await replay(
            [Self.header(), Self.batch(0, level: "-1.0"), preset, Self.batch(1, level: "-2.0"), control, Self.batch(2), Self.end(3072)],
            sinks: [directing.plugin])
        #expect(directing.levels.items == [-1, -2, -6.5])
        let events = directing.sink.streams[0].batches.map { $0.events.map(\.type.name) }
        #expect(events == [[], ["control", "preset"], []])
        #expect(sink.streams[0].events.compactMap(PresetChange.init) == [TestDirector.change])
    }

    @Test func `recorded control that switches something: its event says whether that is on`() async throws {
        let controls = ["toggleCycle", "nextPreset", "toggleCycle"].map {
            #"{"type":"control","t":\#(1024.0 / 44_100),"frame":1024,"control":"\#($0)","from":"web/1"}"#
        }
        try await replay([Self.header(), Self.batch(0)] + controls + [Self.batch(1), Self.end(2048)], sinks: [DirectingTestSink().plugin])
        #expect(sink.streams[0].events.compactMap(\.control).map(\.isOn) == [false, nil, true])
    }

    @Test func `control of a client during a replay: handled by a director, with its record`() async throws {
        let (directing, client) = (
            DirectingTestSink(),
            CollectingSink(before: { call, sink in
                if call == .begin { sink.post(Control(.nextPreset)) }
                if call == .begin { sink.post(Control(.randomPreset)) }
            })
        )
        try await replay(
            [Self.header()] + (0..<20).map { Self.batch($0) } + [Self.end(20_480)], isPaced: true,
            sinks: [directing.plugin, .collecting(client, as: "client")])
        #expect(client.replies.map(\.reply) == [.done, .refused("nothing in a replay handles randomPreset")])
        #expect(client.streams[0].recordTypes == ["control", "preset"])
    }

    @Test func `sink that needs an analyzer: error when the recording does not have it`() throws {
        let path = try folder.write([Self.header(), Self.end(0)].map { $0 + "\n" }.joined(), to: "r.jsonl")
        let registry = PluginRegistry(
            analyzers: [.witness()],
            sinks: [.collecting(sink, needs: SinkPlugin.Needs(analyzers: [PluginSpec("witness", as: "w")]))])
        let recording = try Recording(path, registry)
        do {
            _ = try registry.assemble(replaying: recording, PipelineConfiguration(sinks: [PluginSpec("collecting")]))
            Issue.record("it was assembled")
        } catch {
            #expect(error.all.map(\.place) == [.sink(0)])
            #expect(error.all[0].message.contains("--analyzer +witness:as=w"), "\(error.all)")
        }
    }

    @Test func `sink that needs an analyzer and reads controls: a recording without controls is enough`() throws {
        let path = try folder.write([Self.header(), Self.end(0)].map { $0 + "\n" }.joined(), to: "r.jsonl")
        let needs = SinkPlugin.Needs(analyzers: [PluginSpec("levels")], events: [.control])
        let registry = PluginRegistry(analyzers: [.levels], sinks: [.collecting(sink, needs: needs)])
        let recording = try Recording(path, registry)
        #expect(throws: Never.self) {
            try registry.assemble(replaying: recording, PipelineConfiguration(sinks: [PluginSpec("collecting")]))
        }
    }

    @Test func `director that needs a feature of an analyzer that loads a model: error when the recording does not have it`() throws {
        let header = Self.header().replacing(#""id":"levels","plugin":"levels""#, with: #""id":"loaded","plugin":"loaded""#)
        let path = try folder.write([header, Self.end(0)].map { $0 + "\n" }.joined(), to: "r.jsonl")
        let plugin = SinkPlugin(
            PluginDescription("directing", "Has a director."), settings: NoSettings.self,
            needs: { _ in SinkPlugin.Needs(analyzers: [PluginSpec("loaded")]) },
            make: { _ throws(Problem) in DirectingTestSink() })
        let registry = PluginRegistry(analyzers: [.loaded()], sinks: [plugin])
        let recording = try Recording(path, registry)
        let error = #expect(throws: Problem.self) {
            try registry.assemble(replaying: recording, PipelineConfiguration(sinks: [PluginSpec("directing")]))
        }
        #expect(error?.description.contains("loaded.value") == true)
    }
}

/// A virtual clock that calls a function when somebody waits after a time.
private struct AlarmClock: MonotonicClock {
    private let clock = VirtualClock()
    private let time: Double
    private let alarm: @Sendable () -> Void

    init(after seconds: Double, _ alarm: @escaping @Sendable () -> Void) {
        time = clock.now + seconds
        self.alarm = alarm
    }

    var now: Double { clock.now }

    func sleep(until end: Double) {
        clock.sleep(until: end)
        if now >= time { alarm() }
    }
}
