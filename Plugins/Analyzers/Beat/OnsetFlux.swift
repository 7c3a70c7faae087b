internal import HemiolaSignal

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// SuperFlux (S. Böck and G. Widmer, DAFx 2013): how much a logarithmic spectrum of 24 bands per octave rises over the loudest
/// of its neighbours a frame before, so that vibrato does not count.
///
/// Amplitudes are taken relative to the loudest band of the last seconds: gain does not matter.
struct OnsetFlux: Sendable {
    private static let bandsPerOctave = 24.0
    /// In hertz. Nothing above what 22.05 kHz can hold: from there up the same is heard at every sample rate.
    private static let range = 30.0...10_400.0
    /// The logarithm is of 1 + this much times the relative amplitude.
    private static let compression: Float = 30
    private static let memorySeconds = 8.0
    /// In hertz: vowels have most of their sound below one and hardly any above the other, consonants the other way round.
    private static let low = 700.0
    private static let high = 4000.0
    /// −90 dBFS, the last of 16 bits. Frames that are softer are silent, and no amplitude is taken relative to less.
    private static let floor: Float = 3e-5

    private struct Band {
        var firstBin: Int
        var firstWeight: Int
        var vectors: Int
    }

    private let bands: [Band]
    private let weights: [Float]
    private let bandCount: Float
    /// Where in the levels the low bands end and the high ones begin, in whole vectors.
    private let lowEnd: Int
    private let highStart: Int
    private let keep: Float
    private var loudest: Float = 0
    /// This frame and the one before, each with eight zeros before and behind.
    private var levels: [Float]
    private var previous: [Float]
    private var hasPrevious = false
    private var isSilent = true

    /// - Parameters:
    ///   - size: The frames under the periodic Hann window.
    ///   - sampleRate: That of those frames.
    ///   - nyquist: Nothing is above this in the stream, in hertz.
    init(size: Int, sampleRate: Double, nyquist: Double, frameSeconds: Double) {
        let binCount = size / 2 + 1
        let top = min(Self.range.upperBound, 0.98 * nyquist)
        let count = Int((log2(top / Self.range.lowerBound) * Self.bandsPerOctave).rounded(.down))
        let all = (0...max(0, count)).map { Self.range.lowerBound * exp2(Double($0) / Self.bandsPerOctave) }
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
            // Of a Hann window's sum, half the size, a sine of amplitude 1 has half.
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
        func place(_ hertz: Double) -> Int {
            8 + (edges.dropFirst().prefix(bands.count).count { Double($0) * sampleRate / Double(size) < hertz } + 4) & ~7
        }
        (lowEnd, highStart) = (place(Self.low), place(Self.high))
        keep = Float(exp(-frameSeconds / Self.memorySeconds))
        levels = Array(repeating: 0, count: 16 + (bands.count + 7) & ~7)
        previous = levels
    }

    mutating func reset() {
        loudest = 0
        isSilent = true
        interrupt()
    }

    /// What comes next does not follow what came before.
    mutating func interrupt() {
        hasPrevious = false
    }

    /// Takes in a magnitude spectrum. O(bins), no allocation.
    mutating func advance(_ magnitudes: Span<Float>) -> SpectralChange {
        swap(&levels, &previous)
        filter(magnitudes)
        let powers = compress()
        defer { hasPrevious = true }
        var change = hasPrevious ? compare() : SpectralChange(isSilent: isSilent)
        change.level = powers.all.squareRoot()
        change.lowLevel = powers.low.squareRoot()
        change.highLevel = powers.high.squareRoot()
        return change
    }

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

    /// - Returns: The power of all, the low and the high bands, relative to the loudest.
    private mutating func compress() -> (all: Float, low: Float, high: Float) {
        var peak: Float = 0
        var (low, middle, high) = (Lanes.zero, Lanes.zero, Lanes.zero)
        levels.withUnsafeBufferPointer { levels in
            var largest = Lanes.zero
            for index in stride(from: 8, to: levels.count - 8, by: 8) {
                let level = levels.lanes(index)
                largest = largest.larger(level)
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
        isSilent = peak < Self.floor
        loudest = max(peak, loudest * keep)
        let scale = 1 / max(loudest * loudest, Self.floor * Self.floor)
        let factor = Lanes(repeating: Self.compression / max(loudest, Self.floor))
        levels.withUnsafeMutableBufferPointer { levels in
            for index in stride(from: 8, to: levels.count - 8, by: 8) {
                levels.store((UnsafeBufferPointer(levels).lanes(index) * factor + 1).binaryLogarithm, index)
            }
        }
        return ((low + middle + high).sum() * scale, low.sum() * scale, high.sum() * scale)
    }

    private func compare() -> SpectralChange {
        levels.withUnsafeBufferPointer { new in
            previous.withUnsafeBufferPointer { old in
                var (rise, fall, plain, bass) = (Lanes.zero, Lanes.zero, Lanes.zero, Lanes.zero)
                for index in stride(from: 8, to: new.count - 8, by: 8) {
                    let (level, before) = (new.lanes(index), old.lanes(index))
                    let highBefore = before.larger(old.lanes(index - 1)).larger(old.lanes(index + 1))
                    let high = level.larger(new.lanes(index - 1)).larger(new.lanes(index + 1))
                    let risen = (level - highBefore).larger(.zero)
                    rise += risen
                    fall += (before - high).larger(.zero)
                    plain += (level - before).larger(.zero)
                    if index == 8 { bass = risen }
                }
                return SpectralChange(
                    rise: rise.sum() / bandCount, fall: fall.sum() / bandCount, unsuppressedRise: plain.sum() / bandCount,
                    bassRise: bass.sum() / 8, isSilent: isSilent)
            }
        }
    }
}
