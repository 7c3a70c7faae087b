internal import HemiolaSignal

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The difference between two consecutive log spectra: half-wave rectified means over the bands, in octaves of amplitude.
struct SpectralDifference: Sendable {
    /// Mean increase over the maximum-filtered previous frame (SuperFlux): the onset strength.
    var onsetStrength: Float = 0
    /// Mean decrease, with the maximum filter on the current frame.
    var decrease: Float = 0
    /// Mean increase without the maximum filter.
    var unfilteredIncrease: Float = 0
    /// Mean of the onset strength in the eight lowest bands.
    var bassIncrease: Float = 0
    /// Amplitude of all bands, of the bands below 700 Hz and of those above 4 kHz, relative to the decaying maximum of the loudest
    /// band.
    var level: Float = 0
    var lowLevel: Float = 0
    var highLevel: Float = 0
    /// Whether every band of the frame is below −90 dBFS.
    var isSilent = true
}

/// SuperFlux onset detection function (S. Böck and G. Widmer, "Maximum Filter Vibrato Suppression for Onset Detection", DAFx 2013):
/// the half-wave rectified difference between consecutive logarithmic spectra of 24 bands per octave. The previous spectrum is
/// maximum-filtered over three bands, so that vibrato does not count as an increase.
///
/// Differences from the paper: amplitudes are normalized by the decaying maximum of the loudest band, which makes the result
/// independent of gain, and the result is the mean over the bands instead of their sum.
struct SuperFlux: Sendable {
    private static let bandsPerOctave = 24.0
    /// Frequency range in hertz. The upper limit is below the transition band of resamplers to 22.05 kHz, so that the result does
    /// not depend on the sample rate.
    private static let frequencyRange = 30.0...10_400.0
    /// Factor of the logarithmic compression, log2(1 + factor · relative amplitude).
    private static let compression: Float = 30
    /// Time constant of the decaying maximum, in seconds.
    private static let decaySeconds = 8.0
    /// Limits of the low and high bands of the speech/music discriminator, in hertz: most energy of vowels is below the first,
    /// most energy of fricatives above the second.
    private static let lowLimit = 700.0
    private static let highLimit = 4000.0
    /// Silence threshold and lower limit of the normalization: −90 dBFS, the resolution of 16-bit samples.
    private static let silenceLevel: Float = 3e-5

    /// A triangular band: a run of weights, padded to whole vectors of eight.
    private struct Band {
        var firstBin: Int
        var firstWeight: Int
        var vectors: Int
    }

    private let bands: [Band]
    private let weights: [Float]
    private let bandCount: Float
    /// Indices in `levels` of the end of the low bands and of the start of the high bands, both multiples of 8.
    private let lowEnd: Int
    private let highStart: Int
    private let decayPerFrame: Float
    /// The decaying maximum of the loudest band.
    private var maximum: Float = 0
    /// The band levels of the current and of the previous frame, each with eight zeros before and after them.
    private var levels: [Float]
    private var previous: [Float]
    private var hasPrevious = false
    private var isSilent = true

    /// - Parameters:
    ///   - size: Length of the periodic Hann window, in frames.
    ///   - sampleRate: Sample rate of the spectra, in hertz.
    ///   - nyquist: Half the sample rate of the stream, in hertz: bands above it are left out.
    ///   - frameSeconds: Time between spectra, in seconds.
    init(size: Int, sampleRate: Double, nyquist: Double, frameSeconds: Double) {
        let binCount = size / 2 + 1
        let top = min(Self.frequencyRange.upperBound, 0.98 * nyquist)
        let count = Int((log2(top / Self.frequencyRange.lowerBound) * Self.bandsPerOctave).rounded(.down))
        let all = (0...max(0, count)).map { Self.frequencyRange.lowerBound * exp2(Double($0) / Self.bandsPerOctave) }
            .map { Int(($0 * Double(size) / sampleRate).rounded()) }.filter { $0 < binCount }
        let edges = all.enumerated().filter { $0.offset == 0 || all[$0.offset - 1] != $0.element }.map(\.element)
        var (bands, weights) = ([Band](), [Float]())
        for index in 0..<max(0, edges.count - 2) {
            let (low, center, high) = (edges[index], edges[index + 1], edges[index + 2])
            let shares = (low...high).map {
                $0 < center ? Double($0 - low) / Double(center - low) : Double(high - $0) / Double(high - center)
            }
            let vectors = (shares.count + 7) / 8
            let first = max(0, min(low, binCount - 8 * vectors))
            var row = [Float](repeating: 0, count: 8 * vectors)
            // A sine of amplitude 1 has magnitude size / 4: half the sum of the Hann window, which is size / 2.
            let scale = 4 / (Double(size) * shares.reduce(0, +))
            for (offset, share) in shares.enumerated() where low - first + offset < row.count {
                row[low - first + offset] = Float(share * scale)
            }
            bands.append(Band(firstBin: first, firstWeight: weights.count, vectors: vectors))
            weights += row
        }
        self.bands = bands
        self.weights = weights
        bandCount = Float(max(1, bands.count))
        func levelIndex(_ hertz: Double) -> Int {
            8 + (edges.dropFirst().prefix(bands.count).count { Double($0) * sampleRate / Double(size) < hertz } + 4) & ~7
        }
        (lowEnd, highStart) = (levelIndex(Self.lowLimit), levelIndex(Self.highLimit))
        decayPerFrame = Float(exp(-frameSeconds / Self.decaySeconds))
        levels = Array(repeating: 0, count: 16 + (bands.count + 7) & ~7)
        previous = levels
    }

