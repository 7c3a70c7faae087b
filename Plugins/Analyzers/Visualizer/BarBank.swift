internal import HemiolaSignal

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// How the bars are cut from the spectra: evenly in log frequency, each the mean magnitude between its edges.
///
/// The lower a bar begins, the longer the window it is read from. Each bin's magnitude is spread evenly over its width and a
/// bar takes what lies between its edges, so no bar is empty and none has to make way for its neighbours.
///
/// - Note: The equaliser and the two windows below 300 Hz are those of cava's cavacore.c (K. Stavestrand), which takes its
///   4096 frames all the way up.
struct BarBank {
    /// Which window a bar is read from.
    private enum Source {
        /// 8192 frames at 44.1 kHz, thinned.
        case bass
        /// 4096 frames, thinned.
        case low
        /// The spectrum of the bank.
        case shared
    }

    private struct Bar {
        var source: Source
        var firstBin: Int
        var firstWeight: Int
        /// Runs of eight weights; those past the bar's edges are 0.
        var vectors: Int
    }

    /// Below this a bar is read from the longest window, in hertz.
    private static let bassHertz = 100.0
    /// Below this a bar is read from a thinned window.
    private static let lowHertz = 300.0
    /// Bins that a bar beginning there spans at least, unless that would take more than 4096 frames.
    private static let narrowestBins = 3.0

    /// Frames under the window of the shared spectrum: 2048 at 44.1 kHz, about 45 ms at any rate; twice that for narrow bars.
    let size: Int
    /// Edges in hertz, one more than bars.
    let edges: [Double]
    /// The bins in use of the two thinned windows, from DC on; 0 when there is no bar so low.
    let bassBinCount: Int
    let lowBinCount: Int
    /// Frames under the longest window.
    let bassFrames: Int
    private let sampleRate: Double
    private var bars: [Bar] = []
    private var weights: [Float] = []

    var count: Int { edges.count - 1 }
    /// Whether some bar is read from a thinned window.
    var isThinned: Bool { bassBinCount + lowBinCount > 0 }

    init(count: Int, from low: Double, to high: Double, sampleRate: Int) {
        let ratio = high / low
        let edges = (0...count).map { index in
            index == 0 ? low : index == count ? high : low * pow(ratio, Double(index) / Double(count))
        }
        let bassFrames = 4 * Self.size(at: sampleRate)
        let sources = zip(edges, edges.dropFirst()).map(Self.source)
        func bins(_ source: Source, of frames: Int) -> Int {
            guard let last = sources.lastIndex(of: source) else { return 0 }
            let bin = Int(edges[last + 1] * Double(frames) / Double(sampleRate) + 0.5)
            // Whole vectors of bins.
            return (bin / 8 + 1) * 8
        }
        let narrowest = max(low, Self.lowHertz) * (pow(ratio, 1 / Double(max(count, 1))) - 1)
        let isNarrow = narrowest * Double(bassFrames / 4) < Self.narrowestBins * Double(sampleRate)
        size = bassFrames / (isNarrow ? 2 : 4)
        bassBinCount = bins(.bass, of: bassFrames)
        lowBinCount = bins(.low, of: bassFrames / 2)
        self.bassFrames = bassFrames
        self.edges = edges
        self.sampleRate = Double(sampleRate)
    }

    /// Makes the weights.
    ///
    /// - Parameter attenuation: By how much a thinned window's magnitude falls short of that of its frames, given the frequency
    ///   over the sample rate.
    mutating func weigh(attenuation: (Double) -> Double) {
        bars = []
        weights = []
        for (low, high) in zip(edges, edges.dropFirst()) {
            let source = Self.source(low, high)
            let (frames, binCount) =
                switch source {
                case .bass: (bassFrames, bassBinCount)
                case .low: (bassFrames / 2, lowBinCount)
                case .shared: (size, size / 2)
                }
            let binWidth = sampleRate / Double(frames)
            let first = min(binCount - 1, Int(low / binWidth + 0.5))
            let final = min(binCount - 1, Int(high / binWidth + 0.5))
            // 16-bit samples over 2²⁸, and a lift of 5 dB an octave against music's slope.
            let lift = pow(high, 0.85) / (0x1p13 * log2(Double(frames)))
            let vectors = (final - first) / 8 + 1
            let bar = Bar(
                source: source, firstBin: min(first, binCount - 8 * vectors), firstWeight: weights.count, vectors: vectors)
            bars.append(bar)
            for bin in bar.firstBin..<bar.firstBin + 8 * vectors {
                let center = Double(bin) * binWidth
                // The last bin stands for Nyquist's half, too.
                let end = bin == frames / 2 - 1 ? sampleRate / 2 : center + binWidth / 2
                let share = max(0, min(high, end) - max(low, center - binWidth / 2)) / (high - low)
                let fall = source == .shared || share == 0 ? 1 : attenuation(center / sampleRate)
                weights.append(Float(share * lift / fall))
            }
        }
    }

    /// Writes each bar's height before any gain: about 1 for music at full scale. O(bins), no allocation.
    ///
    /// - Parameters:
    ///   - bass: Magnitudes of the longest window.
    ///   - low: Magnitudes of the other thinned window.
    ///   - shared: Magnitudes of `size` frames.
    func measure(bass: Span<Float>, low: Span<Float>, _ shared: Span<Float>, into heights: inout MutableSpan<Float>) {
        let table = weights.span
        for index in bars.indices {
            let bar = bars[index]
            let bins =
                switch bar.source {
                case .bass: bass
                case .low: low
                case .shared: shared
                }
            heights[index] = bins.weighed(by: table, from: bar.firstWeight, at: bar.firstBin, vectors: bar.vectors)
        }
    }

    /// The power of two that keeps about 45 ms; the steps lie half-way between the usual rates, as cava's do.
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

    private static func source(_ low: Double, _ high: Double) -> Source {
        if low >= lowHertz || high > LowSpectrum.highestHertz { return .shared }
        return low < bassHertz ? .bass : .low
    }
}
