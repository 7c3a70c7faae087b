/// A beat grid: sections of constant tempo and metre that pass through the detected beats.
///
/// DJ programs draw a grid from a few anchors instead of single beats. A section is extended as long as one tempo of two decimals meets all
/// of its beats within `tolerance`, and their positions count up in bars of one length. Up to `looseBeats` at either end make no section of
/// their own, and have no influence on the grid of at least `leastBeats` others: a tracker finds the tempo with the first beats, and
/// extrapolates the last ones into the silence.
struct TempoMap {
    /// A section, from its anchor to the next section.
    struct Section: Equatable {
        /// The time of its first beat on the grid, in seconds.
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
    /// Beats at either end that may be beside the grid, and the beats of the section beside them for that.
    private static let (looseBeats, leastBeats) = (4, 8)

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
        beatsPerBar = Self.beatsPerBar(beats.map(\.position))
        guard !beats.isEmpty else { return }
        // The first beats may be beside the grid of the next ones.
        let runs = (0...Self.looseBeats).map { Run(beats, from: min($0, beats.count - 1), beatsPerBar) }
        let longest = runs.max { ($0.last, -$0.first) < ($1.last, -$1.first) }!
        var run = longest.count >= max(Self.leastBeats, 2 * runs[0].count) ? longest : runs[0]
        var starts: [Int] = []
        var before = run.first
        while true {
            if let section = run.section(beats, after: before) {
                starts.append(run.first - before)
                sections.append(section)
            }
            // The last beat is on the grid: the next section begins there, unless this one reaches the end.
            guard run.last < beats.count - 1 || run.breaksMetre else { break }
            run = Run(beats, from: max(run.last, run.first + 1), beatsPerBar)
            before = 0
        }
        if let end = starts.indices.dropFirst().first(where: { beats.count - 1 - starts[$0] <= Self.looseBeats }),
            starts[end] - starts[end - 1] >= Self.leastBeats
        {
            sections.removeSubrange(end...)
            starts.removeSubrange(end...)
        }
        for (index, end) in (starts.dropFirst() + [beats.count]).enumerated() where index < starts.count {
            sections[index].beatCount = end - starts[index]
        }
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

extension TempoMap {
    /// As many successive beats as one grid meets.
    private struct Run {
        let first: Int
        /// The last beat.
        private(set) var last: Int
        /// Whether it ends because the position of its last beat is another one than expected.
        private(set) var breaksMetre = false
        /// The place of its first beat in the bar, 0 = downbeat: that of the first beat with a position.
        private var phase: Int?
        private let bar: Int
        private var periods = PeriodRange()

        /// The number of intervals.
        var count: Int { last - first }

        init(_ beats: [(time: Double, position: Int?)], from first: Int, _ beatsPerBar: Int?) {
            self.first = first
            (last, bar) = (first, beatsPerBar ?? 4)
            periods.add(beats[first].time)
            notePosition(beats[first].position)
            while last + 1 < beats.count, periods.tempo(with: beats[last + 1].time) != nil {
                last += 1
                periods.add(beats[last].time)
                if beatsPerBar != nil, let phase, let position = beats[last].position, position != (phase + count) % bar + 1 {
                    breaksMetre = true
                    return
                }
                notePosition(beats[last].position)
            }
        }

        private mutating func notePosition(_ position: Int?) {
            guard phase == nil, let position else { return }
            phase = (((position - 1 - count) % bar) + bar) % bar
        }

