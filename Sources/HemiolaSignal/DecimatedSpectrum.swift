internal import Glibc

/// The lowest bins of two long, Hann-windowed transforms of the mono mix, at low cost: the mix is low-pass filtered and decimated, and the
/// last 512 and 256 decimated frames are transformed.
///
/// A transform of 8192 frames at 44.1 kHz has 4097 bins, of which the bars below 100 Hz need about 24. After decimation by 16 a
/// transform of 512 frames has the same bins.
///
/// - Complexity: O(hop) and transforms of 512 and 256 frames per hop, as far as they are needed; no allocation after `init`.
struct DecimatedSpectrum: ~Copyable {
    /// Length of the longer window, in decimated frames.
    static let transformSize = 512
    /// Upper limit of the usable bins, in hertz: the decimated rate is at least 2 kHz, and frequencies with aliases below this limit
    /// are outside the main lobe of the low-pass filter.
    static let highestHertz = 400.0

    let filter: DecimationFilter
    private var long: Transform
    private var short: Transform
    /// The last decimated frames.
    private var decimated = [Float](repeating: 0, count: transformSize)
    /// The last frames of the stream: the history of the low-pass filter, then the hop.
    private var recent: [Float]
    /// Frames of the next hop before the next decimated frame.
    private var phase = 0

    /// A windowed transform of the last decimated frames, of which the lowest bins are kept.
    private struct Transform: ~Copyable {
        var fft: RealFFT
        let window: [Float]
        /// |X| of the last hop, from DC on.
        var magnitudes: [Float]

        init(size: Int, binCount: Int) {
            fft = RealFFT(size: size)
            window = WindowShape.hann.values(size: size)
            magnitudes = [Float](repeating: 0, count: binCount)
        }

        mutating func advance(_ decimated: [Float]) {
            if magnitudes.isEmpty { return }
            fft.load(decimated, from: decimated.count - window.count, under: window)
            fft.transform()
            fft.measure(magnitudes: &magnitudes)
        }
    }

    /// - Parameters:
    ///   - windowFrames: Length of the longer window in frames of the stream, a multiple of 512.
    ///   - binCount: Number of bins to compute of the longer window, from DC on; may be 0.
    ///   - shortBinCount: The same for the shorter window, which has half the length.
    init(windowFrames: Int, binCount: Int, shortBinCount: Int, hopFrames: Int) {
        filter = DecimationFilter(windowFrames: windowFrames)
        recent = [Float](repeating: 0, count: filter.taps.count - 1 + hopFrames)
        long = Transform(size: Self.transformSize, binCount: binCount)
        short = Transform(size: Self.transformSize / 2, binCount: shortBinCount)
    }

    /// Processes a hop of the mono mix, zero-padded to its full length.
    mutating func advance(_ mono: Span<Float>) {
        let (taps, factor) = (filter.taps, filter.factor)
        let kept = taps.count - 1
        precondition(kept + mono.count == recent.count, "all hops have the same length")
        recent.advance(by: mono.count)
        recent.withUnsafeMutableBufferPointer { buffer in
            mono.withUnsafeBufferPointer { (buffer.baseAddress! + kept).update(from: $0.baseAddress!, count: mono.count) }
        }
        // The frames before `phase` belong to the previous decimated frame.
        let count = (mono.count - phase + factor - 1) / factor
        decimated.advance(by: count)
        decimated.fillEnd(recent, through: taps, from: phase, every: factor, count: count)
        phase += count * factor - mono.count

        long.advance(decimated)
        short.advance(decimated)
    }

    /// |X| of the longer window at the last hop, from DC on.
    var magnitudes: [Float] { long.magnitudes }
    /// |X| of the shorter window at the last hop, from DC on.
    var shortMagnitudes: [Float] { short.magnitudes }

    /// Writes the values of the bars: the low ones from the decimated spectra, the others from the shared spectrum.
    func measure(_ bank: BarBank, _ shared: Span<Float>, into heights: inout MutableSpan<Float>) {
        bank.measure(bass: long.magnitudes.span, low: short.magnitudes.span, shared, into: &heights)
    }

    /// Sets the history to silence.
    mutating func clear() {
        for index in decimated.indices { decimated[index] = 0 }
        for index in recent.indices { recent[index] = 0 }
        phase = 0
    }
}

/// The low-pass filter before the decimation of a window to 512 frames: a Blackman-Harris window. Its main lobe ends at 4/5 of the decimated
/// rate, and its sidelobes are at −92 dB.
struct DecimationFilter {
    /// Taps per decimated frame.
    private static let tapsPerFrame = 5

    /// The decimation factor.
    let factor: Int
    /// Padded with up to seven zeros to a multiple of eight.
    let taps: [Float]

    /// - Parameter windowFrames: Length of the window in frames of the stream, a multiple of 512.
    init(windowFrames: Int) {
        precondition(windowFrames.isMultiple(of: DecimatedSpectrum.transformSize), "the decimation factor is an integer")
        factor = windowFrames / DecimatedSpectrum.transformSize
        let shape = WindowShape.blackmanHarris
        let count = Self.tapsPerFrame * factor
        let sum = shape.sum(size: count)
        taps = shape.values(size: count).map { Float(Double($0) / sum) } + Array(repeating: 0, count: (8 - count % 8) % 8)
    }

    /// Frames from the centre of the newest decimated frame to the newest frame of the stream.
    var delayFrames: Double { Double(Self.tapsPerFrame * factor) / 2 }

    /// The magnitude relative to that of a full window: the response of the filter divided by the decimation factor.
    ///
    /// - Parameter cyclesPerFrame: Frequency divided by the sample rate of the stream.
    func attenuation(at cyclesPerFrame: Double) -> Double {
        let middle = Double(Self.tapsPerFrame * factor) / 2
        let response = taps.enumerated().reduce(0.0) { sum, tap in
            sum + Double(tap.element) * cos(2 * Double.pi * cyclesPerFrame * (Double(tap.offset) - middle))
        }
        return response / Double(factor)
    }
}