    /// Returns to the initial state.
    mutating func reset() {
        maximum = 0
        isSilent = true
        interrupt()
    }

    /// Marks a gap: no difference is computed between the last frame and the next.
    mutating func interrupt() {
        hasPrevious = false
    }

    /// Processes the next magnitude spectrum. O(bins), no allocation.
    mutating func advance(_ magnitudes: Span<Float>) -> SpectralDifference {
        swap(&levels, &previous)
        filter(magnitudes)
        let powers = compress()
        defer { hasPrevious = true }
        var difference = hasPrevious ? computeDifference() : SpectralDifference(isSilent: isSilent)
        difference.level = powers.all.squareRoot()
        difference.lowLevel = powers.low.squareRoot()
        difference.highLevel = powers.high.squareRoot()
        return difference
    }

    /// Writes the band amplitudes to `levels`.
    private mutating func filter(_ magnitudes: Span<Float>) {
        let bands = bands
        levels.withUnsafeMutableBufferPointer { levels in
            weights.withUnsafeBufferPointer { weights in
                magnitudes.withUnsafeBufferPointer { bins in
                    for index in bands.indices {
                        let band = bands[index]
                        var sum = Lanes.zero
                        for vector in 0..<band.vectors {
                            sum += bins.lanes(band.firstBin + 8 * vector) * weights.lanes(band.firstWeight + 8 * vector)
                        }
                        levels[8 + index] = sum.sum()
                    }
                }
            }
        }
    }

    /// Normalizes and compresses `levels`.
    ///
    /// - Returns: The power of all bands, the low bands and the high bands, relative to the decaying maximum.
    private mutating func compress() -> (all: Float, low: Float, high: Float) {
        var peak: Float = 0
        var (low, middle, high) = (Lanes.zero, Lanes.zero, Lanes.zero)
        levels.withUnsafeBufferPointer { levels in
            var largest = Lanes.zero
            for index in stride(from: 8, to: levels.count - 8, by: 8) {
                let level = levels.lanes(index)
                largest = largest.maximum(with: level)
                if index < lowEnd {
                    low += level * level
                } else if index < highStart {
                    middle += level * level
                } else {
                    high += level * level
                }
            }
            peak = largest.max()
        }
        isSilent = peak < Self.silenceLevel
        maximum = max(peak, maximum * decayPerFrame)
        let scale = 1 / max(maximum * maximum, Self.silenceLevel * Self.silenceLevel)
        let factor = Lanes(repeating: Self.compression / max(maximum, Self.silenceLevel))
        levels.withUnsafeMutableBufferPointer { levels in
            for index in stride(from: 8, to: levels.count - 8, by: 8) {
                levels.store((levels.lanes(index) * factor + 1).approximateLog2, index)
            }
        }
        return ((low + middle + high).sum() * scale, low.sum() * scale, high.sum() * scale)
    }

    private func computeDifference() -> SpectralDifference {
        levels.withUnsafeBufferPointer { new in
            previous.withUnsafeBufferPointer { old in
                var (increase, decrease, unfiltered, bass) = (Lanes.zero, Lanes.zero, Lanes.zero, Lanes.zero)
                for index in stride(from: 8, to: new.count - 8, by: 8) {
                    let (level, before) = (new.lanes(index), old.lanes(index))
                    let maximumBefore = before.maximum(with: old.lanes(index - 1)).maximum(with: old.lanes(index + 1))
                    let maximumNow = level.maximum(with: new.lanes(index - 1)).maximum(with: new.lanes(index + 1))
                    let rectified = (level - maximumBefore).maximum(with: .zero)
                    increase += rectified
                    decrease += (before - maximumNow).maximum(with: .zero)
                    unfiltered += (level - before).maximum(with: .zero)
                    if index == 8 { bass = rectified }
                }
                return SpectralDifference(
                    onsetStrength: increase.sum() / bandCount, decrease: decrease.sum() / bandCount,
                    unfilteredIncrease: unfiltered.sum() / bandCount, bassIncrease: bass.sum() / 8, isSilent: isSilent)
            }
        }
    }
}
