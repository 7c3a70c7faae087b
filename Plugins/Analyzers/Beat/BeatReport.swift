/// A beat as it is told.
struct BeatReport: Sendable {
    /// In seconds since the stream's start.
    var time: Double
    var beatsPerMinute: Double
    /// 0…1.
    var confidence: Double
    /// Its place in the bar, 1 = downbeat; nil when unknown.
    var position: Int?
    /// The beats of its bar; nil when unknown.
    var meter: Int?
}
