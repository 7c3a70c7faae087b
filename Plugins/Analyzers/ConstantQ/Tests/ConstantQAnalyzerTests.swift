import AnalysisSupport
import ConstantQAnalyzer
import Foundation
import Hemiola
import HemiolaTesting
import References
import TestSupport
import Testing

@Suite struct `ConstantQAnalyzer, known signals` {
    @Test func `conformance tests: passed`() throws {
        try AnalyzerConformanceSuite(.constantQ).run()
        try AnalyzerConformanceSuite(.constantQ, settings: "bins_per_octave=36,min_hz=110,octaves=5,window_s=1,delays=true").run()
    }

    @Test(arguments: [3, 12, 24, 36, 96])
    func `sine: its bin has its amplitude in dB and is between its edges`(binsPerOctave: Int) async throws {
        let analysis = try await Analysis(
            of: .sine(440, amplitude: 0.1, frames: 130_000), .constantQ, "bins_per_octave=\(binsPerOctave),min_hz=55,window_s=2.6")
        let feature = analysis.feature("magnitudes_db")
        let levels = analysis.values("magnitudes_db")[125]
        #expect(levels.count == 8 * binsPerOctave && feature.edges.count == levels.count + 1)
        let bin = 3 * binsPerOctave
        #expect(levels.firstIndex(of: levels.max()!) == bin)
        #expect(abs(levels[bin] + 20) < 0.01)
        #expect(feature.edges[bin] < 440 && feature.edges[bin + 1] > 440)
    }

    @Test func `silence: −120 dB`() async throws {
        let levels = try await Analysis(of: .silence(frames: 8192), .constantQ).values("magnitudes_db")
        #expect(levels.count == 8 && levels.allSatisfy { $0.allSatisfy { $0 == -120 } })
    }

    @Test func `after a gap: the windows begin with zeros`() async throws {
        let sine = Audio.sine(110, frames: 44 * 1024)
        let analysis = try await Analysis(
            of: [.samples(sine.samples), .gap(Gap(frames: 5000, reason: .overrun)), .samples(sine.samples)], sine.format, .constantQ,
            "min_hz=110")
        let levels = analysis.values("magnitudes_db").map { $0[0] }
        #expect(abs(levels[43]) < 0.1)
        #expect(levels[44] < -10)
        #expect(abs(levels[87]) < 0.1)
    }

    @Test func `batch of several hops: the mean power`() async throws {
        let noise = Audio.noise(frames: 4 * 4096)
        let short = try await Analysis(of: noise, .constantQ).values("magnitudes_db")
        let long = try await Analysis(of: noise, .constantQ, batchFrames: 4096).values("magnitudes_db")
        for (number, batch) in long.enumerated() {
            for bin in batch.indices {
                let mean = (0..<4).reduce(0) { $0 + pow(10, Double(short[4 * number + $1][bin]) / 10) } / 4
                #expect(abs(Double(batch[bin]) - 10 * log10(mean)) < 0.01)
            }
        }
    }

    @Test func `delays: half of each window, at most half of window_s`() async throws {
        let analysis = try await Analysis(of: .noise(frames: 4096), .constantQ, "delays=true,window_s=0.2")
        let delays = analysis.values("delays_s")[2]
        #expect(delays[0] == 0.1 && delays == delays.sorted(by: >))
        #expect(abs(delays[60] - Float(17.31 / 32.703 / 32 / 2)) < 1e-4)
    }

    @Test func `min_hz above half the sample rate: an error that names it`() throws {
        let audio = Audio.sine(100, frames: 4096, sampleRate: 8000)
        let message = try #require(
            throws: (any Error).self,
            performing: { try AnalyzerPlugin.constantQ.analyzer("min_hz=5000").prepare(AnalysisFormat(audio.format)) })
        #expect("\(message)".contains("min_hz 5000.0 is too high for a sample rate of 8000 Hz; lower it"))
    }
}
