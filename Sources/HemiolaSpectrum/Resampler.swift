internal import HemiolaSignal

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Brings a signal to another sample rate, for spectra: up to a quarter of the new rate it is what it was, 80 dB above all else
/// that shows there; further up, images and aliases of it remain.
///
/// Rational resampling by a polyphase filter (R. E. Crochiere and L. R. Rabiner, *Multirate Digital Signal Processing*, 1983,
/// chapter 3): a sinc cut off at half the new rate, under a Kaiser window. Half the new rate is its whole transition, so it is
/// short: 16 frames at 48 kHz.
struct Resampler: ~Copyable {
    /// How far below the signal is what does not belong, in dB.
    private static let attenuation = 80.0
    /// Rates that have no divisor in common with the stream's would need a filter for each of 44 100 places between two frames:
    /// the nearest of so many serves as well.
    private static let mostPhases: Int64 = 1024

    /// The old rate to the new one, in lowest terms.
    private let source: Int64
    private let target: Int64
    private let phaseCount: Int64
    /// Frames to either side that one may be made from: a multiple of 4, so that both together are whole vectors.
    let reach: Int
    /// For each place between two frames the weights of those around. Unsafe because vectors are loaded from it in the hot path.
    private let weights: UnsafeMutablePointer<Float>

    /// - Parameters:
    ///   - rate: Frames per second of what comes.
    ///   - newRate: Frames per second of what is made from it.
    init(from rate: Int, to newRate: Int) {
        func commonDivisor(_ one: Int, _ other: Int) -> Int { other == 0 ? one : commonDivisor(other, one % other) }
        let divisor = commonDivisor(rate, newRate)
        source = Int64(rate / divisor)
        target = Int64(newRate / divisor)
        phaseCount = min(target, Self.mostPhases)
        // J. F. Kaiser's formulas (1974) for the length and shape that the attenuation takes.
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

    /// How many new frames lie before an old one.
    func frames(before frame: Int64) -> Int64 {
        (frame * target + source - 1) / source
    }

    /// Makes new frames.
    ///
    /// - Parameters:
    ///   - range: Which of them, counted from the stream's start.
    ///   - end: Behind the last old frame; `reach` zeros follow there. It is the stream's frame `edge`.
    ///   - result: Where they go.
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
