/// The tempi of a piece, one after the other. The tempo of a section is that of the line through its beats: the median of the tempi that are
/// announced with the beats is up to 0.1 BPM beside it, because single beats are beside the grid.
///
/// A section ends where the announced tempo has changed by more than `tolerance` for `leastBeats` beats, so that a tempo that drifts is one
/// section. Memory grows with the sections only.
public struct TempoSections: Sendable {
    /// Beats whose tempo is the same: those of passages without pauses, whose lines have the same slope.
    private struct Section {
        var beats = 0
        /// The sums of the passages that have ended.
        private var (products, squares) = (0.0, 0.0)
        private var line = LineFit()
        private var (number, last) = (0, 0.0)

        /// Adds the next beat.
        mutating func add(_ time: Double, period announced: Double) {
            beats += 1
            if line.count > 0 {
                let period = line.count >= TempoSections.leastLine ? line.slope : announced
                let steps = (time - last) / period
                if steps >= TempoSections.shortestStep, steps <= TempoSections.longestStep {
                    number += 1
                } else {
                    pause(until: time)
                }
            }
            line.add(Double(number), time)
            last = time
        }

        mutating func append(_ other: Section) {
            beats += other.beats
            endPassage()
            products += other.products + (other.line.count > 1 ? other.line.products : 0)
            squares += other.squares + (other.line.count > 1 ? other.line.squares : 0)
            (line, last) = (LineFit(), 0)
        }

        /// Continues the line after a pause if the next beat is on it. Otherwise, beats are numbered anew.
        private mutating func pause(until time: Double) {
            let beats = (time - line.value(at: Double(number))) / line.slope
            guard line.count >= TempoSections.leastBeats, beats >= TempoSections.longestStep, beats <= TempoSections.longestPause,
                abs(beats - beats.rounded()) < TempoSections.pauseTolerance
            else { return endPassage() }
            number += Int(beats.rounded())
        }

        private mutating func endPassage() {
            products += line.products
            squares += line.squares
            (line, number) = (LineFit(), 0)
        }

        /// In beats per minute; nil for beats without two in a row.
        var tempo: Double? {
            let period = (products + line.products) / (squares + line.squares)
            return period > 0 ? 60 / period : nil
        }
    }

    /// Beats after which a line has a better period than the one that is announced.
    private static let leastLine = 4
    /// Distances of two beats, in beats, between which they are successive.
    private static let (shortestStep, longestStep) = (0.5, 1.75)
    /// The longest pause that a line spans, in beats, and the largest distance from it in which the next beat is on it.
    private static let (longestPause, pauseTolerance) = (128.0, 0.05)
    /// The ratio of two tempi above which they are two, and the beats that a tempo needs: four bars.
    private static let (tolerance, leastBeats) = (1.04, 16)

    private var sections: [Section] = []
    private var current = Section()
    /// Beats of another tempo after `current`.
    private var next: [(time: Double, period: Double)] = []

    /// The tempi of no beats. There is room for those of a set of hours.
    public init() {
        sections.reserveCapacity(256)
        next.reserveCapacity(Self.leastBeats)
    }

    /// Adds the next beat.
    ///
    /// - Parameters:
    ///   - time: In seconds.
    ///   - beatsPerMinute: The tempo that is announced with it.
    public mutating func add(_ time: Double, beatsPerMinute: Double) {
        guard time.isFinite, beatsPerMinute.isFinite, beatsPerMinute > 0 else { return }
        let period = 60 / beatsPerMinute
        let isOther = current.tempo.map { !Self.isSame($0, beatsPerMinute) } ?? false
        next.append((time, period))
        if !isOther {
            for beat in next { current.add(beat.time, period: beat.period) }
            next.removeAll(keepingCapacity: true)
        } else if next.count == Self.leastBeats {
            finish()
            for beat in next { current.add(beat.time, period: beat.period) }
            next.removeAll(keepingCapacity: true)
        }
    }

    /// Adds the current section to the others: to the last one, if that has the same tempo; to none, if it is too short to have one.
    private mutating func finish() {
        if let tempo = current.tempo, current.beats >= Self.leastBeats {
            if let last = sections.last?.tempo, Self.isSame(last, tempo) {
                sections[sections.count - 1].append(current)
            } else {
                sections.append(current)
            }
        }
        current = Section()
    }

    private static func isSame(_ one: Double, _ other: Double) -> Bool { max(one, other) <= tolerance * min(one, other) }

    private var all: [Section] {
        var copy = self
        copy.finish()
        if !copy.sections.isEmpty { return copy.sections }
        // A short piece has one tempo.
        var short = current
        for beat in next { short.add(beat.time, period: beat.period) }
        return short.tempo == nil ? [] : [short]
    }

    /// The tempo of each section, in beats per minute; empty for fewer than two beats.
    public var tempi: [Double] { all.compactMap(\.tempo) }

    /// The tempo of the section with most beats, of equally long ones the first; nil for fewer than two beats.
    public var mainTempo: Double? {
        all.enumerated().max { ($0.element.beats, -$0.offset) < ($1.element.beats, -$1.offset) }?.element.tempo
    }
}
