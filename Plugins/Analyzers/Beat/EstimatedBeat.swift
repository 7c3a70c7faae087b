/// A beat estimated by the tracker.
struct EstimatedBeat: Sendable {
    /// Seconds from the start of the stream.
    var time: Double
    var beatsPerMinute: Double
    /// 0…1.
    var confidence: Double
    /// Position in the bar, 1 is the downbeat; nil if unknown.
    var position: Int?
    /// Beats per bar; nil if unknown.
    var meter: Int?
}
