import Glibc
import HemiolaTesting
import Testing

@testable import HemiolaSignal

/// The bars before automatic gain and motion.
@Suite struct BarBankTests {
    /// Bars from 50 Hz to 10 kHz with the weights for 44.1 kHz.
    private static func bank(_ count: Int) -> BarBank {
        BarBank(
            count: count, from: BarSpectrum.defaultRange.lowerBound, to: BarSpectrum.defaultRange.upperBound, sampleRate: 44_100)
    }

    private static func decimated(_ bank: BarBank) -> DecimatedSpectrum {
        DecimatedSpectrum(
            windowFrames: bank.bassFrames, binCount: bank.bassBinCount, shortBinCount: bank.lowBinCount, hopFrames: bank.bassFrames)
    }

    /// The bars at the end of a sine that is longer than all windows, without the slope of the equalizer.
    private static func heights(_ bank: BarBank, sine hertz: Double) -> [Float] {
        var low = decimated(bank)
        let sine = TestSignal.sine(hertz, amplitude: 0.5, frames: 3 * bank.bassFrames)
        for first in stride(from: 0, to: sine.count, by: bank.bassFrames) {
            let hop = Array(sine[first..<first + bank.bassFrames])
            low.advance(hop.span)
        }
        var fft = RealFFT(size: bank.size)
        fft.load(sine, from: sine.count - bank.size, under: WindowShape.hann.values(size: bank.size))
        fft.transform()
        var shared = [Float](repeating: 0, count: bank.size / 2)
        fft.measure(magnitudes: &shared)
        var heights = [Float](repeating: 0, count: bank.count)
        var span = heights.mutableSpan
        low.measure(bank, shared.span, into: &span)
        return heights
    }

    private static func withoutSlope(_ height: Float, _ bank: BarBank, _ bar: Int) -> Double {
        Double(height) / pow(bank.edges[bar + 1], 0.85)
    }

    @Test(arguments: [1, 3, 8, 16, 27, 28, 64, 512])
    func `white noise: neighbouring bars have the same level within 4 %`(count: Int) {
        let bank = Self.bank(count)
        let filter = DecimationFilter(windowFrames: bank.bassFrames)
        // The expected magnitudes of white noise are in proportion to the root of the window length.
        func magnitudes(_ frames: Int, _ bins: Int, isDecimated: Bool) -> [Float] {
            (0..<bins).map { bin in
                let gain = isDecimated ? filter.attenuation(at: Double(bin) / Double(frames)) : 1
                return Float(Double(frames).squareRoot() * gain)
            }
        }
        let bass = magnitudes(bank.bassFrames, bank.bassBinCount, isDecimated: true)
        let middle = magnitudes(bank.bassFrames / 2, bank.lowBinCount, isDecimated: true)
        let shared = magnitudes(bank.size, bank.size / 2, isDecimated: false)
        var heights = [Float](repeating: 0, count: count)
        var span = heights.mutableSpan
        bank.measure(bass: bass.span, low: middle.span, shared.span, into: &span)
        let levels = heights.enumerated().map { Self.withoutSlope($0.element, bank, $0.offset) }
        for (level, next) in zip(levels, levels.dropFirst()) { #expect(abs(next / level - 1) < 0.04) }
        #expect(levels.max()! / levels.min()! < 1.05)
    }

    @Test(arguments: [48, 64, 96, 128, 512])
    func `sine: from bar to bar the height of its own bar changes evenly`(count: Int) {
        let bank = Self.bank(count)
        let levels = (0..<count).filter { bank.edges[$0 + 1] < 600 }.map { bar in
            let hertz = (bank.edges[bar] * bank.edges[bar + 1]).squareRoot()
            return Self.withoutSlope(Self.heights(bank, sine: hertz)[bar], bank, bar)
        }
        let steps = zip(levels, levels.dropFirst()).map { $1 / $0 }
        for (step, next) in zip(steps, steps.dropFirst()) { #expect(abs(next / step - 1) < 0.05) }
    }

    @Test(arguments: [16, 64, 128, 512])
    func `sine: the highest bar is the one that contains it, however narrow the bars`(count: Int) {
        let bank = Self.bank(count)
        for bar in stride(from: 0, to: count, by: max(1, count / 64)) {
            for place in [0.2, 0.5, 0.8] where count < 512 || place == 0.5 {
                let hertz = bank.edges[bar] + place * (bank.edges[bar + 1] - bank.edges[bar])
                let heights = Self.heights(bank, sine: hertz)
                #expect(heights.firstIndex(of: heights.max()!) == bar, "\(hertz) Hz")
                #expect(heights.allSatisfy { $0 >= 0 })
            }
        }
    }

    @Test(arguments: [(16, 4136.0), (64, 4136.0)])
    func `the centre is that of the longest window`(count: Int, frames: Double) {
        #expect(Self.bank(count).centerFrames == frames)
        // Above 400 Hz all bars have the shared window.
        let bank = BarBank(count: 4, from: 500, to: 8000, sampleRate: 44_100)
        #expect(bank.centerFrames == Double(bank.size) / 2)
        #expect(!bank.usesDecimation)
    }
}
