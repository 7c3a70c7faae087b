internal import HemiolaSignal

/// A beat grid: sections of constant tempo and metre that pass through the detected beats.
///
/// DJ programs draw a grid from a few anchors instead of single beats, and a sequencer has a tempo until the next one. A section is extended
/// as long as one tempo of two decimals meets its beats within `tolerance`, and their positions count up in bars of one length. Single
/// beats beside the grid do not end it, and a passage without beats is a whole number of beats at the tempo beside it. Up to `looseBeats`
/// at either end make no section of their own, and have no influence on the grid of at least `leastBeats` others: a tracker finds the
/// tempo with the first beats, and extrapolates the last ones into the silence.
struct TempoMap {
    /// A section, from its anchor to the next section.
    struct Section: Equatable {
        /// The time of its first beat on the grid, in seconds.
        var time: Double
        /// The tempo in hundredths of a beat per minute, 1….
        var centibeatsPerMinute: Int
        /// The place of its first beat in the bar, 1 = downbeat; nil when unknown.
        var position: Int?
        /// Beats of the grid in it, with its first and without that of the next section.
        var beatCount: Int

        var beatsPerMinute: Double { Double(centibeatsPerMinute) / 100 }
    }

    /// Largest distance of a beat from the grid, in seconds: half the distance at which two strokes are perceived as two.
    static let tolerance = 0.015
    /// A beat that is farther from the grid, but less than this part of a beat, is passed over between `leastHits` others on the grid.
    private static let (looseTolerance, leastHits) = (0.25, 4)
    /// The longest beat in seconds: 20 BPM.
    private static let slowest = 3.0
    /// A distance of two beats above this many periods is a passage without beats.
    private static let longestStep = 1.75
    /// Beats at either end that may be beside the grid, and the beats of the section beside them for that.
    private static let (looseBeats, leastBeats) = (4, 8)
    /// Beats between those at either end that have a tempo of their own.
    private static let leastFirm = 12
    /// The longest passage without beats, in beats: ten hours at 300 BPM. In a damaged recording the times may be anything.
    private static let mostSteps = 180_000.0

    private(set) var sections: [Section] = []
    /// Beats per bar: the most frequent distance of two downbeats; nil when fewer than two downbeats are known.
    let beatsPerBar: Int?

    /// The tempo of the section with most beats, in beats per minute; nil without a section. A mean over all beats would count pauses.
    var mainTempo: Double? {
        // Of equally long ones the first.
        sections.enumerated().max { ($0.element.beatCount, -$0.offset) < ($1.element.beatCount, -$1.offset) }?.element.beatsPerMinute
    }

    /// The time of the first downbeat on the grid, in seconds; nil when no position is known.
    var firstDownbeat: Double? {
        let bar = beatsPerBar ?? 4
        for section in sections {
            guard let position = section.position else { continue }
            let steps = (bar + 1 - position) % bar
            if steps < section.beatCount { return section.time + Double(steps) * 60 / section.beatsPerMinute }
        }
        return nil
    }

