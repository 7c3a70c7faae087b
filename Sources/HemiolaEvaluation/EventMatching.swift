/// How well estimated events agree with annotated ones, each annotated one with at most one estimated one within a window.
///
/// Beats are judged with a window of 70 ms, onsets with one of 50 ms (MIREX). Times are in seconds; those of `mir_eval` (Raffel et
/// al., ISMIR 2014) agree within rounding.
public struct EventMatching: Sendable, Hashable {
    /// Annotated events.
    public var referenceCount: Int
    /// Estimated events.
    public var estimateCount: Int
    /// Pairs: the most that there can be.
    public var matchCount: Int

    /// Matches events. Cost: linear, after sorting.
    ///
    /// - Parameters:
    ///   - reference: Annotated times, in any order.
    ///   - estimate: Estimated times, in any order.
    ///   - window: The largest distance of a pair, in seconds.
    public init(reference: [Double], estimate: [Double], window: Double) {
        referenceCount = reference.count
        estimateCount = estimate.count
        matchCount = 0
        // On a line, with windows of one width, the earliest with the earliest makes the most pairs.
        let (reference, estimate) = (reference.sorted(), estimate.sorted())
        var next = 0
        for time in reference {
            while next < estimate.count, estimate[next] < time - window { next += 1 }
            guard next < estimate.count else { break }
            if estimate[next] <= time + window {
                matchCount += 1
                next += 1
            }
        }
    }

    /// The part of the estimated events that is right, 0…1; 0 when there is none.
    public var precision: Double { estimateCount == 0 ? 0 : Double(matchCount) / Double(estimateCount) }
    /// The part of the annotated events that was found, 0…1; 0 when there is none.
    public var recall: Double { referenceCount == 0 ? 0 : Double(matchCount) / Double(referenceCount) }
    /// The harmonic mean of both, 0…1.
    public var fMeasure: Double {
        let sum = precision + recall
        return sum == 0 ? 0 : 2 * precision * recall / sum
    }
}
