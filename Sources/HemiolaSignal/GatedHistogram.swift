internal import Glibc

/// The energies of measurement blocks above the absolute gate, as a histogram by loudness: memory does not grow with the stream.
///
/// Bins are 0.01 LU wide. Means are exact, because each bin also has the sum of its energies; only the relative gate is rounded to a
/// bin, and percentiles to 0.01 LU.
public struct GatedHistogram: Sendable {
    /// The absolute gate, in LUFS.
    public static let absoluteGate = -70.0
    private static let binsPerUnit = 100.0
    /// Bins up to +30 LUFS. The last one also has all louder blocks.
    private static let binCount = 10_000

    private var counts = [Int](repeating: 0, count: binCount)
    private var sums = [Double](repeating: 0, count: binCount)
    private var count = 0
    private var sum = 0.0
    /// One more than the highest bin in use.
    private var end = 0

    /// A histogram without blocks.
    public init() {}

    /// Adds the energy of a block, unless it is below the absolute gate.
    public mutating func add(_ energy: Double) {
        let loudness = Loudness.of(energy)
        guard loudness >= Self.absoluteGate else { return }
        let bin = min(Int(min((loudness - Self.absoluteGate) * Self.binsPerUnit, 1e9)), Self.binCount - 1)
        counts[bin] += 1
        sums[bin] += energy
        count += 1
        sum += energy
        end = max(end, bin + 1)
    }

    /// Removes all blocks. No allocation.
    public mutating func removeAll() {
        for bin in 0..<end {
            counts[bin] = 0
            sums[bin] = 0
        }
        (count, sum, end) = (0, 0, 0)
    }

    /// The first bin that is not below the relative gate, which lies `offset` LU from the mean of all blocks.
    private func firstBin(relativeGate offset: Double) -> Int {
        let threshold = Loudness.of(sum / Double(count)) + offset
        let bin = max(0, Int(((threshold - Self.absoluteGate) * Self.binsPerUnit).rounded(.down)))
        guard bin < end else { return end - 1 }
        return counts[bin] > 0 && sums[bin] / Double(counts[bin]) < Loudness.energy(threshold) ? bin + 1 : bin
    }

    /// The mean loudness of the blocks above both gates, in LUFS: integrated loudness as in ITU-R BS.1770-4. nil without blocks.
    public func gatedLoudness(relativeGate offset: Double) -> Double? {
        guard count > 0 else { return nil }
        var (total, blocks) = (0.0, 0)
        for bin in firstBin(relativeGate: offset)..<end {
            total += sums[bin]
            blocks += counts[bin]
        }
        return blocks == 0 ? nil : Loudness.of(total / Double(blocks))
    }

    /// The difference between two percentiles of the blocks above both gates, in LU: loudness range as in EBU Tech 3342. nil without
    /// blocks.
    public func range(relativeGate offset: Double, from low: Double, to high: Double) -> Double? {
        guard count > 0 else { return nil }
        let first = firstBin(relativeGate: offset)
        var blocks = 0
        for bin in first..<end { blocks += counts[bin] }
        guard blocks > 0 else { return nil }
        // The ranks of the percentiles, from 0.
        let ranks = (low: Int((Double(blocks - 1) * low).rounded()), high: Int((Double(blocks - 1) * high).rounded()))
        var (passed, lowest) = (0, first)
        var bin = first
        while passed + counts[bin] <= ranks.high {
            passed += counts[bin]
            bin += 1
            if passed <= ranks.low { lowest = bin }
        }
        while counts[lowest] == 0 { lowest += 1 }
        return Double(bin - lowest) / Self.binsPerUnit
    }
}

/// Conversion between energy and loudness as in ITU-R BS.1770: −0.691 + 10·log₁₀(energy).
public enum Loudness {
    private static let offset = -0.691

    /// The loudness in LUFS; −∞ for energy 0.
    public static func of(_ energy: Double) -> Double { offset + 10 * log10(energy) }

    /// The energy of a loudness in LUFS; 0 for −∞.
    public static func energy(_ loudness: Double) -> Double { pow(10, (loudness - offset) / 10) }
}
