import Hemiola
import Testing

@testable import BeatAnalyzer

@Suite struct SecondTempoTests {
    /// - Parameter tempi: BPM and probability.
    private func moments(_ tempi: [(Double, Float)], count: Int = 100) -> SecondTempo {
        var hypotheses = TempoHypotheses()
        for (rank, tempo) in tempi.enumerated() {
            hypotheses.intervals[rank] = Float(60 / tempo.0 / BandFilter.hopSeconds)
            hypotheses.weights[rank] = tempo.1
        }
        var result = SecondTempo()
        for _ in 0..<count { result.add(hypotheses) }
        return result
    }

    @Test func `half of the tempo with two fifths of the probability: told, with its share`() throws {
        let second = try #require(moments([(128, 0.6), (64, 0.4)]).other(than: 128.2))
        #expect(abs(second.beatsPerMinute - 64) < 0.1 && abs(second.share - 0.4) < 1e-6)
        // The tempo of the beats need not be the more probable one.
        let first = try #require(moments([(128, 0.6), (64, 0.4)]).other(than: 64))
        #expect(abs(first.beatsPerMinute - 128) < 0.2 && abs(first.share - 0.6) < 1e-6)
    }

    @Test func `probabilities that do not sum to 1: shares of their sum`() throws {
        let second = try #require(moments([(100, 0.3), (150, 0.3)]).other(than: 100))
        #expect(abs(second.share - 0.5) < 1e-6)
    }

    @Test func `four beats counted as three: told`() throws {
        let second = try #require(moments([(128, 0.6), (96, 0.4)]).other(than: 128))
        #expect(abs(second.beatsPerMinute - 96) < 0.2)
    }

    @Test(arguments: [[(128.0, Float(1))], [(128, 0.9), (64, 0.1)], [(128, 0.5), (132, 0.5)], [(128, 0.4), (108, 0.3), (148, 0.3)], []])
    func `no other tempo, an improbable one, one that varies: none`(_ tempi: [(Double, Float)]) {
        #expect(moments(tempi).other(than: 128) == nil)
    }
}
