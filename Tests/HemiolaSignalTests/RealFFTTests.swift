import Foundation
import Testing

@testable import HemiolaSignal

@Suite struct RealFFTTests {
    @Test(arguments: [512, 1024, 2048, 4096, 8192, 6144])
    func `a plan from the stored wisdom and a plan that FFTW searches for: equal bins to the last bit`(size: Int) {
        let stored = Self.bins(of: RealFFT(size: size))
        RealFFT.forgetWisdom()
        let searched = Self.bins(of: RealFFT(size: size))
        #expect(stored == searched)
    }

    @Test(arguments: [512, 1024, 2048, 4096, 8192, 30])
    func `bins of a cosine: half the size at its bin, 0 elsewhere`(size: Int) {
        var fft = RealFFT(size: size)
        var samples = fft.samples
        for index in 0..<size { samples[index] = Float(cos(2 * .pi * 5 * Double(index) / Double(size))) }
        fft.transform()
        let bins = fft.bins
        for bin in 0...size / 2 {
            #expect(abs(bins[2 * bin] - (bin == 5 ? Float(size) / 2 : 0)) < 1e-3 * Float(size))
            #expect(abs(bins[2 * bin + 1]) < 1e-3 * Float(size))
        }
    }

    /// The bit patterns of a transform of samples without any symmetry.
    private static func bins(of fft: consuming RealFFT) -> [UInt32] {
        var fft = fft
        var samples = fft.samples
        var state: UInt32 = 1
        for index in samples.indices {
            state = state &* 1_664_525 &+ 1_013_904_223
            samples[index] = Float(Int32(bitPattern: state)) / 2_147_483_648
        }
        fft.transform()
        let bins = fft.bins
        return bins.indices.map { bins[$0].bitPattern }
    }
}
