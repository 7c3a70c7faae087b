import AnalysisSupport
import ChromaAnalyzer
import Foundation
import Hemiola
import HemiolaTesting
import References
import TestSupport
import Testing

@Suite struct `ChromaAnalyzer, known signals` {
    /// A major triad on C, 30 cents above A4 = 440 Hz.
    private func triad(frames: Int, sampleRate: Int = 44_100, cents: Double = 30) -> Audio {
        Audio(frames: frames, sampleRate: sampleRate) { frame, _ in
            [60.0, 64, 67].reduce(0) { sum, note in
                sum + 0.2 * sin(2 * .pi * 440 * exp2((note - 69 + cents / 100) / 12) * Double(frame) / Double(sampleRate))
            }
        }
    }

    @Test func `conformance tests: passed`() throws {
        try AnalyzerConformanceSuite(.chroma).run()
        try AnalyzerConformanceSuite(.chroma, settings: "bins=36").run()
    }

    @Test(arguments: [256, 1024, 4096])
    func `detuned triad: its three pitch classes, the largest 1, and the tuning`(batchFrames: Int) async throws {
        let analysis = try await Analysis(of: triad(frames: 3 * 44_100), .chroma, batchFrames: batchFrames)
        let chroma = analysis.values("bins")[analysis.batches.count / 2]
        #expect(chroma.max() == 1)
        for bin in chroma.indices { #expect((chroma[bin] > 0.8) == [0, 4, 7].contains(bin)) }
        #expect(abs(analysis.value("tuning_cents")[analysis.batches.count - 2] - 30) < 1)
    }

    @Test func `silence: no chroma and no tuning`() async throws {
        let analysis = try await Analysis(of: .silence(frames: 8192), .chroma)
        #expect(analysis.values("bins").allSatisfy { $0.allSatisfy { $0.isNaN } })
        #expect(analysis.value("tuning_cents").allSatisfy { $0.isNaN })
    }

    @Test func `after a gap: the tuning stays, the chroma begins anew`() async throws {
        let audio = triad(frames: 2 * 44_032)
        let analysis = try await Analysis(
            of: [.samples(audio.samples), .gap(Gap(frames: 44_100, reason: .overrun)), .samples([Float](repeating: 0, count: 44_032))],
            audio.format, .chroma)
        #expect(analysis.values("bins")[85].allSatisfy { !$0.isNaN })
        #expect(analysis.values("bins")[86...].allSatisfy { $0.allSatisfy { $0.isNaN } })
        #expect(abs(analysis.value("tuning_cents").last! - 30) < 2)
    }

    @Test(arguments: [8_000, 22_050, 96_000])
    func `other sample rates: the same chroma`(sampleRate: Int) async throws {
        let reference = try await Analysis(of: triad(frames: 2 * 44_100), .chroma).values("bins")[60]
        let analysis = try await Analysis(of: triad(frames: 2 * sampleRate, sampleRate: sampleRate), .chroma)
        let chroma = analysis.values("bins")[analysis.batches.count * 60 / 87]
        for (one, other) in zip(reference, chroma) { #expect(abs(one - other) < 0.1) }
    }

    @Test func `bins that are no multiple of 12: an error`() {
        #expect(throws: Problem.self) { try AnalyzerPlugin.chroma.analyzer("bins=20") }
    }
}
