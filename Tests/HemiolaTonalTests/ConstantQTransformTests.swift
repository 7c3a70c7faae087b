import Foundation
import HemiolaRecords
import HemiolaSignal
import HemiolaTonal
import References
import Testing

@Suite struct `ConstantQTransform, known signals` {
    private func powers(
        _ samples: [Float], _ layout: ConstantQLayout, sampleRate: Int = 44_100, hopFrames: Int = 1024
    ) -> [[Float]] {
        var outputs = AnalyzerOutputs()
        let transform = ConstantQTransform(layout, sampleRate: sampleRate, hop: .everyHop, outputs: &outputs)
        var result: [[Float]] = []
        forEachHop(of: samples, sampleRate: sampleRate, hopFrames: hopFrames, outputs) { hop in
            transform.update(from: hop, 0)
            result.append(transform.powers.array)
        }
        return result
    }

    private func decibels(_ power: Float) -> Double { 10 * log10(Double(power)) }

    @Test(arguments: [8_000, 11_025, 16_000, 22_050, 44_100, 48_000, 96_000, 192_000, 384_000])
    func `sine at a bin: 0 dB there at any sample rate, and no bin above half the rate`(sampleRate: Int) {
        for alignment in [ConstantQLayout.Alignment.newest, .centered] {
            let layout = ConstantQLayout(
                lowest: 55, binsPerOctave: 12, count: alignment == .newest ? 120 : 60, longestWindow: 0.512, alignment: alignment)
            let count = layout.count(below: Double(sampleRate) / 2)
            for bin in stride(from: 1, to: count, by: 13) {
                let sine = sines([[layout.frequency(of: bin), 1]], seconds: 0.7, sampleRate: sampleRate)
                let last = powers(sine, layout, sampleRate: sampleRate).dropLast().last!
                #expect(last.count == count)
                #expect(abs(decibels(last[bin])) < 0.1, "bin \(bin): \(decibels(last[bin]))")
                #expect(last.firstIndex(of: last.max()!) == bin)
            }
        }
    }

    @Test func `six sines: within 0.1 dB of librosa's magnitudes down to −40 dB`() {
        let vectors = TonalVectors.shared.constantQ
        let layout = ConstantQLayout(lowest: 32.703, binsPerOctave: 12, count: 84, longestWindow: 0.512)
        let last = powers(sines(vectors.partials, seconds: 2, sampleRate: 44_100), layout).dropLast().last!
        let compared = vectors.levelsDb.indices.filter { vectors.levelsDb[$0] > -40 }
        #expect(compared.count > 15)
        for bin in compared { #expect(abs(decibels(last[bin]) - vectors.levelsDb[bin]) < 0.1, "bin \(bin)") }
    }

    @Test func `sine that begins: its bin has half the amplitude after the delay of the bin`() {
        let layout = ConstantQLayout(lowest: 110, binsPerOctave: 12, count: 60, longestWindow: 0.512)
        let start = 44_100
        for bin in [0, 24, 48] {
            let samples = (0..<2 * start).map { frame in
                frame < start ? 0 : Float(sin(2 * .pi * layout.frequency(of: bin) * Double(frame - start) / 44_100))
            }
            let amplitudes = powers(samples, layout, hopFrames: 256).map { $0[bin].squareRoot() }
            let time = Double(amplitudes.firstIndex { $0 >= 0.5 }! + 1) * 256 / 44_100 - 1
            #expect(abs(time - layout.delay(of: bin)) < 0.01, "bin \(bin): \(time)")
        }
    }

    @Test func `windows: quality factor over frequency, at most the longest`() {
        let layout = ConstantQLayout(lowest: 20, binsPerOctave: 36, count: 200, longestWindow: 0.5)
        #expect(layout.window(of: 0) == 0.5)
        #expect(abs(layout.window(of: 199) - layout.quality / layout.frequency(of: 199)) < 1e-12)
        #expect(abs(layout.frequency(of: 36) - 40) < 1e-9)
        #expect(abs(ConstantQLayout.quality(binsPerOctave: 12) - 17.3) < 0.1)
    }

    @Test func `several analyzers with the same layout: one transform of each size`() {
        var outputs = AnalyzerOutputs()
        let layout = ConstantQLayout(lowest: 65, binsPerOctave: 36, count: 180, quality: 34, longestWindow: 0.512, alignment: .centered)
        for _ in 0..<3 { _ = ConstantQTransform(layout, sampleRate: 44_100, hop: .seconds(0.05), outputs: &outputs) }
        #expect(Set(outputs.spectra).count == 1)
        #expect(outputs.spectra[0].size == 4096 && outputs.spectra[0].sampleRate == 8000)
    }
}
