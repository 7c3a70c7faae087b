/// The bars of phrases along the time axis, and the phrases that they make.
struct PhraseBars: Equatable {
    /// The most bars that are kept: a day of music.
    private static let limit = 1 << 16

    struct Bar: Equatable {
        /// In seconds since the left end.
        var time: Double
        /// 1 is the first bar of its phrase.
        var number: Int
    }

    private var bars: [Bar] = []

    mutating func append(_ bar: Bar) {
        if bars.count < Self.limit, bar.time.isFinite { bars.append(bar) }
    }

    /// A label over each phrase: the number of its bars. A phrase ends where the next one begins, or a bar after its last bar.
    var phrases: LabelTrack {
        let sorted = bars.sorted { $0.time < $1.time }
        guard let length = BeatLines.median(zip(sorted, sorted.dropFirst()).map { $1.time - $0.time }) else { return LabelTrack() }
        var track = LabelTrack()
        var first = 0
        for (index, bar) in sorted.enumerated() {
            let next = index + 1 < sorted.count ? sorted[index + 1] : nil
            let isFollowed = next.map { $0.time - bar.time < 1.5 * length } ?? false
            if isFollowed, next?.number == bar.number + 1 { continue }
            let end = isFollowed ? next?.time : nil
            track.append(LabelTrack.Label(start: sorted[first].time, end: end ?? bar.time + length, text: "\(index - first + 1)"))
            first = index + 1
        }
        return track
    }
}
