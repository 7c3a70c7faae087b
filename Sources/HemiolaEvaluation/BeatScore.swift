#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// How well estimated beats agree with annotated ones: the measures of Davies, Degara & Plumbley, "Evaluation methods for musical
/// audio beat tracking algorithms" (2009), as `mir_eval` (Raffel et al., ISMIR 2014) computes them.
///
/// All are 0…1. With fewer than two beats on either side those of continuity are 0, with none on either side all of them.
public struct BeatScore: Sendable, Hashable {
    /// Half the width of the window of the F-measure, in seconds.
    public static let window = 0.07
    /// The standard deviation of Cemgil's window, in seconds.
    public static let cemgilDeviation = 0.04
    /// How far a beat and the distance to its neighbour may be off, as a part of that distance.
    public static let continuityTolerance = 0.175

    /// Beats within 70 ms.
    public var matching: EventMatching
    /// The mean of a Gaussian of each annotated beat's distance from the nearest estimated one.
    public var cemgil: Double
    /// The longest stretch without a fault, at the annotated level of the metre.
    public var correctLevelContinuity: Double
    /// All that is right, at the annotated level.
    public var correctLevelTotal: Double
    /// The longest stretch without a fault at the best of these: annotated, off-beat, twice and half the tempo.
    public var allowedLevelContinuity: Double
    /// All that is right at the best of those.
    public var allowedLevelTotal: Double

    /// Judges beats. Cost: the product of both counts.
    ///
    /// - Parameters:
    ///   - reference: Annotated times in seconds, ascending.
    ///   - estimate: Estimated times in seconds, ascending.
    ///   - start: Beats before are left out on both sides: a tracker may take its time. `mir_eval` and MIREX say 5 s.
    public init(reference: [Double], estimate: [Double], from start: Double = 5) {
        let reference = reference.filter { $0 >= start }
        let estimate = estimate.filter { $0 >= start }
        matching = EventMatching(reference: reference, estimate: estimate, window: Self.window)
        cemgil = Self.cemgil(reference, estimate)
        (correctLevelContinuity, correctLevelTotal) = (0, 0)
        (allowedLevelContinuity, allowedLevelTotal) = (0, 0)
        guard reference.count > 1, estimate.count > 1 else { return }
        let levels = Self.variations(of: reference).map { Self.continuity($0, estimate) }
        (correctLevelContinuity, correctLevelTotal) = levels[0]
        allowedLevelContinuity = levels.map(\.longest).max() ?? 0
        allowedLevelTotal = levels.map(\.total).max() ?? 0
    }

    /// The F-measure with a window of 70 ms.
    public var fMeasure: Double { matching.fMeasure }

    // MARK: - Cemgil

    private static func cemgil(_ reference: [Double], _ estimate: [Double]) -> Double {
        guard !reference.isEmpty, !estimate.isEmpty else { return 0 }
        let sum = reference.reduce(0) { sum, time in
            let distance = estimate[nearest(to: time, in: estimate)] - time
            return sum + exp(-distance * distance / (2 * cemgilDeviation * cemgilDeviation))
        }
        return sum / (0.5 * Double(reference.count + estimate.count))
    }

    /// The first of the nearest.
    private static func nearest(to time: Double, in times: [Double]) -> Int {
        var best = 0
        for index in times.indices where abs(times[index] - time) < abs(times[best] - time) { best = index }
        return best
    }

    // MARK: - Continuity

    /// The beats as annotated, between them, at twice the tempo, and at half of it from the first and from the second on.
    private static func variations(of beats: [Double]) -> [[Double]] {
        let between = zip(beats, beats.dropFirst()).map { $0 + 0.5 * ($1 - $0) }
        var doubled: [Double] = []
        for (index, beat) in beats.enumerated() {
            doubled.append(beat)
            if index < between.count { doubled.append(between[index]) }
        }
        let half = { (start: Int) in stride(from: start, to: beats.count, by: 2).map { beats[$0] } }
        return [beats, between, doubled, half(0), half(1)]
    }

    private static func continuity(_ reference: [Double], _ estimate: [Double]) -> (longest: Double, total: Double) {
        let count = Double(max(reference.count, estimate.count))
        var isUsed = [Bool](repeating: false, count: reference.count)
        var (longest, current, total) = (0, 0, 0)
        for index in estimate.indices {
            let nearest = nearest(to: estimate[index], in: reference)
            if !isUsed[nearest], isContinuous(estimate, index, reference, nearest) {
                isUsed[nearest] = true
                current += 1
                total += 1
                longest = max(longest, current)
            } else {
                current = 0
            }
        }
        return (Double(longest) / count, Double(total) / count)
    }

    /// Whether an estimated beat is where the annotated one is, and as far from its neighbour.
    private static func isContinuous(_ estimate: [Double], _ index: Int, _ reference: [Double], _ nearest: Int) -> Bool {
        let isFirst = index == 0 || nearest == 0
        let wanted = interval(reference, nearest, looksAhead: isFirst)
        let found = interval(estimate, index, looksAhead: isFirst)
        let distance = abs(estimate[index] - reference[nearest])
        // Annotated twice at one time: no distance is right.
        guard wanted != 0 else { return false }
        return abs(distance / wanted) < continuityTolerance && abs(1 - found / wanted) < continuityTolerance
    }

    /// The distance to the beat before; to the next one for the first beat, where there is a next one.
    private static func interval(_ beats: [Double], _ index: Int, looksAhead: Bool) -> Double {
        if looksAhead, index + 1 < beats.count { return beats[index + 1] - beats[index] }
        // One beat alone is its own neighbour, as in Python, where the index before the first is the last.
        return beats[index] - beats[index == 0 ? beats.count - 1 : index - 1]
    }
}
