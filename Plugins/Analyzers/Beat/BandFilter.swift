internal import HemiolaSignal

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The input of `BeatNetwork`: levels of 73 bands, their increases over two frames, and an onset activation (SuperFlux: S. Böck and
/// G. Widmer, "Maximum Filter Vibrato Suppression for Onset Detection", DAFx 2013). `Training/FEATURES.md` defines all values and
/// constants: the network is trained with them. The gain of the audio has no influence above −90 dBFS.
struct BandFilter: Sendable {
    static let bandCount = 73
    /// The spectra: window length in frames, and sample rate and hop in hertz and seconds.
    static let size = 2048
    static let sampleRate = 44_100
    static let hopSeconds = 0.01
    /// Index of the first band in `levels` and `increases`, which have zeros before and after the bands.
    static let firstIndex = 8

    private static let bandsPerOctave = 12.0
    private static let compression: Float = 100
    /// Lower limit of the peak, −90 dBFS: the resolution of 16-bit samples.
    private static let silenceLevel: Float = 3e-5
    private static let leastOnset: Float = 0.2
    private static let highestOnset: Float = 0.95
    /// Factors per frame of the decaying maxima of the band amplitudes and of the onset strength.
    private let peakDecay = Float(exp(-hopSeconds / 5))
    private let onsetDecay = Float(exp(-hopSeconds / 15))

    private let bank = TriangularFilterBank(bandsPerOctave: bandsPerOctave, size: size, sampleRate: Double(sampleRate))
    /// ln(1 + 100 · amplitude / peak) of each band, 0…4.62; from index `firstIndex` on.
    private(set) var levels: [Float]
    /// Increases of the levels over two frames, at least 0; from index `firstIndex` on.
    private(set) var increases: [Float]
    /// Onset activation, 0…0.95.
    private(set) var onset: Float = 0
    /// Whether every band of the frame is below −90 dBFS.
    private(set) var isSilent = true
    /// The levels one and two frames earlier.
    private var previous: [Float]
    private var beforePrevious: [Float]
    private var frameCount = 0
    private var peak = Self.silenceLevel
    private var onsetMaximum = Self.leastOnset

    init() {
        precondition(bank.count == Self.bandCount)
        levels = Array(repeating: 0, count: Self.firstIndex + (Self.bandCount + 15) & ~7)
        (increases, previous, beforePrevious) = (levels, levels, levels)
    }

    /// Returns to the initial state: at the start, and after a gap.
    mutating func reset() {
        frameCount = 0
        (peak, onsetMaximum) = (Self.silenceLevel, Self.leastOnset)
    }

    /// Processes the next magnitude spectrum, which has 1025 bins and is not normalized. O(bins), no allocation.
    mutating func advance(_ magnitudes: Span<Float>) {
        precondition(magnitudes.count == Self.size / 2 + 1)
        bank.apply(magnitudes, to: &increases, from: Self.firstIndex)
        compress()
    }

    /// Processes the next frame, given its band amplitudes. No allocation.
    mutating func advance(amplitudes: Span<Float>) {
        precondition(amplitudes.count == Self.bandCount)
        for band in 0..<Self.bandCount { increases[Self.firstIndex + band] = amplitudes[band] }
        compress()
    }

    /// Replaces the amplitudes, which are in `increases`, and updates the other values.
    private mutating func compress() {
        swap(&beforePrevious, &previous)
        swap(&previous, &levels)
        let vectors = stride(from: Self.firstIndex, to: levels.count - 8, by: 8)
        var largest = Lanes.zero
        increases.withUnsafeBufferPointer { amplitudes in
            for index in vectors { largest = largest.maximum(with: amplitudes.lanes(index)) }
        }
        isSilent = largest.max() < Self.silenceLevel
        peak = max(largest.max(), peak * peakDecay, Self.silenceLevel)
        let factor = Lanes(repeating: Self.compression / peak)
        // The first frame also stands for the frames before it.
        let change = Lanes(repeating: frameCount == 0 ? 0 : 1)
        let reference = frameCount == 1 ? previous : beforePrevious
        frameCount += 1
        var sum = Lanes.zero
        levels.withUnsafeMutableBufferPointer { levels in
            increases.withUnsafeMutableBufferPointer { increases in
                reference.withUnsafeBufferPointer { old in
                    for index in vectors {
                        let level = (increases.lanes(index) * factor + 1).approximateLog2 * Float(M_LN2)
                        levels.store(level, index)
                        increases.store((level - old.lanes(index)).maximum(with: .zero) * change, index)
                        // The zeros around the bands do not change the maximum of three bands: levels are not negative.
                        let highest = old.lanes(index).maximum(with: old.lanes(index - 1)).maximum(with: old.lanes(index + 1))
                        sum += (level - highest).maximum(with: .zero) * change
                    }
                }
            }
        }
        let strength = sum.sum() / Float(Self.bandCount)
        onsetMaximum = max(strength, onsetMaximum * onsetDecay, Self.leastOnset)
        onset = Self.highestOnset * strength / onsetMaximum
    }
}
