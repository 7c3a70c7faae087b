import Hemiola
import HemiolaEngine
import HemiolaTesting
import HemiolaVisualizer
import Synchronization
import TestSupport
import Testing

/// Which plugin handles a control, and which events a sink gets.
@Suite(.mayNotHang) struct FallbackControlTests {
    /// Runs a pipeline in which a sink submits controls after the first batch.
    ///
    /// - Returns: The sink that submitted them.
    private func run(
        _ controls: [Control], analyzers: [AnalyzerPlugin] = [.witness()], sinks: [SinkPlugin]
    ) async throws -> CollectingSink {
        let client = CollectingSink()
        try await Trial(
            [silence(batches: 1), .call { for control in controls { client.post(control) } }, .idle(), silence(batches: 1)],
            analyzers: analyzers, sinks: sinks + [.collecting(client)]
        ).run()
        return client
    }

    @Test func `fallback handler: gets only the controls that no other plugin declares`() async throws {
        let (director, fallback) = (DirectingTestSink(), HandlerSink(fallback: [.nextPreset, .lockTempo, .randomPreset]))
        let client = try await run(
            [Control(.nextPreset), Control(.lockTempo, .number(120)), Control(.randomPreset)], sinks: [fallback.plugin(), director.plugin])
        // The director declares the first, the analyzer declares and refuses the second.
        #expect(fallback.handled.items == ["randomPreset"])
        #expect(client.replies.map(\.reply) == [.done, .refused("not in this test"), .done])
        #expect(client.streams[0].recordTypes.count { $0 == "control" } == 2)
    }

    @Test func `control that no plugin declares: refused, no handler gets it`() async throws {
        let fallback = HandlerSink(controls: [.toggleCycle], fallback: [.nextPreset])
        let client = try await run(
            [Control(.randomPreset), Control(.toggleCycle), Control(.nextPreset)], sinks: [fallback.plugin()])
        #expect(client.replies.map(\.reply) == [.refused("nothing in this pipeline handles randomPreset"), .done, .done])
        #expect(fallback.handled.items == ["toggleCycle", "nextPreset"])
    }

    @Test func `control whose plugin is registered but not in the pipeline: refused`() async throws {
        let client = CollectingSink()
        var trial = Trial(
            [silence(batches: 1), .call { client.post(Control(.nextPreset)) }, .idle(), silence(batches: 1)],
            sinks: [.collecting(client), HandlerSink(controls: [.nextPreset]).plugin()])
        trial.configuration.sinks = [PluginSpec("collecting")]
        try await trial.run()
        #expect(client.replies.map(\.reply) == [.refused("nothing in this pipeline handles nextPreset")])
        #expect(client.streams[0].header.catalog.control("nextPreset") != nil)
    }

    @Test func `several fallback handlers: the first of the pipeline gets the control`() async throws {
        let (first, second) = (HandlerSink(fallback: [.nextPreset]), HandlerSink(fallback: [.nextPreset, .randomPreset]))
        let client = try await run(
            [Control(.nextPreset), Control(.randomPreset)], sinks: [first.plugin(), second.plugin(as: "second")])
        #expect(first.handled.items == ["nextPreset"] && second.handled.items == ["randomPreset"])
        #expect(client.replies.map(\.reply) == [.done, .done])
    }

    @Test(arguments: [false, true])
    func `two plugins declare a control, and one refuses it: both handle it, the reply is done`(firstRefuses: Bool) async throws {
        let first = HandlerSink(controls: [.nextPreset], refusal: firstRefuses ? "not here" : nil)
        let second = HandlerSink(controls: [.nextPreset], refusal: firstRefuses ? nil : "not here")
        let client = try await run([Control(.nextPreset)], sinks: [first.plugin(), second.plugin(as: "second")])
        #expect(first.handled.items == ["nextPreset"] && second.handled.items == ["nextPreset"])
        #expect(client.replies.map(\.reply) == [.done])
        #expect(client.streams[0].recordTypes.count { $0 == "control" } == 1)
    }

