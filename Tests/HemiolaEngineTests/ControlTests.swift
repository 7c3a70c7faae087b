import Hemiola
import HemiolaEngine
import HemiolaTesting
import HemiolaVisualizer
import LevelsAnalyzer
import TestSupport
import Testing

/// Controls that sinks submit to a pipeline.
@Suite(.mayNotHang) struct ControlTests {
    /// Runs five batches. The controls are submitted while the third one is read, so that they take effect in the fourth.
    private func run(
        isLive: Bool = false, analyzers: [AnalyzerPlugin] = [.witness()], gate: Gate = Gate(isOpen: true),
        _ submit: @escaping @Sendable (CollectingSink) -> Void
    ) async throws -> CollectingSink {
        let sink = CollectingSink(gate: gate)
        try await Trial(
            [silence(batches: 2), .call { submit(sink) }, silence(batches: 3)], isLive: isLive, analyzers: analyzers,
            sinks: [.collecting(sink)]
        ).run()
        return sink
    }

    @Test(arguments: [false, true])
    func `control: takes effect in the next batch, which contains its record`(isLive: Bool) async throws {
        let sink = try await run(isLive: isLive) { $0.post(Control(.tap), from: "web/7") }
        let stream = sink.streams[0]
        let event = try #require(stream.events.first { $0.type.name == "control" })
        #expect(event.control == StampedControl(Control(.tap), at: 3072, from: "web/7"))
        #expect(event.time == 3072.0 / 44_100)
        #expect(stream.batchNumber { $0.type.name == "control" } == 3)
        #expect(sink.replies.map(\.reply) == [.done])
    }

    @Test func `control that switches something: its event and the reply say whether that is on`() async throws {
        let sink = CollectingSink()
        try await Trial(
            [silence(batches: 1), .call { for _ in 0..<2 { sink.post(Control(.toggleCycle)) } }, silence(batches: 2)],
            sinks: [.collecting(sink), DirectingTestSink().plugin]
        ).run()
        #expect(sink.streams[0].events.map { $0.control?.isOn } == [false, true])
        #expect(sink.replies.map(\.reply) == [.switched(false), .switched(true)])
    }

    @Test func `control while the source pauses: its record and its reply come without a batch`() async throws {
        let sink = CollectingSink()
        try await Trial(
            [
                silence(batches: 1), .call { sink.post(Control(.tap)) }, .idle(), .pause { sink.replies.count == 1 },
                // In the middle of a batch.
                .samples([0, 0]), .call { sink.post(Control(.tap)) }, .idle(), .pause { sink.replies.count == 2 },
                silence(batches: 1),
            ], analyzers: [.witness()], sinks: [.collecting(sink)]
        ).run()
        let controls = sink.streams[0].events.compactMap(\.control)
        #expect(controls.map(\.frame) == [1024, 1024])
        #expect(sink.replies.map(\.batchCount) == [1, 1])
    }

    @Test func `reply: comes after the batch with the effect, to the sink that has it`() async throws {
        let sink = try await run { $0.post(Control(.tap)) }
        #expect(sink.replies.map(\.batchCount) == [5])
    }

    @Test func `control during an outage of the device: its record and its reply are sent before audio returns`() async throws {
        let lost = DeviceEvent(name: "d", summary: "D", state: .lost, format: TestSignal.mono)
        var opened = lost
        opened.state = .opened
        let sink = CollectingSink()
        let early = Shared<[ControlReply]>([])
        try await Trial(
            [
                silence(batches: 1), .samples(TestSignal.silence(frames: 300)), .device(lost), .idle(),
                .call {
                    sink.post(Control(.tap))
                    sink.post(Control(.randomPreset))
                }, .idle(times: 2), .pause { sink.streams.first?.recordTypes.contains("control") == true },
                .call { early.value = sink.replies.map(\.reply) }, .device(opened), silence(batches: 1),
            ], isLive: true, analyzers: [.witness()], sinks: [.collecting(sink)]
        ).run()
        #expect(early.value == [.done, .refused("nothing in this pipeline handles randomPreset")])
        #expect(sink.streams[0].recordTypes.filter { $0 != "event" } == ["device", "control", "device"])
    }

