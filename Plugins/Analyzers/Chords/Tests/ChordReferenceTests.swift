import HemiolaRecords
import HemiolaTonal
import References
import Testing

@testable import ChordAnalyzer

/// A given sequence of frames compared with numpy, mir_eval's chords and librosa's Viterbi decoder. `Tests/References/README.md` explains
/// the numbers.
@Suite struct `ChordDecoder, reference vectors` {
    private let reference = TonalVectors.shared.chords

    /// That of each frame.
    private func agreements() -> [ChordAgreement] {
        let templates = ChordTemplates(hasSevenths: true)
        var persistence = ChromaPersistence(window: 5, frameSeconds: reference.frameS)
        return zip(reference.chroma, reference.bass).map { chroma, bass in
            let (chroma, bass) = (chroma.map { Float($0) }, bass.map { Float($0) })
            persistence.add(chroma.span)
            return templates.agreement(chroma.span, bass.span, persistence: persistence.value)
        }
    }

    @Test func `agreement with all chords: within 1e-5`() {
        let agreements = agreements()
        for expected in reference.agreement {
            let agreement = agreements[expected.frame]
            for (state, value) in expected.values.enumerated() {
                #expect(abs(Double(agreement.values[state]) - value) < 1e-5, "frame \(expected.frame), state \(state)")
            }
        }
    }

    @Test func `whole sequence: the same path`() {
        var decoder = ChordDecoder(meanSeconds: reference.meanS, frameSeconds: reference.frameS, capacity: nil)
        for agreement in agreements() { decoder.add(agreement) }
        let runs = decoder.path()
        let states = reference.path.indices.map { frame in runs.last { $0.first <= frame }!.state }
        #expect(states == reference.path)
    }

    @Test func `decided after a delay: the same states`() {
        let delay = reference.delayFrames
        var decoder = ChordDecoder(meanSeconds: reference.meanS, frameSeconds: reference.frameS, capacity: delay + 1)
        var states: [Int] = []
        for (frame, agreement) in agreements().enumerated() {
            decoder.add(agreement)
            if frame >= delay { states.append(decoder.state(before: delay)) }
        }
        #expect(states == reference.delayedPath)
    }
}

@Suite struct `ChordRun, why there is no chord` {
    private let chroma: [Float] = [1, 0.2, 0.3, 0.1, 0.9, 0.2, 0.1, 0.8, 0.2, 0.3, 0.1, 0.2]
    private let silence = [Float](repeating: 0, count: 12)

    /// The status and the record of a run of frames without a chord.
    private func run(_ chroma: [Float], persistence: Float) throws -> (status: TonalStatus, event: Event) {
        let agreement = ChordTemplates(hasSevenths: true).agreement(chroma.span, silence.span, persistence: persistence)
        var (run, events) = (ChordRun(), EventList())
        #expect(run.status == .tooLittleSound)
        for frame in 0..<10 { run.add(ChordVocabulary.none, agreement, at: 0.05 * Double(frame), in: 0, into: &events) }
        let status = run.status
        run.finish(at: 0.5, in: 0, into: &events)
        return (status, try #require(events.events.first))
    }

    @Test(arguments: [(Float(0), false), (0.15, false), (0.2, true), (0.9, true)])
    func `frames that resemble a chord: no tones unless the pitch classes last`(persistence: Float, hasTones: Bool) throws {
        let (status, event) = try run(chroma, persistence: persistence)
        #expect(status == (hasTones ? .undecided : .noTones))
        #expect(event["reason"].string == (hasTones ? "undecided" : "no tones") && event["label"].string == "N")
    }

    @Test func `silence after tones: no tones; a chord: no reason`() throws {
        #expect(try run(silence, persistence: 0.9).status == .noTones)
        let agreement = ChordTemplates(hasSevenths: true).agreement(chroma.span, silence.span, persistence: 0.9)
        var (run, events) = (ChordRun(), EventList())
        run.add(0, agreement, at: 0, in: 0, into: &events)
        #expect(run.status == .found)
        run.finish(at: 0.5, in: 0, into: &events)
        #expect(events.events.first?["label"].string == "C:maj" && events.events.first?["reason"].string == nil)
    }
}
