internal import Glibc

/// The spectrum of a block as Vamp plugins of the frequency domain read it: Hann window, the second half of the block before the first
/// one, so that phases refer to its centre, discrete Fourier transform.
///
/// In double precision, as the hosts of the Vamp SDK compute it: single precision differs by more than 1e-6 in weak bins. Any even size:
/// the transform divides it into prime factors (Cooley and Tukey 1965).
///
/// - Complexity: O(size · sum of its prime factors), no allocation.
struct BlockTransform: ~Copyable {
    let size: Int
    private let factors: [Int]
    // Unsafe: work space of the transform, owned by this value.
    private let window: UnsafeMutablePointer<Double>
    private let roots: UnsafeMutablePointer<SIMD2<Double>>
    private let block: UnsafeMutablePointer<Double>
    private let bins: UnsafeMutablePointer<SIMD2<Double>>
    private let terms: UnsafeMutablePointer<SIMD2<Double>>

    /// - Parameter size: Frames per block: even, 2….
    init(size: Int) {
        precondition(size >= 2 && size.isMultiple(of: 2), "a block has an even size")
        self.size = size
        factors = Self.factors(of: size)
        window = .allocate(capacity: size)
        block = .allocate(capacity: size)
        roots = .allocate(capacity: size)
        bins = .allocate(capacity: size)
        terms = .allocate(capacity: factors.max() ?? 1)
        block.initialize(repeating: 0, count: size)
        bins.initialize(repeating: .zero, count: size)
        terms.initialize(repeating: .zero, count: factors.max() ?? 1)
        for index in 0..<size {
            let angle = 2 * Double.pi * Double(index) / Double(size)
            (window + index).initialize(to: 0.5 - 0.5 * cos(angle))
            (roots + index).initialize(to: SIMD2(cos(angle), -sin(angle)))
        }
    }

    deinit {
        for numbers in [window, block] { numbers.deallocate() }
        for numbers in [roots, bins, terms] { numbers.deallocate() }
    }

    /// The factors of a size, by whose sum the transform takes longer.
    static func factors(of size: Int) -> [Int] {
        var (rest, factors) = (size, [Int]())
        for factor in [4] + Array(2...max(2, size)) {
            while rest.isMultiple(of: factor) {
                factors.append(factor)
                rest /= factor
            }
            if rest == 1 { break }
        }
        return factors
    }

    /// Transforms a block.
    ///
    /// - Parameters:
    ///   - input: `size` frames.
    ///   - output: Receives Re X[0], Im X[0], Re X[1] … Im X[size / 2]: `size + 2` values.
    mutating func transform(_ input: UnsafePointer<Float>, into output: UnsafeMutablePointer<Float>) {
        let half = size / 2
        for index in 0..<half {
            block[index] = Double(input[index + half]) * window[index + half]
            block[index + half] = Double(input[index]) * window[index]
        }
        transform(0, stride: 1, count: size, factor: 0, into: bins)
        for bin in 0...half {
            output[2 * bin] = Float(bins[bin].x)
            output[2 * bin + 1] = Float(bins[bin].y)
        }
    }

    /// The transform of `count` values of the block, `stride` apart.
    private func transform(_ start: Int, stride: Int, count: Int, factor: Int, into output: UnsafeMutablePointer<SIMD2<Double>>) {
        if count == 1 {
            output[0] = SIMD2(block[start], 0)
            return
        }
        let parts = factors[factor]
        let length = count / parts
        for part in 0..<parts {
            transform(
                start + part * stride, stride: stride * parts, count: length, factor: factor + 1, into: output + part * length)
        }
        for bin in 0..<length {
            for part in 0..<parts { terms[part] = Self.product(output[part * length + bin], roots[part * bin * stride]) }
            for result in 0..<parts {
                var sum = terms[0]
                for part in 1..<parts {
                    sum += Self.product(terms[part], roots[part * result * length * stride % size])
                }
                output[result * length + bin] = sum
            }
        }
    }

    @inline(__always)
    private static func product(_ one: SIMD2<Double>, _ other: SIMD2<Double>) -> SIMD2<Double> {
        SIMD2(one.x * other.x - one.y * other.y, one.x * other.y + one.y * other.x)
    }
}
