import Hemiola
import HemiolaEngine
import HemiolaSignal
import HemiolaTesting
import Synchronization
import TestSupport
import Testing

/// A sink that is called on the analysis thread before its own thread is woken.
@Suite(.mayNotHang) struct NonBlockingSinkTests {
    /// Runs live, one batch at a time, as fast as the sink writes.
    private func run(_ sink: EagerSink, batches: Int, isLive: Bool = true, events: String = "") async throws {
        let steps = (1...batches).flatMap { count -> [CaptureStep] in
            isLive ? [silence(batches: 1), .pause(until: { sink.count == count })] : [silence(batches: 1)]
        }
        var trial = Trial(steps, isLive: isLive, analyzers: [.witness()], sinks: [sink.plugin])
        if !events.isEmpty { trial.configuration.sinks = [try PluginSpec(parsing: "eager:\(events)")] }
        try await trial.run()
    }

    @Test func `live: every batch is written once, in order, nearly all on the analysis thread`() async throws {
        let sink = EagerSink()
        try await run(sink, batches: 100)
        #expect(sink.numbers == Array(0..<100))
        #expect(sink.promptCount > 50)
        #expect(sink.calls == ["open", "begin", "end", "close"])
    }

    @Test func `writeIfReady returns false: the batch is written by the thread of the sink, in order`() async throws {
        let sink = EagerSink { $0 % 3 != 0 }
        try await run(sink, batches: 90)
        #expect(sink.numbers == Array(0..<90))
        #expect(sink.promptCount > 20 && sink.promptCount <= 60)
    }

    @Test func `file at real-time speed: every batch is written once, in order, most on the analysis thread`() async throws {
        let sink = EagerSink()
        var trial = Trial((1...40).map { _ in silence(batches: 1) }, analyzers: [.witness()], sinks: [sink.plugin])
        trial.configuration.isPaced = true
        try await trial.run()
        #expect(sink.numbers == Array(0..<40))
        #expect(sink.promptCount > 10)
    }

    @Test func `select: the analysis thread writes too`() async throws {
        let sink = EagerSink()
        try await run(sink, batches: 100, events: "select=batch+event")
        #expect(sink.numbers == Array(0..<100))
        #expect(sink.promptCount > 50)
        #expect(sink.eventCount > 0)
    }

    @Test func `select without the events of every batch: they do not wake the thread of the sink`() async throws {
        let sink = EagerSink()
        try await run(sink, batches: 100, events: "select=batch+beat")
        #expect(sink.numbers == Array(0..<100))
        #expect(sink.promptCount > 50)
        #expect(sink.eventCount == 0)
    }

    @Test func `file, or lead_ms: the thread of the sink writes`() async throws {
        let (file, timed) = (EagerSink(), EagerSink())
        try await run(file, batches: 70, isLive: false)
        #expect(file.numbers == Array(0..<70))
        #expect(file.promptCount == 0)
        try await run(timed, batches: 20, events: "lead_ms=50")
        #expect(timed.numbers == Array(0..<20))
        #expect(timed.promptCount == 0)
    }
}

private final class EagerSink: NonBlockingSink {
    private struct State {
        var calls: [String] = []
        var numbers: [Int64] = []
        var promptCount = 0
        var eventCount = 0
        /// Detects two calls at the same time.
        var isInside = false
    }

    private let state = Mutex(State())
    private let wants: @Sendable (Int64) -> Bool

    init(wants: @escaping @Sendable (Int64) -> Bool = { _ in true }) {
        self.wants = wants
    }

    var plugin: SinkPlugin {
        SinkPlugin("eager", "Writes at once.", make: { [self] _ throws(ConfigurationError) in self })
    }

    var calls: [String] { state.withLock { $0.calls } }
    var numbers: [Int64] { state.withLock { $0.numbers } }
    var count: Int { state.withLock { $0.numbers.count } }
    var promptCount: Int { state.withLock { $0.promptCount } }
    var eventCount: Int { state.withLock { $0.eventCount } }

    func open(_ context: SinkContext) async throws(SinkError) { note("open") }
    func begin(_ stream: StreamHeader) async throws(SinkError) { note("begin") }
    func write(_ batches: BatchBlock) async throws(SinkError) { take(batches, isPrompt: false) }
    func end(_ summary: StreamSummary) async throws(SinkError) { note("end") }
    func close() async throws(SinkError) { note("close") }

    func writeIfReady(_ batches: BatchBlock) -> Bool {
        guard wants(batches[0].number) else { return false }
        take(batches, isPrompt: true)
        return true
    }

    private func note(_ call: String) {
        state.withLock { $0.calls.append(call) }
    }

    private func take(_ batches: BatchBlock, isPrompt: Bool) {
        state.withLock { state in
            #expect(!state.isInside, "it writes twice at a time")
            state.isInside = true
        }
        pause(milliseconds: 1)
        state.withLock { state in
            for index in 0..<batches.count {
                state.numbers.append(batches[index].number)
                state.eventCount += batches[index].events.count
            }
            if isPrompt { state.promptCount += 1 }
            state.isInside = false
        }
    }
}
