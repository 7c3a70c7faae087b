#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// A histogram of beat tempi with logarithmic bins of 1 %, from 10 to 900 BPM. Its memory does not grow with the number of beats.
struct TempoHistogram: Sendable {
    /// The lower edge of the first bin, in BPM.
    private static let lowestTempo = 10.0
    /// The width of a bin, in nats.
    private static let binWidth = 0.01
    private var counts = [Int](repeating: 0, count: 450)
    private var sums = [Double](repeating: 0, count: 450)
    private var total = 0

    mutating func add(_ beatsPerMinute: Double) {
        let bin = Int(log(max(1, beatsPerMinute / Self.lowestTempo)) / Self.binWidth)
        counts[min(bin, counts.count - 1)] += 1
        sums[min(bin, counts.count - 1)] += beatsPerMinute
        total += 1
    }

    /// The median tempo in BPM: the mean of the bin that contains the median. NaN without beats.
    var median: Double {
        var passed = 0
        for (bin, count) in counts.enumerated() where count > 0 {
            passed += count
            if 2 * passed >= total { return sums[bin] / Double(count) }
        }
        return .nan
    }
}