    /// - Parameter beats: Times in seconds, ascending, and positions in the bar.
    init(_ beats: [(time: Double, position: Int?)]) {
        beatsPerBar = Self.beatsPerBar(beats.map(\.position))
        guard !beats.isEmpty else { return }
        // The first beats may be beside the grid of the next ones.
        let runs = (0...Self.looseBeats).map { Run(beats, from: min($0, beats.count - 1), beatsPerBar) }
        let longest = runs.max { ($0.last, -$0.first) < ($1.last, -$1.first) } ?? runs[0]
        var run = longest.hits.count > max(Self.leastBeats, 2 * runs[0].hits.count - 2) ? longest : runs[0]
        var before = run.first
        /// The number of beats until a section, which can be left out at the end.
        var last = 0
        while true {
            if let section = run.section(beats, after: before) {
                sections.append(section)
                last = run.last
            }
            // The last beat is on the grid: the next section begins there, unless this one reaches the end.
            guard run.last < beats.count - 1 || run.breaksMetre else { break }
            if !sections.isEmpty, run.first < run.last, beats.count - 1 - run.last <= Self.looseBeats,
                run.hits.count > Self.leastBeats
            {
                break
            }
            run = Run(beats, from: max(run.last, run.first + 1), beatsPerBar)
            before = 0
        }
        // A single beat after the last section belongs to it.
        if !sections.isEmpty { sections[sections.count - 1].beatCount += max(1, beats.count - last) }
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
        /// The beats on the grid: their places in the list, and their numbers on the grid, from 0.
        private(set) var hits: [(index: Int, number: Int)]
        /// Whether it ends because the position of its last beat is another one than expected.
        private(set) var breaksMetre = false
        /// The place of its first beat in the bar, 0 = downbeat: that of the first beat with a position.
        private var phase: Int?
        private let bar: Int
        private var periods = PeriodRange()

        var first: Int { hits[0].index }
        /// The last beat.
        var last: Int { hits[hits.count - 1].index }

        init(_ beats: [(time: Double, position: Int?)], from first: Int, _ beatsPerBar: Int?) {
            hits = [(first, 0)]
            bar = beatsPerBar ?? 4
            add(beats[first], 0)
            let neighbours = beats[max(0, min(first, beats.count - leastBeats - 1))...].prefix(leastBeats + 1)
            let distances = zip(neighbours.dropFirst(), neighbours).map { $0.time - $1.time }.sorted()
            let usual = distances.isEmpty ? 0.5 : min(distances[(distances.count - 1) / 2], slowest)
            /// The hits before the last beat that was passed over; 0: none was.
            var hitsBeforeMiss = 0
            for index in beats.indices.dropFirst(first + 1) {
                let (beat, end) = (beats[index], hits[hits.count - 1])
                let distance = beat.time - beats[end.index].time
                // The distance of a few beats is that of their errors too.
                let period = end.number < looseBeats ? usual : (beats[end.index].time - beats[first].time) / Double(end.number)
                let steps = period > 0 && distance > longestStep * period ? min((distance / period).rounded(), mostSteps) : 1
                let number = end.number + Int(steps)
                guard periods.tempo(with: beat.time, number) != nil else {
                    let isLoose = hits.count - hitsBeforeMiss >= leastHits && abs(distance - steps * period) < looseTolerance * period
                    guard isLoose, index == end.index + 1 else { break }
                    hitsBeforeMiss = hits.count
                    continue
                }
                // The beat that was passed over has a place on the grid.
                if Int(steps) < index - end.index { break }
                hits.append((index, number))
                let expected = phase.map { ($0 + number) % bar + 1 }
                if beatsPerBar != nil, let expected, let position = beat.position, position != expected {
                    breaksMetre = true
                    return
                }
                add(beat, number)
            }
            // Where the grid ends soon after that beat, the tempo has changed there.
            if hitsBeforeMiss > 0, hits.count - hitsBeforeMiss < leastHits { hits.removeSubrange(hitsBeforeMiss...) }
        }

        private mutating func add(_ beat: (time: Double, position: Int?), _ number: Int) {
            periods.add(beat.time, number)
            guard phase == nil, let position = beat.position else { return }
            phase = (((position - 1 - number) % bar) + bar) % bar
        }

        /// The section of these beats; nil for a single one.
        ///
        /// - Parameter before: Beats before the first one to which the section is extended.
        func section(_ beats: [(time: Double, position: Int?)], after before: Int) -> Section? {
            guard hits.count > 1 else { return nil }
            var firm = hits.filter { $0.index >= looseBeats && $0.index < beats.count - looseBeats }
            if firm.count < leastFirm { firm = hits }
            var periods = PeriodRange()
            for hit in firm { periods.add(beats[hit.index].time, hit.number) }
            // The line of least squares, as far as it meets all of these beats.
            var line = LineFit()
            for hit in firm { line.add(Double(hit.number), beats[hit.index].time) }
            guard let tempo = periods.tempo(near: line.slope) else { return nil }
            let period = 6000 / Double(tempo)
            let starts = firm.map { beats[$0.index].time - Double($0.number) * period }
            let (least, most) = (starts.min() ?? 0, starts.max() ?? 0)
            let start = max(most - tolerance, min(starts.reduce(0, +) / Double(starts.count), least + tolerance))
            // The anchor is not before the start of the file.
            let moved = (0...before + 1).lazy.map { before - $0 }.first { start - Double($0) * period >= -tolerance } ?? before
            let time = start - Double(moved) * period
            return Section(
                time: time >= -tolerance ? max(0, time) : time, centibeatsPerMinute: tempo,
                position: phase.map { ((($0 - moved) % bar) + bar) % bar + 1 }, beatCount: hits[hits.count - 1].number + moved)
        }
    }

    /// The range of beat periods, in seconds, of the grids that meet all added beats.
    ///
    /// The slope between two beats i and j is between (tⱼ - tᵢ ± 2 × tolerance) / (j - i). Only beats of the convex hull limit it.
    private struct PeriodRange {
        private var shortest = 0.0
        private var longest = Double.infinity
        private var (earliest, latest) = ([(number: Double, time: Double)](), [(number: Double, time: Double)]())

        /// Adds a beat after the others.
        mutating func add(_ time: Double, _ number: Int) {
            (shortest, longest) = range(with: time, Double(number))
            Self.add((Double(number), time), to: &earliest, turn: 1)
            Self.add((Double(number), time), to: &latest, turn: -1)
        }

        /// The tempo in the middle of the range that is left with another beat; nil if none of two decimals is in it.
        func tempo(with time: Double, _ number: Int) -> Int? {
            let (shortest, longest) = range(with: time, Double(number))
            return Self.tempo(between: shortest, longest, near: (max(shortest, 0.06) + longest) / 2)
        }

        /// The tempo of the range that is nearest to that of a period.
        func tempo(near period: Double) -> Int? { Self.tempo(between: shortest, longest, near: period) }

        private func range(with time: Double, _ number: Double) -> (Double, Double) {
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