    @Test func `controls of two sinks: each gets the replies to its own`() async throws {
        let (one, other) = (CollectingSink(), CollectingSink())
        try await Trial(
            [
                silence(batches: 1),
                .call {
                    one.post(Control(.tap))
                    other.post(Control(.halveTempo))
                    one.post(Control(.halveTempo))
                }, .idle(), silence(batches: 1),
            ], analyzers: [.witness()], sinks: [.collecting(one, as: "one"), .collecting(other, as: "other")]
        ).run()
        #expect(one.replies.map(\.control) == [Control(.tap), Control(.halveTempo)])
        #expect(other.replies.map(\.control) == [Control(.halveTempo)])
        #expect(one.streams[0].events.filter { $0.type.name == "control" }.count == 3)
        #expect(one.streams[0].batches == other.streams[0].batches)
    }

    @Test func `refused control: the reply has the reason, no record`() async throws {
        let sink = try await run { sink in
            sink.post(Control(.lockTempo, .number(120)))
            sink.post(Control(.randomPreset))
        }
        #expect(
            sink.replies.map(\.reply) == [.refused("not in this test"), .refused("nothing in this pipeline handles randomPreset")])
        #expect(!sink.streams[0].recordTypes.contains("control"))
    }

    @Test func `full inbox: replies busy at once`() async throws {
        let immediate = Shared(-1)
        let sink = try await run { sink in
            for _ in 0..<257 { sink.post(Control(.tap)) }
            immediate.value = sink.replies.count
        }
        #expect(immediate.value == 1)
        #expect(sink.replies.first?.reply == .busy)
        #expect(sink.replies.count { $0.reply == .done } == 256)
        #expect(sink.streams[0].recordTypes.count { $0 == "control" } == 256)
    }

    @Test func `control at the end of a file: takes effect in the next file`() async throws {
        let sink = CollectingSink()
        var trial = Trial(
            [silence(batches: 1), .call { sink.post(Control(.tap)) }], analyzers: [.witness()], sinks: [.collecting(sink)])
        trial.configuration.captures = [PluginSpec("scripted"), PluginSpec("scripted")]
        try await trial.run()
        #expect(sink.streams[1].batchNumber { $0.type.name == "control" } == 0)
        #expect(Set(sink.replies.map(\.reply)) == [.done, .refused("the stream has ended")])
    }

    @Test func `control after the end of the run: refused`() async throws {
        let sink = CollectingSink { call, sink in
            if call == .end || call == .close { sink.post(Control(.tap)) }
        }
        try await Trial([silence(batches: 1)], analyzers: [.witness()], sinks: [.collecting(sink)]).run()
        sink.post(Control(.tap))
        #expect(sink.replies.count == 3)
        #expect(sink.replies.allSatisfy { $0.reply == .refused("the stream has ended") })
    }

    @Test func `batches dropped for a client: reported in a record`() async throws {
        let loss = DropReport(sink: "web", client: "9", batches: 4)
        let sink = try await run { $0.report(loss) }
        #expect(sink.streams[0].events.contains(Event(at: 3072.0 / 44_100, loss)))
    }

    @Test func `losses that go on: wait for their end, or that of the stream, and the end record has the sums`() async throws {
        @Sendable func losses(_ count: Int, isOngoing: Bool = false, client: String = "9") -> DropReport {
            DropReport(sink: "web", client: client, batches: count, events: 1, isOngoing: isOngoing)
        }
        let sink = try await run { sink in
            sink.report(losses(1))
            for count in 2...5 { sink.report(losses(count, isOngoing: true)) }
            sink.report(losses(7, isOngoing: true, client: "8"))
            sink.report(losses(6))
            // The end of losses that there were not.
            sink.report(DropReport(sink: "osc", batches: 0))
        }
        let events = sink.streams[0].events
        #expect(events.compactMap { DropReport($0) }.map(\.batches) == [1, 20, 7])
        #expect(events.filter { $0.type == .dropped }.map(\.time) == [3072, 3072, 5120].map { $0 / 44_100.0 })
        #expect(sink.streams[0].summary?.dropped.map(\.sink) == ["web"])
        #expect(sink.streams[0].summary?.dropped.map(\.batches) == [28 + 7])
    }

    @Test func `director: called once per batch, handles controls`() async throws {
        let director = DirectingTestSink()
        let sink = CollectingSink()
        try await Trial(
            [
                .samples(TestSignal.sine(441, frames: 2048)), .call { sink.post(Control(.nextPreset), from: "key") },
                .samples(TestSignal.sine(441, frames: 3072)), .gap(Gap(frames: 5, reason: .frozen)),
            ], analyzers: [.levels], sinks: [director.plugin, .collecting(sink)]
        ).run()
        let stream = sink.streams[0]
        #expect(stream.batchNumber { $0.type.name == "preset" } == 3)
        #expect(stream.events.contains(Event(at: 4096.0 / 44_100, TestDirector.change)))
        #expect(stream.batchNumber { $0.type.name == "control" } == 3)
        #expect(sink.replies.map(\.reply) == [.done])
        // The director reads the row of the completed batch, in decibels.
        #expect(director.levels.items.count == 5)
        #expect(director.levels.items == stream.value("levels", "rms_db"))
        #expect(director.log.items == ["prepare", "skip 5"])
        #expect(director.sink.streams[0].batches == stream.batches)
    }
}

