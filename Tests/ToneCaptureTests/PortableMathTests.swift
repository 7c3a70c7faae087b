import Testing

@testable import ToneCapture

#if canImport(Glibc)
    import Glibc
#else
    import Musl
#endif

@Suite struct WavesTests {
    @Test func `the sine is the library's, all around`() {
        for step in -1_000...1_000 {
            let turns = Double(step) / 400
            #expect(abs(Waves.sine(Waves.phase(turns: turns)) - sin(2 * .pi * turns)) < 1e-13, "at \(turns) turns")
        }
        #expect(Waves.sine(0) == 0)
        #expect(Waves.sine(1 << 63) == 0)
        #expect(abs(Waves.sine(1 << 62) - 1) < 1e-13)
        #expect(abs(Waves.sine(3 << 62) + 1) < 1e-13)
    }

    @Test func `the power of two is the library's`() {
        for step in -1_000...1_000 {
            let x = Double(step) / 37
            #expect(abs(Waves.powerOfTwo(x) / exp2(x) - 1) < 1e-15, "2 to the \(x)")
        }
    }

    @Test(arguments: [1, 2, 1_000, 0.001, 1.5, 0.75, 1.999_999, 1e-300])
    func `the logarithm is the library's`(x: Double) {
        #expect(abs(Waves.logarithm(x) - log2(x)) <= 1e-15 * max(1, abs(log2(x))))
    }
}
