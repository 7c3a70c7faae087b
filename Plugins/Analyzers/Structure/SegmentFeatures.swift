internal import HemiolaSignal

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Timbre and harmony of frames of 0.25 s: 20 logarithmic band levels, then 12 pitch classes.
struct SegmentFeatures {
    /// Levels of bands with equal widths on a mel scale, from 40 Hz to 10 kHz.
    static let bandCount = 20
    /// Values of a frame.
    static let count = 32
    /// Spectra per frame.
    private static let spectraPerFrame = 2
    /// Power below which a band is silent, relative to a full-scale sine.
    private static let silencePower: Float = 1e-7

    /// The values of the last full frame.
    private(set) var values = [Float](repeating: 0, count: count)
    /// The middle of the last full frame, in seconds.
    private(set) var time = 0.0
    private var sums = [Float](repeating: 0, count: count)
    private var startTime = 0.0
    private var spectrumCount = 0
    /// For each band its first bin and the bin after its last one.
    private let bands: [Range<Int>]
    /// The pitch class of each bin from `firstPitchBin` on.
    private let pitchClasses: [Int]
    private let firstPitchBin: Int
    private let scale: Float

    init(sampleRate: Double, size: Int) {
        let width = sampleRate / Double(size)
        let binCount = size / 2 + 1
        func mel(_ hertz: Double) -> Double { log(1 + hertz / 700) }
        let (low, high) = (mel(40), mel(min(10_000, sampleRate / 2)))
        bands = (0..<Self.bandCount).map { band in
            func bin(_ edge: Int) -> Int {
                Int((700 * (exp(low + (high - low) * Double(edge) / Double(Self.bandCount)) - 1) / width).rounded())
            }
            let first = min(bin(band), binCount - 1)
            return first..<min(binCount, max(first + 1, bin(band + 1)))
        }
        firstPitchBin = Int((150 / width).rounded(.up))
        let last = min(binCount - 1, Int(2000 / width))
        pitchClasses =
            firstPitchBin > last
            ? []
            : (firstPitchBin...last).map { bin in
                let note = (12 * log2(Double(bin) * width / 440)).rounded()
                return ((Int(note) % 12) + 12) % 12
            }
        // A sine of amplitude 1 has the power (size / 4)² with a Hann window.
        scale = Float(16 / (Double(size) * Double(size)))
    }

    /// Adds a power spectrum. No allocation.
    ///
    /// - Returns: Whether a frame is full: `values` and `time` are its.
    mutating func add(_ power: Span<Float>, at time: Double) -> Bool {
        if spectrumCount == 0 { startTime = time }
        for band in 0..<Self.bandCount {
            sums[band] += power.sum(bands[band]) * scale / Float(bands[band].count)
        }
        for index in pitchClasses.indices {
            sums[Self.bandCount + pitchClasses[index]] += (power[firstPitchBin + index] * scale).squareRoot()
        }
        spectrumCount += 1
        guard spectrumCount == Self.spectraPerFrame else { return false }
        self.time = (startTime + time) / 2
        finishFrame()
        return true
    }

    private mutating func finishFrame() {
        var norm: Float = 1e-4
        for index in Self.bandCount..<Self.count { norm += sums[index] * sums[index] }
        norm = norm.squareRoot()
        for index in 0..<Self.bandCount {
            values[index] = log10(sums[index] / Float(Self.spectraPerFrame) + Self.silencePower) * 0.5
        }
        for index in Self.bandCount..<Self.count { values[index] = sums[index] / norm }
        clearSums()
    }

    private mutating func clearSums() {
        for index in 0..<Self.count { sums[index] = 0 }
        spectrumCount = 0
    }

    mutating func reset() {
        clearSums()
    }
}
