internal import Glibc

/// Agreement of estimated beats with annotated ones: the measures of Davies, Degara & Plumbley, "Evaluation methods for musical
/// audio beat tracking algorithms" (2009), as `mir_eval` (Raffel et al., ISMIR 2014) computes them.
///
/// All measures are 0…1. With fewer than two beats in either sequence the measures of continuity are 0; with no beat in either sequence
/// all measures are 0.
struct BeatScore: Sendable, Hashable {
    /// Half the width of the window of the F-measure, in seconds.
    static let window = 0.07
    /// The standard deviation of Cemgil's window, in seconds.
    static let cemgilDeviation = 0.04
    /// Tolerance of continuity for the time of a beat and for the interval to its neighbour, as a part of the annotated interval.
    static let continuityTolerance = 0.175

    /// The beats that match within 70 ms.
    let matching: EventMatching
    /// Cemgil's measure: the mean of a Gaussian of the distance of each annotated beat to the nearest estimated one.
    let cemgil: Double
    /// CMLc and CMLt: the longest continuous run of correct beats, and all correct beats, at the annotated metrical level.
    let correctLevelContinuity, correctLevelTotal: Double
    /// AMLc and AMLt: the same at the best of these levels: annotated, off-beat, twice and half the tempo.
    let allowedLevelContinuity, allowedLevelTotal: Double

    /// Scores beats.
    ///
    /// - Complexity: O(n log n) for n annotated and estimated beats.
    ///
    /// - Parameters:
    ///   - reference: Annotated times in seconds, ascending.
    ///   - estimate: Estimated times in seconds, ascending.
    ///   - start: Beats before this time are ignored in both sequences, in seconds. `mir_eval` and MIREX use 5 s.
    init(reference: [Double], estimate: [Double], from start: Double = 5) {
        let reference = reference.filter { $0 >= start }
        let estimate = estimate.filter { $0 >= start }
        matching = EventMatching(reference: reference, estimate: estimate, window: Self.window)
        cemgil = Self.cemgil(reference, estimate)
        let isEnough = reference.count > 1 && estimate.count > 1
        let levels = isEnough ? Self.variations(of: reference).map { Self.continuity($0, estimate) } : [(longest: 0, total: 0)]
        (correctLevelContinuity, correctLevelTotal) = levels[0]
        allowedLevelContinuity = levels.map(\.longest).max() ?? 0
        allowedLevelTotal = levels.map(\.total).max() ?? 0
    }

    /// The F-measure with a window of 70 ms.
    var fMeasure: Double { matching.fMeasure }

    // MARK: - Cemgil

    private static func cemgil(_ reference: [Double], _ estimate: [Double]) -> Double {
        guard !reference.isEmpty, !estimate.isEmpty else { return 0 }
        let sum = reference.reduce(0) { sum, time in
            let distance = estimate[nearest(to: time, in: estimate)] - time
            return sum + exp(-distance * distance / (2 * cemgilDeviation * cemgilDeviation))
        }
        return sum / (0.5 * Double(reference.count + estimate.count))
    }

    /// The index of the nearest of ascending times, the first of several.
    private static func nearest(to time: Double, in times: [Double]) -> Int {
        let next = firstIndex(of: time, in: times)
        guard next > 0 else { return 0 }
        let before = firstIndex(of: times[next - 1], in: times)
        return next < times.count && abs(times[next] - time) < abs(times[before] - time) ? next : before
    }

    /// The index of the first of ascending times that is not before a time.
    private static func firstIndex(of time: Double, in times: [Double]) -> Int {
        var (low, high) = (0, times.count)
        while low < high {
            let middle = (low + high) / 2
            if times[middle] < time { low = middle + 1 } else { high = middle }
        }
        return low
    }

    // MARK: - Continuity

    /// The beats at the allowed metrical levels: annotated, off-beat, twice the tempo, and half the tempo from the first and from the second
    /// beat on.
    private static func variations(of beats: [Double]) -> [[Double]] {
        let between = zip(beats, beats.dropFirst()).map { $0 + 0.5 * ($1 - $0) }
        let doubled = zip(beats, between).flatMap { [$0, $1] } + beats.suffix(1)
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

    /// Whether an estimated beat and the interval to its neighbour agree with the annotation within the tolerance.
    private static func isContinuous(_ estimate: [Double], _ index: Int, _ reference: [Double], _ nearest: Int) -> Bool {
        let isFirst = index == 0 || nearest == 0
        let expected = interval(reference, nearest, usesNext: isFirst)
        let found = interval(estimate, index, usesNext: isFirst)
        let distance = abs(estimate[index] - reference[nearest])
        // Two annotated beats at one time: no interval is correct.
        guard expected != 0 else { return false }
        return abs(distance / expected) < continuityTolerance && abs(1 - found / expected) < continuityTolerance
    }

    /// The interval to the previous beat; for the first beat that to the next one, if there is one.
    private static func interval(_ beats: [Double], _ index: Int, usesNext: Bool) -> Double {
        if usesNext, index + 1 < beats.count { return beats[index + 1] - beats[index] }
        // A single beat has the interval 0, as in mir_eval, where the index -1 refers to the last element.
        return beats[index] - beats[index == 0 ? beats.count - 1 : index - 1]
    }
}
