/// A beat grid: sections of constant tempo and metre that pass through the detected beats.
///
/// DJ programs draw a grid from a few anchors instead of single beats. A section is extended as long as one tempo of two decimals meets all
/// of its beats within `tolerance`, and their positions count up in bars of one length.
struct TempoMap {
    /// A section, from its anchor to the next section.
    struct Section: Equatable {
        /// The time of its first beat, in seconds.
        var time: Double
        /// The tempo in hundredths of a beat per minute, 1….
        var centibeatsPerMinute: Int
        /// The place of its first beat in the bar, 1 = downbeat; nil when unknown.
        var position: Int?
        /// Beats in it, with its first and without that of the next section.
        var beatCount: Int

        var beatsPerMinute: Double { Double(centibeatsPerMinute) / 100 }
    }

    /// Largest distance of a beat from the grid, in seconds: half the distance at which two strokes are perceived as two.
    static let tolerance = 0.015

    private(set) var sections: [Section] = []
    /// Beats per bar: the most frequent distance of two downbeats; nil when fewer than two downbeats are known.
    let beatsPerBar: Int?

    /// The tempo of the section with most beats, in beats per minute; nil without a section. A mean over all beats would count pauses.
    var mainTempo: Double? {
        // Of equally long ones the first.
        sections.enumerated().max { ($0.element.beatCount, -$0.offset) < ($1.element.beatCount, -$1.offset) }?.element.beatsPerMinute
    }

    /// - Parameter beats: Times in seconds, ascending, and positions in the bar.
    init(_ beats: [(time: Double, position: Int?)]) {
        let bars = Self.beatsPerBar(beats.map(\.position))
        beatsPerBar = bars
        var first = 0
        while first < beats.count {
            // The range of beat periods that meet all beats of the section.
            var (shortest, longest) = (0.0, Double.infinity)
            var last = first
            var breaksMetre = false
            while last + 1 < beats.count {
                let count = Double(last + 1 - first)
                let distance = beats[last + 1].time - beats[first].time
                let range = (max(shortest, (distance - Self.tolerance) / count), min(longest, (distance + Self.tolerance) / count))
                guard Self.tempo(between: range.0, range.1) != nil else { break }
                (shortest, longest) = range
                last += 1
                if let bars, let position = beats[last].position, let start = beats[first].position,
                    position != (start - 1 + last - first) % bars + 1
                {
                    breaksMetre = true
                    break
                }
            }
            guard let tempo = Self.tempo(between: shortest, longest), last > first else {
                // Two beats at one time, or the last one alone: the tempo before goes on.
                first += 1
                continue
            }
            sections.append(
                Section(time: beats[first].time, centibeatsPerMinute: tempo, position: beats[first].position, beatCount: last - first))
            // The last beat is on the grid: the next section begins there, unless this one reaches the end.
            if last == beats.count - 1, !breaksMetre {
                sections[sections.count - 1].beatCount += 1
                break
            }
            first = last
        }
    }

    /// The tempo in hundredths of a beat per minute nearest to the middle of a range of periods in seconds; nil when none is in it.
    private static func tempo(between shortest: Double, _ longest: Double) -> Int? {
        guard longest.isFinite, longest > 0, shortest <= longest else { return nil }
        let (low, high) = (6000 / longest, shortest > 0 ? 6000 / shortest : 100_000)
        guard low < 100_000 else { return nil }
        let middle = (6000 / ((max(shortest, 0.06) + longest) / 2)).rounded()
        let nearest = max(low.rounded(.up), min(middle, high.rounded(.down)))
        return nearest >= low && nearest <= high && nearest >= 1 ? Int(nearest) : nil
    }

    private static func beatsPerBar(_ positions: [Int?]) -> Int? {
        var counts: [Int: Int] = [:]
        var last: Int?
        for (index, position) in positions.enumerated() where position == 1 {
            if let last { counts[index - last, default: 0] += 1 }
            last = index
        }
        // Of equally frequent ones the shortest.
        return counts.max { ($0.value, -$0.key) < ($1.value, -$1.key) }?.key
    }
}
