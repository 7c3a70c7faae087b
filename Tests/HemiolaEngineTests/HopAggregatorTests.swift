import Foundation
import Hemiola
import HemiolaEngine
import HemiolaTesting
import LevelsAnalyzer
import SpectrumAnalyzer
import TestSupport
import Testing

/// Aggregation of hops to batches.
@Suite(.mayNotHang) struct HopAggregatorTests {
    @Test func `batch of four hops: each feature is aggregated as declared`() async throws {
        var ramp = TestSignal.silence(frames: 4096 + 1500)
        for (hop, value) in [0.25, 1, 0.5, 0.75, 0.5, 0.125].enumerated() { ramp[hop * 1024] = Float(value) }
        let stream = try await Trial([.samples(ramp)], analyzers: [.witness()], batchFrames: 4096).stream()
        #expect(stream.value("witness", "hops") == [4, 2])
        #expect(stream.value("witness", "frames") == [4096, 1500])
        #expect(stream.value("witness", "place") == [3, 1])
        #expect(stream.value("witness", "peak") == [1, 0.5])
        let mean = stream.value("witness", "mean")
        #expect(abs(mean[0] - 0.625) < 1e-6)
        #expect(abs(mean[1] - (0.5 * 1024 + 0.125 * 476) / 1500) < 1e-6)
        let hops: [[Double]] = [[0, 1024], [1024, 1024], [2048, 1024], [3072, 1024], [4096, 1024], [5120, 476]]
        #expect(stream.analyzerEvents("hop").map(\.values) == hops)
    }

    @Test func `levels of a long batch: mean power and largest peak of the short batches`() async throws {
        let music = TestSignal.noise(seed: 21, amplitude: 0.7, frames: 4096 * 3 + 2000)
        let short = try await Trial([.samples(music)], analyzers: [.levels]).stream()
        let long = try await Trial([.samples(music)], analyzers: [.levels], batchFrames: 4096).stream()
        #expect(long.batches.count == 4)
        for index in 0..<4 {
            let parts = Array(short.batches[index * 4..<min(short.batches.count, index * 4 + 4)])
            let column = short.header.layout.handle("levels", "rms_db")!.offset
            let frames = parts.reduce(0) { $0 + $1.frameCount }
            let power = parts.reduce(0) { $0 + pow(10, Double($1.row[column]) / 10) * Double($1.frameCount) } / Double(frames)
            #expect(abs(Double(long.value("levels", "rms_db")[index]) - 10 * log10(power)) < 0.001)
            let peaks = parts.map { $0.row[short.header.layout.handle("levels", "peak_db")!.offset] }
            #expect(long.value("levels", "peak_db")[index] == peaks.max())
        }
    }

    @Test func `flux of a long batch: the sum over its hops`() async throws {
        let music = TestSignal.clicks(beatsPerMinute: 400, frames: 4096 * 4)
        let short = try await Trial([.samples(music)], analyzers: [.spectrum]).stream()
        let long = try await Trial([.samples(music)], analyzers: [.spectrum], batchFrames: 4096).stream()
        let parts = short.value("spectrum", "flux")
        for (index, sum) in long.value("spectrum", "flux").enumerated() {
            let expected = parts[index * 4..<index * 4 + 4].reduce(0, +)
            #expect(abs(sum - expected) <= 1e-4 * max(1, expected))
        }
    }

    @Test func `gap in the middle of a long batch: the hops before it are aggregated`() async throws {
        var ramp = TestSignal.silence(frames: 2048)
        (ramp[0], ramp[1024]) = (0.5, 1)
        let stream = try await Trial(
            [.samples(ramp), .gap(Gap(frames: 9, reason: .frozen)), silence(batches: 4)], analyzers: [.witness()], batchFrames: 4096
        ).stream()
        #expect(stream.value("witness", "hops") == [2, 4])
        #expect(stream.value("witness", "mean") == [0.75, 0])
        #expect(stream.batches.map(\.frame) == [0, 2057])
        #expect(stream.batches.map(\.isPartial) == [true, false])
    }

    @Test(arguments: [(256, 256), (300, 300), (1024, 1024), (1280, 640), (4096, 1024), (8192, 1024), (2304, 768)])
    func `any batch size: hops of equal length`(batchFrames: Int, hopFrames: Int) async throws {
        let stream = try await Trial([silence(batches: 1, of: batchFrames)], analyzers: [.witness()], batchFrames: batchFrames).stream()
        #expect(stream.header.batching.hopFrames == hopFrames)
        #expect(stream.batches.count == 1)
        #expect(stream.value("witness", "hops") == [Float(batchFrames / hopFrames)])
    }
}
