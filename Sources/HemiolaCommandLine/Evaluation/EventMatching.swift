/// One-to-one matching of estimated events with annotated ones within a window, with precision, recall and F-measure.
///
/// The window is 70 ms for beats and 50 ms for onsets (MIREX). Times are in seconds. The results agree with those of `mir_eval` (Raffel et
/// al., ISMIR 2014) within rounding.
struct EventMatching: Sendable, Hashable {
    /// Number of annotated events.
    let referenceCount: Int
    /// Number of estimated events.
    let estimateCount: Int
    /// Number of pairs, which is the maximum possible number.
    var matchCount: Int

    /// Matches events.
    ///
    /// - Complexity: O(n log n), for sorting.
    /// - Parameters:
    ///   - reference: Annotated times, in any order.
    ///   - estimate: Estimated times, in any order.
    ///   - window: The largest distance of a pair, in seconds.
    init(reference: [Double], estimate: [Double], window: Double) {
        referenceCount = reference.count
        estimateCount = estimate.count
        matchCount = 0
        // With one window for all, matching the earliest events first gives the maximum number of pairs.
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

    /// The share of estimated events that match, 0…1; 0 without estimated events.
    var precision: Double { estimateCount == 0 ? 0 : Double(matchCount) / Double(estimateCount) }
    /// The share of annotated events that match, 0…1; 0 without annotated events.
    var recall: Double { referenceCount == 0 ? 0 : Double(matchCount) / Double(referenceCount) }
    /// The harmonic mean of precision and recall, 0…1.
    var fMeasure: Double {
        let sum = precision + recall
        return sum == 0 ? 0 : 2 * precision * recall / sum
    }
}
