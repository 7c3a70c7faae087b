import Glibc
import Testing

@testable import ToneCapture

@Suite struct PortableMathTests {
    @Test func `sine: equal to that of the C library within 1e-13`() {
        for step in -1_000...1_000 {
            let periods = Double(step) / 400
            #expect(abs(PortableMath.sine(PortableMath.phase(periods: periods)) - sin(2 * .pi * periods)) < 1e-13, "at \(periods) periods")
        }
        #expect(PortableMath.sine(0) == 0)
        #expect(PortableMath.sine(1 << 63) == 0)
        #expect(abs(PortableMath.sine(1 << 62) - 1) < 1e-13)
        #expect(abs(PortableMath.sine(3 << 62) + 1) < 1e-13)
    }

    @Test func `power of two: equal to that of the C library within 1e-15`() {
        for step in -1_000...1_000 {
            let x = Double(step) / 37
            #expect(abs(PortableMath.powerOfTwo(x) / exp2(x) - 1) < 1e-15, "2 to the \(x)")
        }
    }

    @Test(arguments: [1, 2, 1_000, 0.001, 1.5, 0.75, 1.999_999, 1e-300])
    func `logarithm: equal to that of the C library within 1e-15`(x: Double) {
        #expect(abs(PortableMath.logarithm(x) - log2(x)) <= 1e-15 * max(1, abs(log2(x))))
    }
}
