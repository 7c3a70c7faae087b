import Foundation
import Hemiola
import HemiolaTesting
import TestSupport
import Testing

@testable import VisualizerAnalyzer

@Suite struct VisualizerAnalyzerTests {
    @Test(arguments: ["", "milkdrop,bars=40,bars_min_hz=1,noise_reduction=0"])
    func `conformance suite: passes`(settings: String) throws {
        try AnalyzerConformanceSuite(.visualizer, settings: settings).run()
    }

    @Test(arguments: ["", "milkdrop"])
    func `second stream: the same values`(settings: String) throws {
        let noise = TestSignal.noise(seed: 1, amplitude: 0.5, frames: 44_100 * 3 + 77)
        let harness = try AnalyzerHarness(settings)
        let first = harness.process(noise)
        harness.skip(frames: 1000)
        try harness.prepare()
        #expect(harness.process(noise) == first)
    }

    @Test func `outputs are declared in the order of the records`() throws {
        let harness = try AnalyzerHarness()
        #expect(harness.outputs.features.map(\.name) == Row.levelNames + ["bars"])
        #expect(harness.outputs.features.allSatisfy { $0.aggregation == .latest && $0.unit == .ratio })
        #expect(harness.outputs.features.last!.count == 16)
        #expect(harness.outputs.isCausal)
        // The windows end with the batch: 1024 frames for the levels, and for the lowest bar 8192 and half the decimation filter.
        #expect(harness.outputs.features[0].centerOffset == 512.0 / 44_100)
        #expect(harness.outputs.features[7].centerOffset == (1024 - 4136.0) / 44_100)
        #expect(harness.outputs.latencyFrames == 4136)
    }

    @Test func `spectrum requests can be shared with other analyzers`() throws {
        #expect(
            try AnalyzerHarness().outputs.spectra == [
                SpectrumRequest(size: 1024, window: .rectangular),
                SpectrumRequest(size: 2048, window: .hann, parts: .magnitude),
            ])
        #expect(try AnalyzerHarness("milkdrop").outputs.spectra == [SpectrumRequest(size: 2048, parts: .magnitude)])
    }

    @Test func `contradicting settings throw errors`() {
        let fault = #expect(throws: Problem.self) { try AnalyzerHarness("bars_min_hz=300,bars_max_hz=200") }
        #expect(fault?.all.first?.place == .key("bars_max_hz"))
        #expect(throws: Problem.self) { try AnalyzerHarness("bars_max_hz=12000", sampleRate: 16_000) }
        #expect(throws: Problem.self) { try AnalyzerHarness("bars_min_hz=9000", sampleRate: 16_000) }
        #expect(throws: Problem.self) { try AnalyzerHarness("winamp") }
        // Without bars their edges are not checked.
        #expect(throws: Never.self) { try AnalyzerHarness("bars=0,bars_max_hz=12000", sampleRate: 16_000) }
    }
}
