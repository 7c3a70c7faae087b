internal import HemiolaSignal
internal import HemiolaSpectrum

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The lowest bins of two long, Hann-windowed transforms of the mono mix, for little money: the mix is low-passed and thinned
/// to one frame in `factor`, and the last 512 and 256 of those are transformed.
///
/// A transform of 8192 frames at 44.1 kHz would give 4097 bins, of which the bars below 100 Hz need two dozen. Thinned by 16
/// it is one of 512 frames with the same bins.
///
/// - Complexity: O(hop) and transforms of 512 and 256 per hop, as far as they are wanted; no allocation after `init`.
struct LowSpectrum: ~Copyable {
    /// Thinned frames under the longer window.
    static let transformSize = 512
    /// Up to where the bins are fit for use, in hertz: the thinned rate is 2 kHz or more, and what folds back from it to
    /// here lies beyond the low pass's main lobe.
    static let highestHertz = 400.0
    /// Taps of the low pass per thinned frame.
    private static let tapsPerFrame = 5

    /// Frames of the stream that make one thinned frame.
    let factor: Int
    /// A Blackman-Harris window: its main lobe ends at 4/5 of the thinned rate, and all beyond is 92 dB below.
    private let taps: [Float]
    private var long: Transform
    private var short: Transform
    /// The last thinned frames.
    private var thinned = [Float](repeating: 0, count: transformSize)
    /// The last frames of the stream: as many as the low pass reaches back, then the hop.
    private var recent: [Float]
    /// Frames of the next hop before the next thinned one is due.
    private var phase = 0

    /// A window over the newest thinned frames, and the lowest bins below it.
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

        mutating func advance(_ thinned: [Float]) {
            if magnitudes.isEmpty { return }
            fft.load(thinned, from: thinned.count - window.count, under: window)
            fft.transform()
            fft.measure(magnitudes: &magnitudes)
        }
    }

    /// - Parameters:
    ///   - windowFrames: Frames of the stream under the longer window, a multiple of 512.
    ///   - binCount: How many bins of the longer window, from DC on, are wanted; 0 if none.
    ///   - shortBinCount: How many bins of the window half as long.
    init(windowFrames: Int, binCount: Int, shortBinCount: Int, hopFrames: Int) {
        precondition(windowFrames.isMultiple(of: Self.transformSize), "whole frames make a thinned one")
        factor = windowFrames / Self.transformSize
        let shape = WindowShape.blackmanHarris
        // Up to seven zeros make whole vectors of it.
        let count = Self.tapsPerFrame * factor
        let sum = shape.sum(size: count)
        taps = shape.values(size: count).map { Float(Double($0) / sum) } + Array(repeating: 0, count: (8 - count % 8) % 8)
        recent = [Float](repeating: 0, count: taps.count - 1 + hopFrames)
        long = Transform(size: Self.transformSize, binCount: binCount)
        short = Transform(size: Self.transformSize / 2, binCount: shortBinCount)
    }

    /// What a magnitude of the whole window is here: thinned, and lowered by the low pass.
    ///
    /// - Parameter cyclesPerFrame: The frequency over the stream's sample rate.
    func attenuation(at cyclesPerFrame: Double) -> Double {
        let middle = Double(Self.tapsPerFrame * factor) / 2
        let response = taps.enumerated().reduce(0.0) { sum, tap in
            sum + Double(tap.element) * cos(2 * Double.pi * cyclesPerFrame * (Double(tap.offset) - middle))
        }
        return response / Double(factor)
    }

    /// Takes in a hop of the mono mix, zero-padded.
    mutating func advance(_ mono: Span<Float>) {
        let kept = taps.count - 1
        precondition(kept + mono.count == recent.count, "a hop has always the same length")
        recent.advance(by: mono.count)
        recent.withUnsafeMutableBufferPointer { buffer in
            mono.withUnsafeBufferPointer { (buffer.baseAddress! + kept).update(from: $0.baseAddress!, count: mono.count) }
        }
        // The frames before `phase` belong to the thinned frame before.
        let count = (mono.count - phase + factor - 1) / factor
        thinned.advance(by: count)
        thinned.fillEnd(recent, through: taps, from: phase, every: factor, count: count)
        phase += count * factor - mono.count

        long.advance(thinned)
        short.advance(thinned)
    }

    /// |X| of the last hop under the longer window, from DC on.
    var magnitudes: [Float] { long.magnitudes }
    /// |X| of the last hop under the shorter one.
    var shortMagnitudes: [Float] { short.magnitudes }

    /// Writes the heights of a bank's bars: the low ones from here, the others from the hop's magnitudes.
    func measure(_ bank: BarBank, _ shared: Span<Float>, into heights: inout MutableSpan<Float>) {
        bank.measure(bass: long.magnitudes.span, low: short.magnitudes.span, shared, into: &heights)
    }

    /// Forgets the audio so far.
    mutating func clear() {
        for index in thinned.indices { thinned[index] = 0 }
        for index in recent.indices { recent[index] = 0 }
        phase = 0
    }
}
