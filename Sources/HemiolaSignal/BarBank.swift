internal import Glibc

/// The filter bank of the bars: bands of equal width in log frequency. The value of a bar is the mean magnitude between its edges.
///
/// Lower bars use longer windows. One window fades into the next over more than an octave, weighted so that white noise has the same
/// level in each. Between bins the magnitude is interpolated: a bar may be narrower than a bin, and a tone is highest in the bar that
/// contains it.
///
/// - Note: The equalizer and the longest window are those of cava's cavacore.c (K. Stavestrand), which changes at 100 Hz to windows of
///   4096 frames, with a step.
struct BarBank {
    /// The spectrum that a bar, or a part of it, is computed from.
    private enum Source {
        /// Window of 8192 frames at 44.1 kHz, decimated.
        case bass
        /// Window of 4096 frames, decimated.
        case low
        /// The spectrum requested from the pipeline.
        case shared
    }

    /// The contribution of one spectrum to one bar.
    private struct Part {
        var source: Source
        var bar: Int
        var firstBin: Int
        var firstWeight: Int
        /// Number of vectors of eight weights. Weights outside the edges are 0.
        var vectors: Int
    }

    /// Upper edges between which the longest window fades into the next one, in hertz.
    private static let bassFade = 60.0...200.0
    /// Upper edges between which the decimated window of 4096 frames fades into the shared one, in hertz.
    private static let lowFade = 170.0...DecimatedSpectrum.highestHertz
    /// Minimum width in bins of a bar that starts at `narrowHertz`, as far as a window of 4096 frames allows.
    private static let narrowestBins = 3.0
    private static let narrowHertz = 300.0
    /// The exponent of the equalizer, against the spectral slope of music: 5 dB per octave.
    private static let slope = 0.85

    /// Window length of the shared spectrum, in frames: 2048 at 44.1 kHz, about 45 ms at any rate; twice that for narrow bars.
    let size: Int
    /// Edges in hertz; one more than there are bars.
    let edges: [Double]
    /// Number of bins, from DC on, needed from the two decimated windows; 0 if no bar uses the window.
    let bassBinCount: Int
    let lowBinCount: Int
    /// Length of the longest window, in frames.
    let bassFrames: Int
    /// Frames from the centre of the lowest bar's window to the newest frame.
    let centerFrames: Double
    private let sampleRate: Double
    private var parts: [Part] = []
    private var weights: [Float] = []

    var count: Int { edges.count - 1 }
    /// Whether any bar uses a decimated window.
    var usesDecimation: Bool { bassBinCount + lowBinCount > 0 }

    /// Bars between two frequencies in hertz, with their weights.
    init(count: Int, from low: Double, to high: Double, sampleRate: Int) {
        let ratio = high / low
        let edges = (0...count).map { index in
            index == 0 ? low : index == count ? high : low * pow(ratio, Double(index) / Double(count))
        }
        let bassFrames = 4 * Self.size(at: sampleRate)
        let narrowest = max(low, Self.narrowHertz) * (pow(ratio, 1 / Double(max(count, 1))) - 1)
        let isNarrow = narrowest * Double(bassFrames / 4) < Self.narrowestBins * Double(sampleRate)
        let size = bassFrames / (isNarrow ? 2 : 4)
        let shares = edges.dropFirst().map { Self.shares(below: $0, isNarrow: isNarrow) }
        func bins(_ source: Source, of frames: Int) -> Int {
            guard let last = shares.lastIndex(where: { $0.contains { $0.source == source } }) else { return 0 }
            let bin = Int(edges[last + 1] * Double(frames) / Double(sampleRate)) + Interpolation.reach
            // Rounded up to a multiple of eight.
            return (bin / 8 + 1) * 8
        }
        let (bassBinCount, lowBinCount) = (bins(.bass, of: bassFrames), bins(.low, of: bassFrames / 2))
        let longest = bassBinCount > 0 ? bassFrames : lowBinCount > 0 ? bassFrames / 2 : size
        let filter = DecimationFilter(windowFrames: bassFrames)
        centerFrames = Double(longest) / 2 + (bassBinCount + lowBinCount > 0 ? filter.delayFrames : 0)
        (self.bassBinCount, self.lowBinCount) = (bassBinCount, lowBinCount)
        self.size = size
        self.bassFrames = bassFrames
        self.edges = edges
        self.sampleRate = Double(sampleRate)
        for (bar, sources) in shares.enumerated() {
            for (source, share) in sources { add(source, share, to: bar, filter) }
        }
    }