/// A sink with a director that emits a preset change for a `nextPreset` control, and switches something with `toggleCycle`.
final class DirectingTestSink: DirectingSink, Sendable {
    let sink = CollectingSink()
    let log = Log<String>()
    let levels = Log<Float>()
    /// Why it has no director; nil: it has one.
    private let fault: Problem?

    init(fault: Problem? = nil) {
        self.fault = fault
    }

    var plugin: SinkPlugin {
        SinkPlugin(
            PluginDescription(
                "directing", "Emits preset changes.", declares: .init(records: [.preset], controls: [.nextPreset, .toggleCycle])),
            settings: NoSettings.self
        ) {
            [self] _ throws(Problem) in self
        }
    }

    func makeDirector() throws(Problem) -> sending any Director {
        if let fault { throw fault }
        return TestDirector(log, levels)
    }

    func open(_ context: SinkContext) throws(Problem) { try sink.open(context) }
    func begin(_ stream: StreamHeader) throws(Problem) { try sink.begin(stream) }
    func write(_ batches: BatchBlock) throws(Problem) { try sink.write(batches) }
    func end(_ summary: StreamSummary) throws(Problem) { try sink.end(summary) }
    func close() throws(Problem) { try sink.close() }
}

final class TestDirector: Director, ControlHandler {
    static let change = PresetChange(name: "next", cut: .hard, blend: 0, reason: .request)

    private let log: Log<String>
    private let levels: Log<Float>
    private var level: FeatureHandle?
    private var isWanted = false
    private var isOn = true

    init(_ log: Log<String>, _ levels: Log<Float>) {
        self.log = log
        self.levels = levels
    }

    func prepare(_ stream: StreamHeader) {
        log.append("prepare")
        level = stream.layout.handle("levels", "rms_db")
    }

    func direct(_ moment: BatchMoment, _ row: borrowing FeatureRow, into events: inout EventList) {
        if let level { levels.append(row[level]) }
        if isWanted { events.append(Self.change, at: moment.end) }
        isWanted = false
    }

    func skip(_ gap: Gap) {
        log.append("skip \(gap.frames)")
    }

    func handle(_ control: StampedControl) -> ControlReply {
        switch control.control.type {
        case .nextPreset:
            isWanted = true
            return .done
        case .toggleCycle:
            isOn.toggle()
            return .switched(isOn)
        default: return .unknown(control.control)
        }
    }
}
