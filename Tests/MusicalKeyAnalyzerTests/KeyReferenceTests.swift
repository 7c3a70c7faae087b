import Foundation
import References
import Testing

@testable import MusicalKeyAnalyzer

/// Given chromas compared with numpy and Essentia. `Tests/References/README.md` explains the numbers.
@Suite struct `KeyEstimator, reference vectors` {
    @Test(arguments: TonalVectors.shared.keys.cases.indices)
    func `given chromas: the correlations with all keys within 1e-4, and the same key`(number: Int) throws {
        let (keys, expected) = (TonalVectors.shared.keys, TonalVectors.shared.keys.cases[number])
        let profile = try #require(KeyProfile(rawValue: expected.profile))
        var estimator = KeyEstimator(profile, window: expected.windowS, frameSeconds: keys.frameS)
        for run in expected.runs {
            let chroma = keys.chroma[run[0]].map { Float($0) }
            for _ in 0..<run[1] { estimator.add(chroma.span) }
        }
        let key = estimator.estimate()
        let estimate = try #require(key)
        let highest = expected.correlations.max()!
        #expect(expected.correlations[estimate.key] == highest)
        // The odds of two keys are exp(18 · difference of their correlations).
        for (index, correlation) in expected.correlations.enumerated() {
            let difference = log(Double(estimator.probabilities[index] / estimate.confidence)) / 18
            #expect(abs(difference - (correlation - highest)) < 1e-4, "key \(index)")
        }
        let total = (0..<24).reduce(0) { $0 + Double(estimator.probabilities[$1]) }
        #expect(abs(total - 1) < 1e-5)
    }
}