    private mutating func add(_ source: Source, _ share: Double, to bar: Int, _ filter: DecimationFilter) {
        let (low, high) = (edges[bar], edges[bar + 1])
        let (frames, binCount) =
            switch source {
            case .bass: (bassFrames, bassBinCount)
            case .low: (bassFrames / 2, lowBinCount)
            case .shared: (size, size / 2)
            }
        let binWidth = sampleRate / Double(frames)
        // The equalizer shifts the peak of a tone upwards by this much, and is compensated for, so that narrow bars are the highest
        // for their own tones.
        let shift = Self.slope * binWidth / (2 * Interpolation.curvature * high)
        let (start, end) = (low / binWidth + shift, high / binWidth + shift)
        let first = min(binCount - 1, max(0, Int(start) + 1 - Interpolation.reach))
        let final = min(binCount - 1, Int(end) + Interpolation.reach)
        let vectors = (final - first) / 8 + 1
        let part = Part(
            source: source, bar: bar, firstBin: min(first, binCount - 8 * vectors), firstWeight: weights.count, vectors: vectors)
        parts.append(part)
        // A mixture of two windows varies less than either, and the motion of the bars follows peaks: noise would look 6 % lower.
        let lift = 1 + 0.16 * share * (1 - share)
        // Scales as cava does (16-bit samples over 2²⁸). White noise has magnitudes in proportion to √frames.
        let scale = lift * share * pow(high, Self.slope) / (0x1p13 * log2(Double(size))) * (Double(size) / Double(frames)).squareRoot()
        var shares = [Double](repeating: 0, count: 8 * vectors)
        for bin in Int(start) + 1 - Interpolation.reach...Int(end) + Interpolation.reach {
            // The spectrum of a real signal is symmetric about DC, and the last bin extends to the Nyquist frequency.
            shares[min(abs(bin), binCount - 1) - part.firstBin] +=
                Interpolation.integral(end - Double(bin)) - Interpolation.integral(start - Double(bin))
        }
        for (index, share) in shares.enumerated() {
            let center = Double(part.firstBin + index) / Double(frames)
            let gain = source == .shared || share == 0 ? 1 : filter.attenuation(at: center)
            weights.append(Float(share / (end - start) * scale / gain))
        }
    }

    /// Writes the value of each bar before the automatic gain: about 1 for music at full scale. O(bins), no allocation.
    ///
    /// - Parameters:
    ///   - bass: Magnitudes of the longest window.
    ///   - low: Magnitudes of the other decimated window.
    ///   - shared: Magnitudes of the shared spectrum, a window of `size` frames.
    func measure(bass: Span<Float>, low: Span<Float>, _ shared: Span<Float>, into heights: inout MutableSpan<Float>) {
        let table = weights.span
        for bar in heights.indices { heights[bar] = 0 }
        for index in parts.indices {
            let part = parts[index]
            let bins =
                switch part.source {
                case .bass: bass
                case .low: low
                case .shared: shared
                }
            let value = bins.dot(table, from: part.firstWeight, over: part.firstBin..<part.firstBin + 8 * part.vectors)
            // Between a peak and its neighbours the interpolation may be below 0.
            heights[part.bar] += max(0, value)
        }
    }

    /// The power of two that is about 45 ms. As in cava the limits are halfway between the usual sample rates.
    private static func size(at sampleRate: Int) -> Int {
        switch sampleRate {
        case ...8125: 256
        case ...16_250: 512
        case ...32_500: 1024
        case ...75_000: 2048
        case ...150_000: 4096
        case ...300_000: 8192
        default: 16_384
        }
    }

    /// The spectra of a bar with this upper edge, and the share of each: 1 in total.
    private static func shares(below high: Double, isNarrow: Bool) -> [(source: Source, share: Double)] {
        func remainder(_ fade: ClosedRange<Double>) -> Double {
            min(1, max(0, log(fade.upperBound / high) / log(fade.upperBound / fade.lowerBound)))
        }
        let bass = remainder(bassFade)
        // For narrow bars the shared window is as long as the other decimated one.
        let low = isNarrow ? 0 : (1 - bass) * remainder(lowFade)
        return [(.bass, bass), (.low, low), (.shared, 1 - bass - low)].filter { $0.1 > 0 }
    }
}

/// Cubic interpolation between the bins of a Hann-windowed spectrum.
///
/// The kernel is that of R. Keys, "Cubic convolution interpolation for digital image processing", IEEE Trans. ASSP 29(6), 1981. With
/// the parameter −0.88 the peak of a tone between bins is right within 0.002 bins and 0.2 %.
private enum Interpolation {
    private static let a = -0.88
    /// Half the length of the kernel, in bins.
    static let reach = 2
    /// The magnitude of a tone is 1 − curvature · x² at a distance of x bins, near its peak.
    static let curvature = Double.pi * Double.pi / 6 - 1

    /// The integral of the kernel from 0 to x, in bins.
    static func integral(_ x: Double) -> Double {
        func inner(_ x: Double) -> Double { (((a + 2) / 4 * x - (a + 3) / 3) * x * x + 1) * x }
        func outer(_ x: Double) -> Double { a * (((x / 4 - 5.0 / 3) * x + 4) * x - 4) * x }
        let distance = min(abs(x), Double(reach))
        let area = distance <= 1 ? inner(distance) : inner(1) + outer(distance) - outer(1)
        return x < 0 ? -area : area
    }
}
