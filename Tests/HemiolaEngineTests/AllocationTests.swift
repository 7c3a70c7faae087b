import AllocationCounter
import BeatAnalyzer
import Hemiola
import HemiolaEngine
import HemiolaSignal
import HemiolaTesting
import LevelsAnalyzer
import SpectrumAnalyzer
import Synchronization
import TestSupport
import Testing
import VisualizerAnalyzer

/// The hot path does not allocate.
@Suite(.serialized, .mayNotHang) struct AllocationTests {
    @Test(.disabled(if: Sanitizer.isOn, "a sanitizer has its own allocator"), arguments: [(256, 2), (1280, 2), (1024, 6)])
    func `a warm hop does not allocate`(batchFrames: Int, channelCount: Int) async throws {
        let batching = try #require(Batching(batchFrames: batchFrames))
        let tally = Tally(hopsPerBlock: batching.hopsPerBatch * BatchBlock.capacity)
        var trial = Trial([], analyzers: [.levels, .spectrum, .visualizer, .beat], sinks: [.idle(tally)], batchFrames: batchFrames)
        trial.captures = [.counted(tally, channelCount: channelCount)]
        trial.configuration.analyzers = [
            PluginSpec("levels"), PluginSpec("spectrum"), PluginSpec("visualizer"), PluginSpec("beat"),
            PluginSpec("spectrum", as: "fine", settings: ["size": .text("512")]),
            PluginSpec("visualizer", as: "milkdrop", settings: ["profile": .text("milkdrop")]),
        ]
        try await trial.run()
        let guilty = tally.counts.enumerated().filter { $0.offset >= tally.cold && $0.element > 0 }.map { [$0.offset, Int($0.element)] }
        if !guilty.isEmpty { allocation_report() }
        #expect(tally.counts.count == tally.hops)
        #expect(tally.counts.contains { $0 > 0 }, "the counter does not count")
        #expect(guilty == [])
    }
}

/// How much the thread that reads allocated between one read and the next.
final class Tally: Sendable {
    private struct State {
        var counts: [UInt64] = []
        var last: UInt64 = 0
        var isStarted = false
    }

    let hopsPerBlock: Int
    private let state: Mutex<State>

    init(hopsPerBlock: Int) {
        self.hopsPerBlock = hopsPerBlock
        var empty = State()
        empty.counts.reserveCapacity(hopsPerBlock * 16)
        state = Mutex(empty)
    }

    /// Hops until every buffer exists: mailbox, pool and lists have then grown to their size.
    var cold: Int { hopsPerBlock * 7 }
    var hops: Int { hopsPerBlock * 9 }
    /// Whether as many blocks are under way as ever can be: one at the sink, four waiting, one being filled.
    var isCrowded: Bool { state.withLock { $0.counts.count > hopsPerBlock * 5 } }
    var counts: [UInt64] { state.withLock { $0.counts } }

    func enter() {
        let now = allocation_count()
        state.withLock { state in
            if state.isStarted { state.counts.append(now - state.last) }
            state.isStarted = true
            if state.counts.count == cold { allocation_trace(20) }
            if state.counts.count == hops { allocation_trace(0) }
        }
    }

    func leave() {
        state.withLock { $0.last = allocation_count() }
    }
}

/// Delivers the same hop again and again out of a buffer that was made before.
private final class CountedCapture: Capture {
    private let tally: Tally
    private let format: StreamFormat
    private let source: [Float]
    private var left: Int

    init(_ tally: Tally, channelCount: Int) {
        self.tally = tally
        left = tally.hops
        format = StreamFormat(
            sampleRate: 44_100, channelCount: channelCount, channelMap: ChannelMap(waveMask: 0x3f, channelCount: channelCount))
        source = TestSignal.noise(seed: 1, frames: 1024, format: format)
    }

    var isLive: Bool { false }

    func open(_ request: FormatRequest) throws(CaptureError) -> StreamSource {
        StreamSource(format: format, kind: "counted", name: "counted")
    }

    func read(into samples: inout MutableSpan<Float>) throws(CaptureError) -> ReadResult {
        tally.enter()
        defer { tally.leave() }
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
    fileprivate static func counted(_ tally: Tally, channelCount: Int) -> CapturePlugin {
        CapturePlugin("counted", "Counts allocations.") { _ throws(ConfigurationError) in
            CountedCapture(tally, channelCount: channelCount)
        }
    }
}

/// Takes everything and keeps nothing. The first time it is slow, so that the pool of blocks grows as far as it can.
private final class IdleSink: Sink {
    private let tally: Tally

    init(_ tally: Tally) {
        self.tally = tally
    }

    func open(_ context: SinkContext) async throws(SinkError) {}
    func begin(_ stream: StreamHeader) async throws(SinkError) {}
    func write(_ batches: BatchBlock) async throws(SinkError) {
        while !tally.isCrowded { pause(milliseconds: 1) }
    }
    func end(_ summary: StreamSummary) async throws(SinkError) {}
    func close() async throws(SinkError) {}
}

extension SinkPlugin {
    fileprivate static func idle(_ tally: Tally) -> SinkPlugin {
        SinkPlugin("idle", "Keeps nothing.") { _ throws(ConfigurationError) in IdleSink(tally) }
    }
}
