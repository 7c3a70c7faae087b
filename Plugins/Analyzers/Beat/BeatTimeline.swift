/// Beats that are known from the start, and how far they have been told.
struct BeatTimeline: Sendable {
    private let beats: [BeatReport]
    private var told = 0

    init(_ beats: [BeatReport]) {
        self.beats = beats
    }

    /// The next beat that has not been told and lies before a moment.
    mutating func next(before time: Double) -> BeatReport? {
        guard told < beats.count, beats[told].time <= time else { return nil }
        defer { told += 1 }
        return beats[told]
    }

    /// The beat under way at a moment, and how much of it has passed; nil where there is none.
    func place(at time: Double) -> (beat: BeatReport, phase: Double)? {
        // It is one of those told last: some are told before they begin.
        var index = min(told, beats.count) - 1
        while index >= 0, beats[index].time > time { index -= 1 }
        guard index >= 0 else { return nil }
        let beat = beats[index]
        let end = index + 1 < beats.count ? beats[index + 1].time : beat.time + 60 / beat.beatsPerMinute
        let period = min(end - beat.time, 120 / beat.beatsPerMinute)
        let phase = (time - beat.time) / period
        return phase < 1 ? (beat, phase) : nil
    }
}
