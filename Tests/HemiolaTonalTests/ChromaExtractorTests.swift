import Foundation
import HemiolaRecords
import HemiolaTonal
import References
import Testing

@Suite struct `ChromaExtractor, known signals` {
    /// What the extractor has computed for a frame.
    private struct Frame: Equatable {
        var center: Double
        var notes: [Float]
        var chroma: [Float]
        var bass: [Float]
        var tuning: Float
        var isSilent: Bool
        var power: Float
    }

    private func frames(
        _ samples: [Float], sampleRate: Int = 44_100, hopFrames: Int = 1024, binsPerOctave: Int = 12, isReset: Bool = false
    ) -> [Frame] {
        var outputs = AnalyzerOutputs()
        let extractor = ChromaExtractor(sampleRate: sampleRate, hopFrames: hopFrames, binsPerOctave: binsPerOctave, outputs: &outputs)
        var result: [Frame] = []
        for _ in 0..<(isReset ? 2 : 1) {
            result = []
            extractor.reset()
            forEachHop(of: samples, sampleRate: sampleRate, hopFrames: hopFrames, outputs) { hop in
                for index in 0..<extractor.frameCount(in: hop) {
                    extractor.update(from: hop, index)
                    result.append(
                        Frame(
                            center: extractor.center, notes: extractor.notes.array, chroma: extractor.chroma.array,
                            bass: extractor.bass.array, tuning: extractor.tuningCents, isSilent: extractor.isSilent,
                            power: extractor.power))
                }
            }
        }
        return result
    }

    private func hertz(_ note: Double) -> Double { 440 * exp2((note - 69) / 12) }

    /// Notes with six harmonics each.
    private func chord(_ notes: [Double], seconds: Double = 2, sampleRate: Int = 44_100) -> [Float] {
        let partials = notes.flatMap { note in (1...6).map { [hertz(note) * Double($0), 0.1 / Double($0)] } }
        return sines(partials.filter { $0[0] < 0.45 * Double(sampleRate) }, seconds: seconds, sampleRate: sampleRate)
    }

    @Test(arguments: [8_000, 22_050, 44_100, 48_000, 192_000])
    func `chord at any sample rate: its pitch classes are the strongest, its lowest note the bass`(sampleRate: Int) {
        let frame = frames(chord([45, 60, 64, 69], sampleRate: sampleRate), sampleRate: sampleRate)[30]
        let strongest = Set(frame.chroma.indices.sorted { frame.chroma[$0] > frame.chroma[$1] }.prefix(3))
        #expect(strongest == [0, 4, 9])
        #expect(frame.chroma.max() == 1 && frame.chroma.min()! >= 0)
        #expect(frame.bass.firstIndex(of: 1) == 9)
        // The fundamental of A2.
        #expect(abs(frame.notes[45 - ChromaExtractor.lowestNote] - 0.1) < 0.003)
        #expect(abs(frame.tuning) < 1)
    }

    @Test func `chords: cosine similarity with librosa's chroma_cqt above 0.93, tuning within 4.5 cents of librosa's`() {
        for chord in TonalVectors.shared.chroma {
            let frame = frames(sines(chord.partials, seconds: 2, sampleRate: 44_100))[30]
            let dot = zip(frame.chroma, chord.values).reduce(0) { $0 + Double($1.0) * $1.1 }
            let norms = sqrt(frame.chroma.reduce(0) { $0 + Double($1 * $1) } * chord.values.reduce(0) { $0 + $1 * $1 })
            #expect(dot / norms > 0.93, "\(dot / norms)")
            #expect(abs(Double(frame.tuning) - chord.tuningCents) < 4.5)
        }
    }

