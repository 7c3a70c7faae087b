internal import Glibc
internal import HemiolaSignal

/// The true peak of each channel as in ITU-R BS.1770-4, annex 2: the largest magnitude after interpolation to four times the sample
/// rate (twice from 96 kHz on, none from 192 kHz on).
///
/// Not libebur128's interpolator, which takes four times as long. The filter has 16 coefficients per interpolated value, more than the
/// 12 of the recommendation: up to 20 kHz at 48 kHz its gain is within −0.04 and +0.12 dB.
struct TruePeakMeter: ~Copyable {
    private static let taps = 16
    /// The shape of the Kaiser window, selected for that gain.
    private static let beta = 4.0

    private let channelCount: Int
    private let maximumFrames: Int
    /// Values that are interpolated after each sample: 3, 1 or 0.
    private let phaseCount: Int
    // Unsafe: memory that is allocated once for the hot path; this value owns both.
    /// `phaseCount` times `taps` coefficients.
    private let coefficients: UnsafeMutablePointer<Float>
    /// For each channel the last `taps - 1` samples, then those of the hop, then seven that vectors may read.
    private let samples: UnsafeMutablePointer<Float>

    init(_ format: StreamFormat, maximumFrames: Int) {
        channelCount = format.channelCount
        self.maximumFrames = maximumFrames
        let factor = format.sampleRate < 96_000 ? 4 : format.sampleRate < 192_000 ? 2 : 1
        phaseCount = factor - 1
        coefficients = .allocate(capacity: max(1, phaseCount * Self.taps))
        for phase in 0..<phaseCount {
            let values = Self.filter(delay: Double(phase + 1) / Double(factor))
            for tap in 0..<Self.taps { (coefficients + phase * Self.taps + tap).initialize(to: Float(values[tap])) }
        }
        let count = (Self.taps - 1 + maximumFrames + 7) * channelCount
        samples = .allocate(capacity: count)
        samples.initialize(repeating: 0, count: count)
    }

    deinit {
        coefficients.deallocate()
        samples.deallocate()
    }

    /// Before the next sample there is silence.
    mutating func reset() {
        samples.update(repeating: 0, count: stride * channelCount)
    }

    /// The true peak of a channel of interleaved samples, at most as many as the meter was made for. The next call for the channel
    /// continues there: a peak between samples belongs to the hop with the eighth sample after it.
    mutating func peak(of channel: Int, in interleaved: Span<Float>) -> Float {
        let frames = interleaved.count / channelCount
        precondition(frames <= maximumFrames && (0..<channelCount).contains(channel), "the hop is longer than declared")
        let start = samples + channel * stride
        let hop = start + (Self.taps - 1)
        interleaved.withUnsafeBufferPointer { buffer in
            for frame in 0..<frames { hop[frame] = buffer[frame * channelCount + channel] }
        }
        var peak = Lanes.zero
        var frame = 0
        while frame < frames {
            // Each lane is one frame. Those after the last do not count.
            let vector = magnitudes(start + frame)
            let valid = frames - frame
            peak = peak.maximum(with: valid >= 8 ? vector : vector.replacing(with: 0, where: Self.lanes .>= Int32(valid)))
            frame += 8
        }
        start.update(from: start + frames, count: Self.taps - 1)
        // Values beyond the range of Float are limited to it.
        let highest = peak.max()
        return highest < .greatestFiniteMagnitude ? highest : .greatestFiniteMagnitude
    }

    private static let lanes = SIMD8<Int32>(0, 1, 2, 3, 4, 5, 6, 7)
    private var stride: Int { Self.taps - 1 + maximumFrames + 7 }

    /// For eight frames the largest magnitude of the sample and of the values interpolated around the eighth sample before it.
    @inline(__always)
    private func magnitudes(_ x: UnsafeMutablePointer<Float>) -> Lanes {
        var result = x.lanes(Self.taps - 1).magnitude
        switch phaseCount {
        case 3:
            var (first, second, third) = (Lanes.zero, Lanes.zero, Lanes.zero)
            for tap in 0..<Self.taps {
                let value = x.lanes(tap)
                first += value * coefficients[tap]
                second += value * coefficients[Self.taps + tap]
                third += value * coefficients[2 * Self.taps + tap]
            }
            result = result.maximum(with: first.magnitude).maximum(with: second.magnitude).maximum(with: third.magnitude)
        case 1:
            var sum = Lanes.zero
            for tap in 0..<Self.taps { sum += x.lanes(tap) * coefficients[tap] }
            result = result.maximum(with: sum.magnitude)
        default: break
        }
        return result
    }

    /// The coefficients of a fractional delay: a sinc with a Kaiser window, of gain 1 at 0 Hz. The value lies `delay` samples after the
    /// eighth coefficient's.
    private static func filter(delay: Double) -> [Double] {
        let half = Double(taps) / 2
        let values = (0..<taps).map { tap in
            let distance = Double(tap) - (half - 1) - delay
            let window = bessel(beta * (1 - distance * distance / (half * half)).squareRoot()) / bessel(beta)
            return sin(.pi * distance) / (.pi * distance) * window
        }
        let sum = values.reduce(0, +)
        return values.map { $0 / sum }
    }

    /// I₀, the modified Bessel function of the first kind of order 0, by its series. Accurate for arguments up to 10.
    private static func bessel(_ x: Double) -> Double {
        var (sum, term) = (1.0, 1.0)
        for index in 1...30 {
            term *= (x / 2 / Double(index)) * (x / 2 / Double(index))
            sum += term
        }
        return sum
    }
}
