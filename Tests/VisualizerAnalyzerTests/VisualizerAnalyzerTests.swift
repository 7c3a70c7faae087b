import Foundation
import Hemiola
import HemiolaSignal
import HemiolaTesting
import TestSupport
import Testing

@testable import VisualizerAnalyzer

@Suite struct VisualizerAnalyzerTests {
    @Test(arguments: ["", "milkdrop,bars=40,bars_min_hz=1,noise_reduction=0"])
    func `it passes the exam of the analyzers`(settings: String) throws {
        try AnalyzerExam(.visualizer, settings: settings).sit()
    }

    @Test(arguments: ["", "milkdrop"])
    func `after a reset it is like new`(settings: String) throws {
        let noise = TestSignal.noise(seed: 1, amplitude: 0.5, frames: 44_100 * 3 + 77)
        let stage = try Stage(settings)
        let first = stage.play(noise)
        stage.lose(frames: 1000)
        stage.reset()
        #expect(stage.play(noise) == first)
    }

    @Test func `the outputs stand in the order of the records`() throws {
        let stage = try Stage()
        #expect(stage.outputs.features.map(\.name) == Row.levelNames + ["bars"])
        #expect(stage.outputs.features.allSatisfy { $0.fold == .latest && $0.unit == .ratio })
        #expect(stage.outputs.features.last!.count == 16)
        #expect(stage.outputs.isCausal)
        // The levels describe the 1024 frames that end with the batch, the bars 2048.
        #expect(stage.outputs.features[0].centerOffset == 512.0 / 44_100)
        #expect(stage.outputs.features[7].centerOffset == 0)
        #expect(stage.outputs.latencyFrames == 1024)
    }

    @Test func `the spectra are such that others can share them`() throws {
        #expect(
            try Stage().outputs.spectra == [
                SpectrumRequest(size: 1024, window: .rectangular),
                SpectrumRequest(size: 2048, window: .hann, parts: .magnitude),
            ])
        #expect(try Stage("milkdrop").outputs.spectra == [SpectrumRequest(size: 2048, parts: .magnitude)])
    }

    @Test func `settings that contradict each other are refused in words`() {
        let fault = #expect(throws: ConfigurationError.self) { try Stage("bars_min_hz=300,bars_max_hz=200") }
        #expect(fault?.problems.first?.path == "bars_max_hz")
        #expect(throws: AnalyzerError.self) { try Stage("bars_max_hz=12000", sampleRate: 16_000) }
        #expect(throws: AnalyzerError.self) { try Stage("bars_min_hz=9000", sampleRate: 16_000) }
        #expect(throws: ConfigurationError.self) { try Stage("winamp") }
        // Without bars their edges are nobody's concern.
        #expect(throws: Never.self) { try Stage("bars=0,bars_max_hz=12000", sampleRate: 16_000) }
    }

    @Test func `the README shows what really comes`() throws {
        let sample = try #require(try ReadMe("Plugins/Analyzers/Visualizer").samples("json").last)
        let record = try #require(try JSONSerialization.jsonObject(with: Data(sample.utf8)) as? [String: Any])
        let values = try #require(record["visualizer"] as? [String: Any])
        let number = try #require(record["n"] as? Int)
        let row = try Stage(channels: 2).play(Array(Minuet.minute.get()[..<(2 * 1024 * (number + 1))]))[number]
        #expect(Set(values.keys) == Set(Row.levelNames + ["bars"]))
        for name in Row.levelNames { #expect(abs(try #require(values[name] as? Double) - Double(row(name))) < 1e-4) }
        let bars = try #require(values["bars"] as? [Double])
        #expect(bars.count == 16 && zip(bars, row.bars).allSatisfy { abs($0 - Double($1)) < 1e-4 })
    }
}
