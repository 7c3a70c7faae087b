/// Whether beats can be beats at all: in what sounds like music, or as regular as only a machine is.
enum BeatPlausibility {
    /// - Parameters:
    ///   - agreement: How much better than chance the beats meet onsets, 0…1.
    ///   - miss: How far from where they were expected, in seconds.
    static func value(musicLikeness: Float, agreement: Double, miss: Double) -> Double {
        let isMet = min(1, max(0, (agreement - 0.60) / 0.15))
        let isRegular = min(1, max(0, (0.03 - miss) / 0.015))
        return max(Double(musicLikeness), isMet * isRegular)
    }
}
