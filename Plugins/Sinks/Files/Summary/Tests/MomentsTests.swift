import Testing

@testable import SummarySink

@Suite struct MomentsTests {
    private func moments(_ values: [Float], chunk: Int = 512) -> Moments {
        var moments = Moments()
        values.withUnsafeBufferPointer { values in
            for start in stride(from: 0, to: values.count, by: chunk) {
                moments.add(UnsafeBufferPointer(rebasing: values[start..<min(start + chunk, values.count)]))
            }
        }
        return moments
    }

    /// Mean and standard deviation in two passes, in 80 bits where the processor has them.
    private func reference(_ values: [Float]) -> (mean: Double, deviation: Double) {
        #if arch(x86_64)
            typealias Wide = Float80
        #else
            typealias Wide = Double
        #endif
        let mean = values.reduce(into: Wide(0)) { $0 += Wide($1) } / Wide(values.count)
        let squares = values.reduce(into: Wide(0)) { $0 += (Wide($1) - mean) * (Wide($1) - mean) }
        return (Double(mean), Double((squares / Wide(values.count)).squareRoot()))
    }

    @Test(arguments: [1, 2, 3, 5, 511, 512, 513, 20_000], [1, 7, 512])
    func `values in chunks: mean and deviation of all of them`(count: Int, chunk: Int) {
        let values = QuantileSketchTests.noise(count)
        let (result, expected) = (moments(values, chunk: chunk), reference(values))
        #expect(abs(result.mean - expected.mean) < 1e-14)
        #expect(abs(result.deviation - expected.deviation) < 1e-14)
        #expect(result.count == count)
    }

    @Test func `small differences on a large offset: no digits lost`() {
        let values = (0..<100_000).map { 8_388_608 + Float($0 % 2) }
        let result = moments(values)
        #expect(abs(result.mean - 8_388_608.5) < 1e-8)
        #expect(abs(result.deviation - 0.5) < 1e-8)
    }

    @Test func `constant values: deviation 0`() {
        let result = moments(Array(repeating: -120, count: 1000))
        #expect(result.mean == -120 && result.deviation == 0)
    }

    @Test func `no value: NaN`() {
        #expect(moments([]).mean.isNaN && moments([]).deviation.isNaN)
    }
}