        /// The section of these beats; nil for a single one.
        ///
        /// - Parameter before: Beats before the first one to which the section is extended.
        func section(_ beats: [(time: Double, position: Int?)], after before: Int) -> Section? {
            guard count > 0 else { return nil }
            var firm = max(first, looseBeats)..<max(first, min(last + 1, beats.count - looseBeats), looseBeats)
            if firm.count < leastBeats { firm = first..<last + 1 }
            var periods = PeriodRange()
            for beat in beats[firm] { periods.add(beat.time) }
            // The line of least squares, as far as it meets all of these beats.
            let times = beats[firm].map(\.time)
            let (middle, mean) = (Double(times.count - 1) / 2, times.reduce(0, +) / Double(times.count))
            var (products, squares) = (0.0, 0.0)
            for (index, time) in times.enumerated() {
                let distance = Double(index) - middle
                products += distance * (time - mean)
                squares += distance * distance
            }
            guard let tempo = periods.tempo(near: products / squares) else { return nil }
            let period = 6000 / Double(tempo)
            let starts = times.enumerated().map { $0.element - Double($0.offset + firm.lowerBound - first) * period }
            let start = max(starts.max()! - tolerance, min(starts.reduce(0, +) / Double(starts.count), starts.min()! + tolerance))
            // The anchor is not before the start of the file.
            let moved = (0...before + 1).lazy.map { before - $0 }.first { start - Double($0) * period >= -tolerance } ?? before
            let time = start - Double(moved) * period
            return Section(
                time: time >= -tolerance ? max(0, time) : time, centibeatsPerMinute: tempo,
                position: phase.map { ((($0 - moved) % bar) + bar) % bar + 1 }, beatCount: count)
        }
    }

    /// The range of beat periods, in seconds, of the grids that meet all added beats.
    ///
    /// The slope between two beats i and j is between (tⱼ - tᵢ ± 2 × tolerance) / (j - i). Only beats of the convex hull limit it.
    private struct PeriodRange {
        private var shortest = 0.0
        private var longest = Double.infinity
        private var (number, earliest, latest) = (0.0, [(number: Double, time: Double)](), [(number: Double, time: Double)]())

        /// Adds the next beat.
        mutating func add(_ time: Double) {
            (shortest, longest) = range(with: time)
            Self.add((number, time), to: &earliest, turn: 1)
            Self.add((number, time), to: &latest, turn: -1)
            number += 1
        }

        /// The tempo in the middle of the range that is left with another beat; nil if none of two decimals is in it.
        func tempo(with time: Double) -> Int? {
            let (shortest, longest) = range(with: time)
            return Self.tempo(between: shortest, longest, near: (max(shortest, 0.06) + longest) / 2)
        }

        /// The tempo of the range that is nearest to that of a period.
        func tempo(near period: Double) -> Int? { Self.tempo(between: shortest, longest, near: period) }

        private func range(with time: Double) -> (Double, Double) {
            var range = (shortest, longest)
            for beat in earliest { range.0 = max(range.0, (time - beat.time - 2 * tolerance) / (number - beat.number)) }
            for beat in latest { range.1 = min(range.1, (time - beat.time + 2 * tolerance) / (number - beat.number)) }
            return range
        }

        /// Adds a point to the lower (`turn` 1) or the upper (-1) convex hull of the points.
        private static func add(
            _ point: (number: Double, time: Double), to hull: inout [(number: Double, time: Double)], turn: Double
        ) {
            while hull.count > 1 {
                let (one, other) = (hull[hull.count - 2], hull[hull.count - 1])
                let area = (other.number - one.number) * (point.time - one.time) - (other.time - one.time) * (point.number - one.number)
                guard area * turn <= 0 else { break }
                hull.removeLast()
            }
            hull.append(point)
        }

        /// The tempo in hundredths of a beat per minute nearest to that of a period, within a range of periods in seconds; nil when none
        /// is in it.
        private static func tempo(between shortest: Double, _ longest: Double, near period: Double) -> Int? {
            guard longest.isFinite, longest > 0, shortest <= longest else { return nil }
            let (low, high) = (6000 / longest, shortest > 0 ? 6000 / shortest : 100_000)
            guard low < 100_000, period > 0 else { return nil }
            let nearest = max(low.rounded(.up), min((6000 / period).rounded(), high.rounded(.down)))
            return nearest >= low && nearest <= high && nearest >= 1 ? Int(nearest) : nil
        }
    }
}
