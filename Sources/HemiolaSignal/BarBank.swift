internal import Glibc

/// The filter bank of the bars: bands of equal width in log frequency. The value of a bar is the mean magnitude between its edges.
///
/// Lower bars use longer windows. The magnitude of each bin is distributed evenly over the bin width, and a bar contains the part
/// between its edges, so that no bar is empty and edges need not be moved where bins are scarce.
///
/// - Note: The equalizer and the two windows below 300 Hz are those of cava's cavacore.c (K. Stavestrand), which uses windows of
///   4096 frames for all higher bars.
package struct BarBank {
    /// Range of the bars by default, in hertz.
    package static let defaultRange = 50.0...10_000.0
    /// The spectrum that a bar is computed from.
    private enum Source {
        /// Window of 8192 frames at 44.1 kHz, decimated.
        case bass
        /// Window of 4096 frames, decimated.
        case low
        /// The spectrum requested from the pipeline.
        case shared
    }

    private struct Bar {
        var source: Source
        var firstBin: Int
        var firstWeight: Int
        /// Number of vectors of eight weights. Weights outside the edges are 0.
        var vectors: Int
    }

    /// Bars that start below this frequency use the longest window, in hertz.
    private static let bassHertz = 100.0
    /// Bars that start below this frequency use a decimated window, in hertz.
    private static let lowHertz = 300.0
    /// Minimum width in bins of a bar that starts at `lowHertz`, as far as a window of 4096 frames allows.
    private static let narrowestBins = 3.0

    /// Window length of the shared spectrum, in frames: 2048 at 44.1 kHz, about 45 ms at any rate; twice that for narrow bars.
    package let size: Int
    /// Edges in hertz; one more than there are bars.
    package let edges: [Double]
    /// Number of bins, from DC on, needed from the two decimated windows; 0 if no bar uses the window.
    package let bassBinCount: Int
    package let lowBinCount: Int
    /// Length of the longest window, in frames.
    package let bassFrames: Int
    private let sampleRate: Double
    private var bars: [Bar] = []
    private var weights: [Float] = []

    package var count: Int { edges.count - 1 }
    /// Whether any bar uses a decimated window.
    package var usesDecimation: Bool { bassBinCount + lowBinCount > 0 }

    package init(count: Int, from low: Double, to high: Double, sampleRate: Int) {
        let ratio = high / low
        let edges = (0...count).map { index in
            index == 0 ? low : index == count ? high : low * pow(ratio, Double(index) / Double(count))
        }
        let bassFrames = 4 * Self.size(at: sampleRate)
        let sources = zip(edges, edges.dropFirst()).map(Self.source)
        func bins(_ source: Source, of frames: Int) -> Int {
            guard let last = sources.lastIndex(of: source) else { return 0 }
            let bin = Int(edges[last + 1] * Double(frames) / Double(sampleRate) + 0.5)
            // Rounded up to a multiple of eight.
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

    /// Computes the weights.
    ///
    /// - Parameter attenuation: The magnitude of the decimated window relative to that of a full window, at a frequency given in
    ///   cycles per frame.
    package mutating func makeWeights(attenuation: (Double) -> Double) {
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
            // Scales as cava does (16-bit samples over 2²⁸), and lifts by 5 dB per octave against the spectral slope of music.
            let lift = pow(high, 0.85) / (0x1p13 * log2(Double(frames)))
            let vectors = (final - first) / 8 + 1
            let bar = Bar(
                source: source, firstBin: min(first, binCount - 8 * vectors), firstWeight: weights.count, vectors: vectors)
            bars.append(bar)
            for bin in bar.firstBin..<bar.firstBin + 8 * vectors {
                let center = Double(bin) * binWidth
                // The last bin extends to the Nyquist frequency.
                let end = bin == frames / 2 - 1 ? sampleRate / 2 : center + binWidth / 2
                let share = max(0, min(high, end) - max(low, center - binWidth / 2)) / (high - low)
                let gain = source == .shared || share == 0 ? 1 : attenuation(center / sampleRate)
                weights.append(Float(share * lift / gain))
            }
        }
    }

    /// Writes the value of each bar before the automatic gain: about 1 for music at full scale. O(bins), no allocation.
    ///
    /// - Parameters:
    ///   - bass: Magnitudes of the longest window.
    ///   - low: Magnitudes of the other decimated window.
    ///   - shared: Magnitudes of the shared spectrum, a window of `size` frames.
    package func measure(bass: Span<Float>, low: Span<Float>, _ shared: Span<Float>, into heights: inout MutableSpan<Float>) {
        let table = weights.span
        for index in bars.indices {
            let bar = bars[index]
            let bins =
                switch bar.source {
                case .bass: bass
                case .low: low
                case .shared: shared
                }
            heights[index] = bins.dot(table, from: bar.firstWeight, over: bar.firstBin..<bar.firstBin + 8 * bar.vectors)
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

    private static func source(_ low: Double, _ high: Double) -> Source {
        if low >= lowHertz || high > DecimatedSpectrum.highestHertz { return .shared }
        return low < bassHertz ? .bass : .low
    }
}
