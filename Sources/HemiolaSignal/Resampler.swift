internal import Glibc

/// Resamples a signal for spectra: images and aliases are 80 dB below the signal up to a quarter of the new sample rate, and remain
/// above.
///
/// Rational resampling by a polyphase filter (R. E. Crochiere and L. R. Rabiner, *Multirate Digital Signal Processing*, 1983,
/// chapter 3): a windowed sinc with its cutoff at half the new rate and a Kaiser window. Its transition band is half the new rate
/// wide, so that the filter is short: 16 frames at 48 kHz.
struct Resampler: ~Copyable {
    /// The stopband attenuation, in dB.
    private static let attenuation = 80.0
    /// The largest number of phases. A rate without a common divisor with the stream's would need one for each of 44 100 positions
    /// between two frames; it uses the nearest of these instead.
    private static let mostPhases: Int64 = 1024

    /// The ratio of the old rate to the new one, in lowest terms.
    private let source: Int64
    private let target: Int64
    private let phaseCount: Int64
    /// The number of old frames to either side of a new one that the filter covers: a multiple of 4, so that both sides together are
    /// whole vectors.
    let reach: Int
    /// The filter's coefficients, phase by phase. Unsafe because vectors are loaded from it in the hot path.
    private let weights: UnsafeMutablePointer<Float>

    /// - Parameters:
    ///   - rate: The old sample rate, in hertz.
    ///   - newRate: The new sample rate, in hertz.
    init(from rate: Int, to newRate: Int) {
        func commonDivisor(_ one: Int, _ other: Int) -> Int { other == 0 ? one : commonDivisor(other, one % other) }
        let divisor = commonDivisor(rate, newRate)
        source = Int64(rate / divisor)
        target = Int64(newRate / divisor)
        phaseCount = min(target, Self.mostPhases)
        // J. F. Kaiser's formulas (1974) for the filter length and window shape of an attenuation.
        let cutoff = Double(newRate) / Double(rate)
        let halfLength = max(1, (Self.attenuation - 8) / (2.285 * .pi * cutoff) / 2)
        reach = 4 * Int((halfLength / 4).rounded(.up))
        let shape = 0.1102 * (Self.attenuation - 8.7)
        let isExact = phaseCount == target
        var sum = 0.0
        weights = .allocate(capacity: Int(phaseCount) * 2 * reach)
        for phase in 0..<Int(phaseCount) {
            let place = (Double(phase) + (isExact ? 0 : 0.5)) / Double(phaseCount)
            for index in 0..<2 * reach {
                let distance = Double(index - reach + 1) - place
                let part = distance / halfLength
                let angle = Double.pi * cutoff * distance
                let sinc = angle == 0 ? 1 : sin(angle) / angle
                let value = abs(part) < 1 ? sinc * Self.bessel(shape * (1 - part * part).squareRoot()) : 0
                sum += value
                (weights + phase * 2 * reach + index).initialize(to: Float(value))
            }
        }
        let scale = Float(Double(phaseCount) / sum)
        for index in 0..<Int(phaseCount) * 2 * reach { weights[index] *= scale }
    }

    deinit {
        weights.deallocate()
    }

    /// The modified Bessel function of order 0.
    private static func bessel(_ x: Double) -> Double {
        var (sum, term, order) = (1.0, 1.0, 1.0)
        while term > 1e-12 * sum {
            term *= (x / 2 / order) * (x / 2 / order)
            sum += term
            order += 1
        }
        return sum
    }

    /// The number of new frames before an old one.
    func frames(before frame: Int64) -> Int64 {
        (frame * target + source - 1) / source
    }

    /// Computes new frames.
    ///
    /// - Parameters:
    ///   - range: Their indices, counted from the start of the stream.
    ///   - end: The address behind the last old frame, where `reach` zeros follow.
    ///   - edge: The index of the old frame at `end`.
    ///   - result: The address for the new frames.
    /// - Complexity: O(new frames · reach), no allocation.
    func make(_ range: Range<Int64>, from end: UnsafePointer<Float>, at edge: Int64, into result: UnsafeMutablePointer<Float>) {
        var (whole, rest) = (range.lowerBound * source).quotientAndRemainder(dividingBy: target)
        let (wholeStep, restStep) = source.quotientAndRemainder(dividingBy: target)
        let row = Float(phaseCount) / Float(target)
        for index in 0..<range.count {
            let samples = end - Int(edge - whole) - reach + 1
            let weights = weights + Int(Float(rest) * row) * 2 * reach
            var sum = Lanes.zero
            var tap = 0
            while tap < 2 * reach {
                sum += samples.lanes(tap) * weights.lanes(tap)
                tap += 8
            }
            result[index] = sum.sum()
            whole += wholeStep
            rest += restStep
            if rest >= target {
                rest -= target
                whole += 1
            }
        }
    }
}
