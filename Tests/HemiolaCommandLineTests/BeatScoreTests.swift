import Foundation
import Testing

@testable import HemiolaCommandLine

/// Compares the scores with those of mir_eval.
@Suite struct BeatScoreTests {
    private struct Case: Decodable {
        var reference: [Double]
        var estimate: [Double]
        var f: Double
        var cemgil: Double
        var cmlc: Double
        var cmlt: Double
        var amlc: Double
        var amlt: Double
        var onsetF: Double

        enum CodingKeys: String, CodingKey {
            case reference, estimate, f, cemgil, cmlc, cmlt, amlc, amlt
            case onsetF = "onset_f"
        }
    }

    private static func cases() throws -> [Case] {
        let url = try #require(Bundle.module.url(forResource: "cases", withExtension: "json"))
        return try JSONDecoder().decode([Case].self, from: Data(contentsOf: url))
    }

    @Test func `all measures agree with mir_eval`() throws {
        let cases = try Self.cases()
        #expect(cases.count > 100)
        for (index, item) in cases.enumerated() {
            let score = BeatScore(reference: item.reference, estimate: item.estimate)
            let pairs = [
                ("f", score.fMeasure, item.f), ("cemgil", score.cemgil, item.cemgil),
                ("cmlc", score.correctLevelContinuity, item.cmlc), ("cmlt", score.correctLevelTotal, item.cmlt),
                ("amlc", score.allowedLevelContinuity, item.amlc), ("amlt", score.allowedLevelTotal, item.amlt),
                (
                    "onset_f", EventMatching(reference: item.reference, estimate: item.estimate, window: 0.05).fMeasure,
                    item.onsetF
                ),
            ]
            for (name, value, expected) in pairs {
                #expect(abs(value - expected) < 1e-9, "case \(index): \(name)")
            }
        }
    }

    @Test func `the cases cover all kinds of errors`() throws {
        let cases = try Self.cases()
        #expect(cases.contains { $0.amlt > $0.cmlt + 0.3 } && cases.contains { $0.cmlt > $0.cmlc + 0.2 })
        #expect(cases.contains { $0.f == 1 } && cases.contains { $0.f == 0 })
    }

    @Test func `perfect estimate: all measures 1; empty estimate: all 0`() {
        let beats = (0..<40).map { Double($0) * 0.5 }
        let perfect = BeatScore(reference: beats, estimate: beats)
        #expect(perfect.fMeasure == 1 && perfect.cemgil == 1 && perfect.correctLevelContinuity == 1 && perfect.allowedLevelTotal == 1)
        let nothing = BeatScore(reference: beats, estimate: [])
        #expect(nothing.fMeasure == 0 && nothing.cemgil == 0 && nothing.allowedLevelTotal == 0)
    }

    @Test func `beats before the start are ignored`() {
        let beats = (0..<40).map { Double($0) * 0.5 }
        let late = beats.filter { $0 >= 5 }
        #expect(BeatScore(reference: beats, estimate: late).fMeasure == 1)
        #expect(BeatScore(reference: beats, estimate: late, from: 0).matching.recall == 0.75)
    }

    @Test func `matching is one to one`() {
        let matching = EventMatching(reference: [1, 1.05, 2], estimate: [1.02, 1.94, 2.01, 3], window: 0.07)
        #expect(matching.matchCount == 2 && matching.precision == 0.5 && matching.recall == 2.0 / 3)
    }
}
