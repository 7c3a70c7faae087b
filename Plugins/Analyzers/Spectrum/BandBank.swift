internal import HemiolaSignal

/// Sums a power spectrum into bands, with precomputed weights.
///
/// Each band is a range of bins with a weight per bin, so that one kernel computes rectangles and triangles. In a single-sided
/// spectrum each bin but DC and Nyquist stands for two bins: the common factor 2 is left out, and the weights of DC and Nyquist
/// are halved.
struct BandBank: Sendable {
    private struct Band {
        var bins: Range<Int>
        var firstWeight: Int
        /// Whether all weights but the first and the last are 1, so that a sum is sufficient.
        var isPlain: Bool
        /// The weights of the first and last bin of a plain band, which it may share with its neighbours.
        var head: Float
        var tail: Float
    }

    private var bands: [Band] = []
    private var weights: [Float] = []

    var count: Int { bands.count }

    /// Rectangles between neighbouring edges: each bin's power is spread evenly over its width (half a bin to either side,
    /// within DC and Nyquist), and a band contains what lies between its edges. A band narrower than a bin is not empty.
    init(between edges: [Double], size: Int, sampleRate: Double) {
        let binWidth = sampleRate / Double(size)
        let last = size / 2
        func cell(_ bin: Int) -> (low: Double, high: Double) {
            ((bin == 0 ? 0 : Double(bin) - 0.5) * binWidth, (bin == last ? Double(last) : Double(bin) + 0.5) * binWidth)
        }
        for (low, high) in zip(edges, edges.dropFirst()) {
            let first = min(last, Int((low / binWidth + 0.5).rounded(.down)))
            let final = min(last, Int((high / binWidth + 0.5).rounded(.down)))
            let shares = (first...max(first, final)).map { bin in
                let (start, end) = cell(bin)
                let twins = bin == 0 || bin == last ? 0.5 : 1
                return Float(twins * max(0, min(high, end) - max(low, start)) / (end - start))
            }
            append(bins: first..<max(first, final) + 1, shares: shares)
        }
    }

    /// Triangles over three neighbouring edges, of unit area: librosa's `filters.mel` with `norm="slaney"`.
    init(triangles edges: [Double], size: Int, sampleRate: Double, isSingleSided: Bool) {
        let binWidth = sampleRate / Double(size)
        for index in 0..<max(0, edges.count - 2) {
            let (low, center, high) = (edges[index], edges[index + 1], edges[index + 2])
            let norm = 2 / (high - low)
            let first = min(size / 2, Int((low / binWidth).rounded(.up)))
            let final = min(size / 2, Int((high / binWidth).rounded(.down)))
            let shares = (first..<max(first, final + 1)).map { bin in
                let hertz = Double(bin) * binWidth
                let rising = (hertz - low) / (center - low)
                let falling = (high - hertz) / (high - center)
                let twins = isSingleSided && (bin == 0 || bin == size / 2) ? 0.5 : 1
                return Float(twins * norm * max(0, min(rising, falling)))
            }
            append(bins: first..<first + shares.count, shares: shares)
        }
    }

    private mutating func append(bins: Range<Int>, shares: [Float]) {
        let isPlain = shares.count >= 2 && shares.dropFirst().dropLast().allSatisfy { $0 == 1 }
        bands.append(
            Band(
                bins: bins, firstWeight: weights.count, isPlain: isPlain, head: shares.first ?? 0, tail: shares.last ?? 0))
        weights.append(contentsOf: shares)
    }

    /// Writes each band's power. O(bins), no allocation.
    ///
    /// - Parameters:
    ///   - scale: The factor of all sums: the normalisation of the spectrum.
    func sum(_ power: Span<Float>, times scale: Float, into result: inout MutableSpan<Float>) {
        let table = weights.span
        for index in bands.indices {
            let band = bands[index]
            let sum =
                band.isPlain
                ? power[band.bins.lowerBound] * band.head + power.sum(band.bins.lowerBound + 1..<band.bins.upperBound - 1)
                    + power[band.bins.upperBound - 1] * band.tail
                : power.dot(table, from: band.firstWeight, over: band.bins)
            result[index] = sum * scale
        }
    }
}
