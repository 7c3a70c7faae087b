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

/// The beats of a stream that was analyzed in two passes, and how many of them have been emitted.
struct BeatTimeline: Sendable {
    private let beats: [EstimatedBeat]
    private var emittedCount = 0

    /// - Parameter beats: In order of time.
    init(_ beats: [EstimatedBeat]) {
        self.beats = beats
    }

    /// Returns the next beat that has not been emitted, if it is not later than `time`, and marks it as emitted.
    mutating func next(before time: Double) -> EstimatedBeat? {
        guard emittedCount < beats.count, beats[emittedCount].time <= time else { return nil }
        defer { emittedCount += 1 }
        return beats[emittedCount]
    }

    /// The last beat at or before `time` and the beat phase, 0…1; nil before the first beat and after the end of a run of beats.
    func position(at time: Double) -> (beat: EstimatedBeat, phase: Double)? {
        // Beats are emitted before they occur, so the search starts at the last emitted one and goes backwards.
        var index = min(emittedCount, beats.count) - 1
        while index >= 0, beats[index].time > time { index -= 1 }
        guard index >= 0 else { return nil }
        let beat = beats[index]
        let end = index + 1 < beats.count ? beats[index + 1].time : beat.time + 60 / beat.beatsPerMinute
        let period = min(end - beat.time, 120 / beat.beatsPerMinute)
        let phase = (time - beat.time) / period
        return phase < 1 ? (beat, phase) : nil
    }
}
