#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The tempi of beats, in bins of one per cent: their median, however many there are.
struct TempoTally: Sendable {
    private static let slowest = 10.0
    private static let step = 0.01
    private var counts = [Int](repeating: 0, count: 450)
    private var sums = [Double](repeating: 0, count: 450)
    private var total = 0

    mutating func add(_ beatsPerMinute: Double) {
        let bin = Int(log(max(1, beatsPerMinute / Self.slowest)) / Self.step)
        counts[min(bin, counts.count - 1)] += 1
        sums[min(bin, counts.count - 1)] += beatsPerMinute
        total += 1
    }

    /// NaN when there are no beats.
    var median: Double {
        var passed = 0
        for (bin, count) in counts.enumerated() where count > 0 {
            passed += count
            if 2 * passed >= total { return sums[bin] / Double(count) }
        }
        return .nan
    }
}