    @Test(arguments: [-45.0, -30, -12, 0, 7, 20, 33, 45])
    func `tones out of tune: tuning within 2 cents, and the same notes`(cents: Double) {
        let all = frames(chord([57, 64, 72].map { $0 + cents / 100 }, seconds: 3))
        #expect(abs(Double(all.last!.tuning) - cents) < 2)
        for note in [57, 64, 72] { #expect(all[50].notes[note - ChromaExtractor.lowestNote] > 0.07) }
    }

    /// A chord whose tuning is a function of time.
    private func chord(_ notes: [Double], seconds: Double, cents: (Double) -> Double) -> [Float] {
        var phases = notes.map { _ in 0.0 }
        return (0..<Int(seconds * 8000)).map { frame in
            let ratio = exp2(cents(Double(frame) / 8000) / 1200)
            var sum = 0.0
            for index in notes.indices {
                phases[index] += 2 * .pi * hertz(notes[index]) * ratio / 8000
                for partial in 1...4 { sum += 0.1 / Double(partial) * sin(Double(partial) * phases[index]) }
            }
            return Float(sum)
        }
    }

    @Test(arguments: [1.0, -1])
    func `tuning that drifts half-way between two keys: the notes stay; far beyond, they change once`(sign: Double) {
        // 44 to 56 cents and back in 40 s, then 72.
        let samples = chord([57, 61, 64], seconds: 70) { time in
            if time < 20 { return sign * (44 + 0.6 * time) }
            if time < 40 { return sign * (56 - 0.6 * (time - 20)) }
            return sign * min(72, 44 + 4 * (time - 40))
        }
        let all = frames(samples, sampleRate: 8000)
        let strongest: [Set<Int>] = all.dropFirst(20).map { frame in
            let order = frame.chroma.indices.sorted { frame.chroma[$0] > frame.chroma[$1] }
            return Set(order.prefix(3))
        }
        let first = strongest[0]
        #expect(strongest[..<780].allSatisfy { $0 == first })
        let tunings: [Double] = all[20..<800].map { Double($0.tuning) * sign }
        #expect(tunings.min()! > 40 && tunings.max()! <= 50)
        let next = Set(first.map { ($0 + (sign > 0 ? 1 : 11)) % 12 })
        #expect(first == [9, 1, 4] && strongest.last == next)
        #expect(tonesChanges(strongest) == 1)
    }

    private func tonesChanges(_ tones: [Set<Int>]) -> Int {
        zip(tones, tones.dropFirst()).count { $0 != $1 }
    }

    @Test(arguments: [24, 36])
    func `24 and 36 bins: a note is in the middle bin of its semitone, a deviation in the next`(bins: Int) {
        // The tuning is that of the three low notes; the highest is between two semitones.
        let samples = chord([48, 52, 55], seconds: 4)
        let high = sines([[hertz(81.5 - (bins == 36 ? 0.17 : 0)), 0.3]], seconds: 4, sampleRate: 44_100)
        let chroma = frames(zip(samples, high).map { $0 + $1 }, binsPerOctave: bins)[70].chroma
        #expect(chroma.count == bins)
        let perNote = bins / 12
        for note in [0, 4, 7] { #expect(chroma[note * perNote] > 0.3) }
        #expect(chroma[9 * perNote + 1] > 0.3)
        #expect(chroma[9 * perNote] < 0.05)
    }

    @Test func `silence and noise below −80 dBFS: silent, all values 0`() {
        for samples in [[Float](repeating: 0, count: 44_100), sines([[440, 1e-5]], seconds: 1, sampleRate: 44_100)] {
            for frame in frames(samples) {
                #expect(frame.isSilent)
                #expect(frame.notes.allSatisfy { $0 == 0 } && frame.chroma.allSatisfy { $0 == 0 } && frame.bass.allSatisfy { $0 == 0 })
            }
        }
    }

    @Test func `frames: every 50 ms, the same after a reset, and for any hop`() {
        let samples = chord([50, 57, 66], seconds: 1.5)
        let reference = frames(samples)
        // The thirtieth window ends with the audio: its resampled frames are not known yet.
        #expect(reference.count == 29)
        for (index, frame) in reference.enumerated() {
            #expect(abs(frame.center / 44_100 - (0.05 * Double(index + 1) - 0.256)) < 1e-3)
        }
        #expect(frames(samples, isReset: true) == reference)
        for hopFrames in [256, 441, 1000] {
            let others = frames(samples, hopFrames: hopFrames)
            #expect(others.map(\.chroma) == reference.map(\.chroma) && others.map(\.bass) == reference.map(\.bass))
        }
    }
}