    @Test func `an analyzer refuses a control and a director applies it: the reply is done`() async throws {
        let director = HandlerSink(controls: [.lockTempo])
        let client = try await run([Control(.lockTempo, .number(120))], sinks: [director.plugin()])
        #expect(client.replies.map(\.reply) == [.done])
        #expect(director.handled.items == ["lockTempo"])
    }

    @Test func `every handler refuses a control: the reply is a refusal, and there is no record`() async throws {
        let first = HandlerSink(controls: [.nextPreset], refusal: "not here")
        let second = HandlerSink(controls: [.nextPreset], refusal: "nor here")
        let client = try await run([Control(.nextPreset)], sinks: [first.plugin(), second.plugin(as: "second")])
        #expect(client.replies.map(\.reply) == [.refused("nor here")])
        #expect(!client.streams[0].recordTypes.contains("control"))
    }

    // MARK: - Events

    @Test(arguments: [([], []), ([.gap], ["gap"]), ([.gap, .analyzerEvent], ["event", "gap"])] as [([RecordType], [String])])
    func `event types that a sink needs but does not select: sent to the sink`(
        needed: [RecordType], types: [String]
    ) async throws {
        let sink = HandlerSink()
        var trial = Trial(
            [silence(batches: 1), .gap(Gap(frames: 5, reason: .frozen)), silence(batches: 1)], analyzers: [.witness()],
            sinks: [sink.plugin(needing: needed)])
        trial.configuration.selection = ["batch"]
        try await trial.run()
        #expect(Set(sink.collector.streams[0].events.map(\.type.name)) == Set(types))
        // The sink writes only selected events.
        #expect(sink.collector.context?.records.selection.contains("gap") == false)
    }

    @Test func `sink that ends the run: the stream is interrupted`() async throws {
        let sink = HandlerSink()
        let outcome = try await Trial(
            [silence(batches: 2), .call { sink.endRun() }, .idle(), silence(batches: 50)], isLive: true, analyzers: [.witness()],
            sinks: [sink.plugin()]
        ).run()
        #expect(outcome.wasStopped)
        #expect(sink.collector.streams[0].summary?.reason == .interrupted)
    }
}

/// A sink with a director that handles the declared controls, or refuses all of them.
private final class HandlerSink: DirectingSink, Sendable {
    let collector = CollectingSink()
    /// The names of the controls that its director was called with.
    let handled = Log<String>()
    private let controls: [ControlType]
    private let fallback: [ControlType]
    private let refusal: String?

    init(controls: [ControlType] = [], fallback: [ControlType] = [], refusal: String? = nil) {
        self.controls = controls
        self.fallback = fallback
        self.refusal = refusal
    }

    func plugin(as id: String = "handling", needing events: [RecordType] = []) -> SinkPlugin {
        SinkPlugin(
            PluginDescription(id, "Handles controls.", declares: .init(controls: controls, fallbackControls: fallback)),
            settings: NoSettings.self,
            needs: { _ in SinkPlugin.Needs(events: events) },
            make: { [self] _ throws(Problem) in self })
    }

    func endRun() { collector.context?.run.end() }

    func makeDirector() throws(Problem) -> sending any Director { HandlingDirector(handled, refusal) }
    func open(_ context: SinkContext) throws(Problem) { try collector.open(context) }
    func begin(_ stream: StreamHeader) throws(Problem) { try collector.begin(stream) }
    func write(_ batches: BatchBlock) throws(Problem) { try collector.write(batches) }
    func end(_ summary: StreamSummary) throws(Problem) { try collector.end(summary) }
    func close() throws(Problem) { try collector.close() }
}

private final class HandlingDirector: Director, ControlHandler {
    private let handled: Log<String>
    private let refusal: String?

    init(_ handled: Log<String>, _ refusal: String?) {
        self.handled = handled
        self.refusal = refusal
    }

    func prepare(_ stream: StreamHeader) {}
    func direct(_ moment: BatchMoment, _ row: borrowing FeatureRow, into events: inout EventList) {}

    func handle(_ control: StampedControl) -> ControlReply {
        handled.append(control.control.name)
        return refusal.map { .refused($0) } ?? .done
    }
}
