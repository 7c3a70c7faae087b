internal import HemiolaSignal

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// SuperFlux onset detection function (S. Böck and G. Widmer, "Maximum Filter Vibrato Suppression for Onset Detection", DAFx 2013):
/// the half-wave rectified difference between consecutive logarithmic spectra of 24 bands per octave. The previous spectrum is
/// maximum-filtered over three bands, so that vibrato does not count as an increase.
///
/// Differences from the paper: amplitudes are normalized by the decaying maximum of the loudest band, which makes the result
/// independent of gain, and the result is the mean over the bands instead of their sum.
struct SuperFlux: Sendable {
    private static let bandsPerOctave = 24.0
    /// Factor of the logarithmic compression, log2(1 + factor · relative amplitude).
    private static let compression: Float = 30
    /// Time constant of the decaying maximum, in seconds.
    private static let decaySeconds = 8.0
    /// Lower limit of the normalization: −90 dBFS, the resolution of 16-bit samples.
    private static let silenceLevel: Float = 3e-5

    private let bank: TriangularFilterBank
    private let bandCount: Float
    private let decayPerFrame: Float
    /// The decaying maximum of the loudest band.
    private var maximum: Float = 0
    /// The band levels of the current and of the previous frame, each with eight zeros before and after them.
    private var levels: [Float]
    private var previous: [Float]
    private var hasPrevious = false

    /// - Parameters:
    ///   - size: Length of the periodic Hann window, in frames.
    ///   - sampleRate: Sample rate of the spectra, in hertz.
    ///   - nyquist: Half the sample rate of the stream, in hertz: bands above it are left out.
    ///   - frameSeconds: Time between spectra, in seconds.
    init(size: Int, sampleRate: Double, nyquist: Double, frameSeconds: Double) {
        bank = TriangularFilterBank(bandsPerOctave: Self.bandsPerOctave, size: size, sampleRate: sampleRate, top: 0.98 * nyquist)
        bandCount = Float(max(1, bank.count))
        decayPerFrame = Float(exp(-frameSeconds / Self.decaySeconds))
        levels = Array(repeating: 0, count: 16 + (bank.count + 7) & ~7)
        previous = levels
    }

    /// Returns to the initial state.
    mutating func reset() {
        maximum = 0
        interrupt()
    }

    /// Marks a gap: no difference is computed between the last frame and the next.
    mutating func interrupt() {
        hasPrevious = false
    }

    /// Processes the next magnitude spectrum. O(bins), no allocation.
    ///
    /// - Returns: The onset strength: the mean increase over the bands, in octaves of amplitude. 0 for the first frame and after a gap.
    mutating func advance(_ magnitudes: Span<Float>) -> Float {
        swap(&levels, &previous)
        bank.apply(magnitudes, to: &levels, from: 8)
        compress()
        defer { hasPrevious = true }
        return hasPrevious ? meanIncrease() : 0
    }

    /// Normalizes and compresses `levels`.
    private mutating func compress() {
        levels.withUnsafeMutableBufferPointer { levels in
            var largest = Lanes.zero
            for index in stride(from: 8, to: levels.count - 8, by: 8) { largest = largest.maximum(with: levels.lanes(index)) }
            maximum = max(largest.max(), maximum * decayPerFrame)
            let factor = Lanes(repeating: Self.compression / max(maximum, Self.silenceLevel))
            for index in stride(from: 8, to: levels.count - 8, by: 8) {
                levels.store((levels.lanes(index) * factor + 1).approximateLog2, index)
            }
        }
    }

    private func meanIncrease() -> Float {
        levels.withUnsafeBufferPointer { new in
            previous.withUnsafeBufferPointer { old in
                var increase = Lanes.zero
                for index in stride(from: 8, to: new.count - 8, by: 8) {
                    let before = old.lanes(index).maximum(with: old.lanes(index - 1)).maximum(with: old.lanes(index + 1))
                    increase += (new.lanes(index) - before).maximum(with: .zero)
                }
                return increase.sum() / bandCount
            }
        }
    }
}
