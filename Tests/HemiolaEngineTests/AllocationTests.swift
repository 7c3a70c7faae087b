import AllocationCounter
import Hemiola
import HemiolaEngine
import HemiolaPlugins
import HemiolaTesting
import Synchronization
import TestSupport
import Testing

/// Allocations on the analysis thread.
@Suite(.serialized, .mayNotHang) struct AllocationTests {
    @Test(.disabled(if: Sanitizer.isOn, "a sanitizer has its own allocator"), arguments: [(256, 2), (1280, 2), (1024, 6)])
    func `hop after the warm-up: no allocations`(batchFrames: Int, channelCount: Int) async throws {
        let batching = try #require(Batching(batchFrames: batchFrames))
        let log = AllocationLog(hopsPerBlock: batching.hopsPerBatch * BatchBlock.capacity)
        // Those that need a setting run other programs.
        let analyzers = PluginRegistry.standard.analyzers.filter { plugin in
            var problems: [Problem] = []
            guard let values = plugin.about.values(from: PluginSpec(plugin.about.id), problems: &problems) else { return false }
            return (try? plugin.check(values)) != nil
        }
        var trial = Trial([], analyzers: analyzers, sinks: [.idle(log)], batchFrames: batchFrames)
        trial.captures = [.counted(log, channelCount: channelCount)]
        trial.configuration.analyzers =
            analyzers.map { PluginSpec($0.about.id) } + [
                PluginSpec("beat", as: "phrases", settings: ["phrases": .text("true")]),
                PluginSpec("spectrum", as: "fine", settings: ["size": .text("512")]),
                PluginSpec("visualizer", as: "milkdrop", settings: ["profile": .text("milkdrop"), "bars": .text("64")]),
            ]
        try await trial.run()
        let excess = log.counts.enumerated().filter { $0.offset >= log.warmUpHops && $0.element > 0 }.map { [$0.offset, Int($0.element)] }
        if !excess.isEmpty { allocation_report() }
        #expect(log.counts.count == log.hops)
        #expect(log.counts.contains { $0 > 0 }, "the counter does not count")
        #expect(excess == [])
    }
}

/// The number of allocations of the analysis thread between one read of the capture and the next.
final class AllocationLog: Sendable {
    private struct State {
        var counts: [UInt64] = []
        var last: UInt64 = 0
        var isStarted = false
    }

    let hopsPerBlock: Int
    /// Opens when the largest number of blocks is in use: one in the sink, four in its queue, one being filled.
    let isCrowded = Gate()
    private let state: Mutex<State>

    init(hopsPerBlock: Int) {
        self.hopsPerBlock = hopsPerBlock
        var empty = State()
        empty.counts.reserveCapacity(hopsPerBlock * 16)
        state = Mutex(empty)
    }

    /// Hops until the queue, the block pool and the lists have grown to their final size.
    var warmUpHops: Int { hopsPerBlock * 7 }
    var hops: Int { hopsPerBlock * 9 }
    var counts: [UInt64] { state.withLock { $0.counts } }

    func enter() {
        let now = allocation_count()
        let count = state.withLock { state -> Int in
            if state.isStarted { state.counts.append(now - state.last) }
            state.isStarted = true
            if state.counts.count == warmUpHops { allocation_trace(20) }
            if state.counts.count == hops { allocation_trace(0) }
            return state.counts.count
        }
        if count == hopsPerBlock * 5 + 1 { isCrowded.open() }
    }

    func leave() {
        state.withLock { $0.last = allocation_count() }
    }
}

/// Delivers the same hop repeatedly, from a buffer that is allocated before the run.
private final class CountedCapture: Capture {
    private let log: AllocationLog
    private let format: StreamFormat
    private let source: [Float]
    private var left: Int

    init(_ log: AllocationLog, channelCount: Int) {
        self.log = log
        left = log.hops
        format = StreamFormat(
            sampleRate: 44_100, channelCount: channelCount, channelMap: ChannelMap(waveMask: 0x3f, channelCount: channelCount))
        source = TestSignal.noise(seed: 1, frames: 1024, format: format)
    }

    var isLive: Bool { false }

    func open(_ request: FormatRequest) throws(Problem) -> StreamSource {
        StreamSource(format: format, kind: "counted", name: "counted")
    }

    func read(into samples: inout MutableSpan<Float>) throws(Problem) -> ReadResult {
        log.enter()
        defer { log.leave() }
        if left == 0 { return .end }
        left -= 1
        let count = samples.count
        source.withUnsafeBufferPointer { from in
            samples.withUnsafeMutableBufferPointer { $0.baseAddress!.update(from: from.baseAddress!, count: count) }
        }
        return .frames(count / format.channelCount)
    }

    func close() {}
}

extension CapturePlugin {
    fileprivate static func counted(_ log: AllocationLog, channelCount: Int) -> CapturePlugin {
        CapturePlugin(PluginDescription("counted", "Counts allocations."), settings: NoSettings.self) { _ throws(Problem) in
            CountedCapture(log, channelCount: channelCount)
        }
    }
}

/// Discards all batches. The first write waits until the pool of blocks has grown to its limit.
private final class IdleSink: Sink {
    private let log: AllocationLog

    init(_ log: AllocationLog) {
        self.log = log
    }

    func open(_ context: SinkContext) throws(Problem) {}
    func begin(_ stream: StreamHeader) throws(Problem) {}
    func write(_ batches: BatchBlock) throws(Problem) {
        log.isCrowded.wait()
    }
    func end(_ summary: StreamSummary) throws(Problem) {}
    func close() throws(Problem) {}
}

extension SinkPlugin {
    fileprivate static func idle(_ log: AllocationLog) -> SinkPlugin {
        SinkPlugin(PluginDescription("idle", "Discards all batches."), settings: NoSettings.self) { _ throws(Problem) in IdleSink(log) }
    }
}
