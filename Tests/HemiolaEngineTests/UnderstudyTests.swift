import Hemiola
import HemiolaEngine
import HemiolaSignal
import HemiolaTesting
import Synchronization
import TestSupport
import Testing

/// What sinks may do that speak with somebody outside.
@Suite(.mayNotHang) struct UnderstudyTests {
    @Test func `an understudy is asked only for what nobody else obeys`() async throws {
        let (show, bridge) = (ShowSink(), BridgeSink())
        let poster = CollectingSink()
        try await Trial(
            [
                silence(batches: 1),
                .call {
                    poster.post(.nextPreset)
                    poster.post(.lockTempo(beatsPerMinute: 120))
                    poster.post(.randomPreset)
                }, .idle(), silence(batches: 1),
            ], analyzers: [.witness()], sinks: [bridge.plugin(), show.plugin, .collecting(poster)]
        ).run()
        // The director obeys the first, the analyzer refuses the second.
        #expect(bridge.asked.items == ["randomPreset"])
        #expect(poster.replies.map(\.reply) == [.done, .refused("not in this test"), .done])
        #expect(poster.streams[0].recordTypes.count { $0 == "control" } == 2)
    }

    @Test(arguments: [(false, []), (true, ["event", "gap"])])
    func `a sink that needs every event gets those that are not selected too`(needsEvery: Bool, types: [String]) async throws {
        let bridge = BridgeSink()
        var trial = Trial(
            [silence(batches: 1), .gap(Gap(frames: 5, reason: .frozen)), silence(batches: 1)], analyzers: [.witness()],
            sinks: [bridge.plugin(everyEvent: needsEvery)])
        trial.configuration.selection = ["batch"]
        try await trial.run()
        #expect(Set(bridge.sink.streams[0].events.map(\.recordType)) == Set(types))
    }

    @Test func `a sink can end the run`() async throws {
        let bridge = BridgeSink()
        let outcome = try await Trial(
            [silence(batches: 2), .call { bridge.endRun() }, .idle(), silence(batches: 50)], isLive: true, analyzers: [.witness()],
            sinks: [bridge.plugin()]
        ).run()
        #expect(outcome.wasStopped)
        #expect(bridge.sink.streams[0].summary?.reason == .interrupted)
    }
}

/// A sink whose director steps in for others.
private final class BridgeSink: DirectingSink {
    let sink = CollectingSink()
    let asked = Log<String>()
    private let context = Mutex<SinkContext?>(nil)

    func plugin(everyEvent: Bool = false) -> SinkPlugin {
        SinkPlugin(
            "bridging", "Steps in.", needs: { _ in SinkPlugin.Needs(everyEvent: everyEvent) },
            make: { [self] _ throws(ConfigurationError) in self })
    }

    func endRun() { context.withLock { $0 }?.endRun() }

    func makeDirector() throws(SinkError) -> sending any Director { UnderstudyDirector(asked) }
    func open(_ context: SinkContext) async throws(SinkError) {
        self.context.withLock { $0 = context }
        try await sink.open(context)
    }
    func begin(_ stream: StreamHeader) async throws(SinkError) { try await sink.begin(stream) }
    func write(_ batches: BatchBlock) async throws(SinkError) { try await sink.write(batches) }
    func end(_ summary: StreamSummary) async throws(SinkError) { try await sink.end(summary) }
    func close() async throws(SinkError) { try await sink.close() }
}

private final class UnderstudyDirector: Director, Understudy {
    private let asked: Log<String>

    init(_ asked: Log<String>) { self.asked = asked }

    func prepare(_ stream: StreamHeader) {}
    func direct(_ moment: BatchMoment, _ row: borrowing FeatureRow, into events: inout EventList) {}

    func obey(_ control: StampedControl) -> ControlReply? {
        asked.append(control.control.name)
        return .done
    }
}
