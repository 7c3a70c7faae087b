import HemiolaSignal
import References
import Testing

@testable import ChordAnalyzer

/// A given sequence of frames compared with numpy, mir_eval's chords and librosa's Viterbi decoder. `Tests/References/README.md` explains
/// the numbers.
@Suite struct `ChordDecoder, reference vectors` {
    private let reference = TonalVectors.shared.chords

    private func agreement(ofFrame frame: Int) -> ChordAgreement {
        let (chroma, bass) = (reference.chroma[frame].map { Float($0) }, reference.bass[frame].map { Float($0) })
        return ChordTemplates(hasSevenths: true).agreement(chroma.span, bass.span)
    }

    @Test func `agreement with all chords: within 1e-5`() {
        for expected in reference.agreement {
            let agreement = agreement(ofFrame: expected.frame)
            for (state, value) in expected.values.enumerated() {
                #expect(abs(Double(agreement.values[state]) - value) < 1e-5, "frame \(expected.frame), state \(state)")
            }
        }
    }

    @Test func `whole sequence: the same path`() {
        var decoder = ChordDecoder(meanSeconds: reference.meanS, frameSeconds: reference.frameS, capacity: nil)
        for frame in reference.chroma.indices { decoder.add(agreement(ofFrame: frame)) }
        let runs = decoder.path()
        let states = reference.path.indices.map { frame in runs.last { $0.first <= frame }!.state }
        #expect(states == reference.path)
    }

    @Test func `decided after a delay: the same states`() {
        let delay = reference.delayFrames
        var decoder = ChordDecoder(meanSeconds: reference.meanS, frameSeconds: reference.frameS, capacity: delay + 1)
        var states: [Int] = []
        for frame in reference.chroma.indices {
            decoder.add(agreement(ofFrame: frame))
            if frame >= delay { states.append(decoder.state(before: delay)) }
        }
        #expect(states == reference.delayedPath)
    }
}
