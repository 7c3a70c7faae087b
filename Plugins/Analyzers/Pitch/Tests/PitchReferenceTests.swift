import AnalysisSupport
import Foundation
import HemiolaRecords
import HemiolaSignal
import HemiolaTesting
import References
import Testing

@testable import PitchAnalyzer

/// Exact frequencies, librosa's `pyin` and scipy's candidates. `Tests/References/README.md` explains the numbers.
@Suite struct `PitchAnalyzer, reference vectors` {
    private let reference = TonalVectors.shared.pitch

    /// The melody of the vectors.
    private func melody() -> Audio {
        let (melody, rate) = (reference.melody, 44_100.0)
        var samples = [Double](repeating: 0, count: Int(melody.seconds * rate))
        for part in melody.parts {
            var phase = 0.0
            let first = Int((part.startS * rate).rounded())
            for frame in 0..<Int((part.seconds * rate).rounded()) {
                let time = Double(frame) / rate
                let cents = part.centsPerS * time + part.vibratoCents * sin(2 * .pi * melody.vibratoHz * time)
                phase += 2 * .pi * part.hz * exp2(cents / 1200) / rate
                for (index, amplitude) in part.amplitudes.enumerated() {
                    samples[first + frame] += amplitude * sin(Double(index + 1) * phase)
                }
            }
        }
        return Audio(frames: samples.count, sampleRate: 44_100) { frame, _ in samples[frame] }
    }

    @Test(arguments: [false, true])
    func `melody with glide and vibrato: within 15 cents of the exact frequency, 25 of pyin's, and no pitch in its pauses`(
        wholeFile: Bool
    ) async throws {
        let analysis = try await Analysis(of: melody(), .pitch, batchFrames: 256, wholeFile: wholeFile)
        let offset = try #require(analysis.feature("f0_hz").centerOffset)
        let values = analysis.value("f0_hz")
        #expect(reference.melody.timesS.count > 50)
        for (index, time) in reference.melody.timesS.enumerated() {
            let batch = Int(((time - offset) * 44_100 / 256).rounded())
            guard values.indices.contains(batch) else { continue }
            guard let exact = reference.melody.exactHz[index], let pyin = reference.melody.pyinHz[index] else {
                #expect(values[batch].isNaN, "\(time) s")
                continue
            }
            #expect(abs(1200 * log2(Double(values[batch]) / exact)) < 15, "\(time) s: \(values[batch]) Hz, exactly \(exact)")
            #expect(abs(1200 * log2(Double(values[batch]) / pyin)) < 25, "\(time) s: \(values[batch]) Hz, pyin \(pyin)")
        }
    }

    @Test(arguments: TonalVectors.shared.pitch.frames.indices)
    func `single frame: the candidates' periods within 1e-4, their probabilities within 0.005`(index: Int) {
        let expected = reference.frames[index]
        let detector = PitchDetector(reference.lowestHz...reference.highestHz, streamRate: 44_100)
        let window = WindowShape.hann.values(size: PitchDetector.size)
        var fft = RealFFT(size: PitchDetector.size)
        var samples = fft.samples
        for frame in 0..<PitchDetector.size {
            let phase = 2 * .pi * Double(frame) / Double(PitchDetector.sampleRate)
            samples[frame] = window[frame] * Float(expected.partials.reduce(0) { $0 + $1[1] * sin($1[0] * phase) })
        }
        fft.transform()
        let bins = fft.bins
        let power = (0...PitchDetector.size / 2).map { bins[2 * $0] * bins[2 * $0] + bins[2 * $0 + 1] * bins[2 * $0 + 1] }
        detector.update(power.span)
        // Those with a lower probability are not in the vectors.
        let found = (0..<detector.candidateCount).map { detector.candidates[$0] }.filter { $0.probability > 0.003 }
        #expect(found.count == expected.candidates.count)
        for (one, other) in zip(found, expected.candidates) {
            #expect(abs(Double(one.period) / other[0] - 1) < 1e-4)
            #expect(abs(Double(one.probability) - other[1]) < 0.005)
        }
    }
}
