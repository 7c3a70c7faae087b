import Foundation
import HemiolaSignal
import HemiolaTonal
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
        // The odds of two keys are exp(15 · difference of their correlations).
        for (index, correlation) in expected.correlations.enumerated() {
            let difference = log(Double(estimator.probabilities[index] / estimate.confidence)) / 15
            #expect(abs(difference - (correlation - highest)) < 1e-4, "key \(index)")
        }
        let total = (0..<24).reduce(0) { $0 + Double(estimator.probabilities[$1]) }
        #expect(abs(total - 1) < 1e-5)
    }
}

@Suite struct `KeyEstimator, tones or none` {
    /// The notes of C major above other pitch classes that are almost as strong, as in music with percussion.
    private let chroma: [Float] = [1, 0.6, 0.85, 0.6, 0.9, 0.8, 0.6, 0.95, 0.6, 0.85, 0.6, 0.7]

    private func status(_ frames: [[Float]]) -> (key: Int?, status: TonalStatus) {
        var estimator = KeyEstimator(.general, window: nil, frameSeconds: 0.05)
        for frame in frames { estimator.add(frame.span) }
        let key = estimator.estimate()?.key
        return (key, estimator.status)
    }

    @Test func `weak tones that last: a key; the same mean without tones that last: none, no tones`() {
        let steady = status(Array(repeating: chroma, count: 400))
        #expect(steady.key == 0 && steady.status == .found)
        // Each pitch class is at 1 or at 0 in a frame, as often as its mean says, at random.
        var random = SplitMix64(seed: 11)
        let fleeting = status((0..<4000).map { _ in chroma.map { Float(random.uniform()) < $0 ? 1 : 0 } })
        #expect(fleeting.key == nil && fleeting.status == .noTones)
    }

    @Test func `why there is no key`() {
        let silence = [Float](repeating: 0, count: 12)
        #expect(status([]).status == .tooLittleSound)
        #expect(status(Array(repeating: chroma, count: 59)).status == .tooLittleSound)
        #expect(status(Array(repeating: silence, count: 400)).status == .tooLittleSound)
        #expect(status(Array(repeating: [Float](repeating: 1, count: 12), count: 400)).status == .noTones)
        var tone = silence
        tone[9] = 1
        #expect(status(Array(repeating: tone, count: 400)).status == .undecided)
        // A chromatic cluster.
        #expect(status(Array(repeating: [1, 1, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5], count: 400)).status == .undecided)
    }
}
