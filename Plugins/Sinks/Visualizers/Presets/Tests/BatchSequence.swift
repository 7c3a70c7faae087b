import HemiolaRecords
import HemiolaVisualizer

@testable import PresetsSink

/// Consecutive batches at 44.1 kHz, to run a change timer or a preset schedule without a pipeline.
struct BatchSequence {
    /// Seconds.
    static let standardLength = 1024.0 / 44_100

    /// Length of a batch in seconds.
    private let length: Double
    private(set) var number = 0

    init(length: Double = BatchSequence.standardLength) {
        self.length = length
    }

    /// Stream time of the end of the last batch.
    var time: Double { Double(number) * length }

    mutating func next(_ fill: (inout BatchFeatures) -> Void = { _ in }) -> BatchFeatures {
        var features = BatchFeatures(start: time, end: Double(number + 1) * length, duration: length)
        number += 1
        fill(&features)
        return features
    }
}

extension ChangeTimer {
    /// Processes batches up to a time and restarts the timer at every change.
    mutating func run(
        _ batches: inout BatchSequence, until end: Double, _ fill: (inout BatchFeatures) -> Void = { _ in }
    ) -> [ScheduledChange] {
        var changes: [ScheduledChange] = []
        while batches.time < end {
            guard let change = update(with: batches.next(fill), isHeld: false) else { continue }
            changes.append(change)
            restart(at: change.time)
        }
        return changes
    }
}

extension PresetSchedule {
    /// Processes batches up to a time and returns their events.
    mutating func run(_ batches: inout BatchSequence, until end: Double, _ fill: (inout BatchFeatures) -> Void = { _ in }) -> [Event] {
        var events = EventList()
        while batches.time < end { update(with: batches.next(fill), into: &events) }
        return events.events
    }

    /// Processes one batch and returns its events.
    mutating func step(_ batches: inout BatchSequence) -> [Event] {
        var events = EventList()
        update(with: batches.next(), into: &events)
        return events.events
    }
}

extension PresetChange {
    var withoutCountdown: PresetChange {
        var change = self
        change.nextIn = nil
        return change
    }
}

extension [Event] {
    var presets: [PresetChange] {
        compactMap { PresetChange($0) }
    }
    var pagePresets: [PagePresetChange] {
        compactMap { PagePresetChange($0) }
    }
    var presetTimes: [Double] {
        filter { $0.type == .preset }.map(\.time)
    }
    var speeds: [Double] {
        compactMap { SpeedChange($0)?.speed }
    }
}

/// Names `p0`, `p1` ….
func names(_ count: Int) -> [String] { (0..<count).map { "p\($0)" } }

/// Pearson's chi-squared statistic of observed counts.
func chiSquared(_ counts: [Int], expected: [Double]) -> Double {
    zip(counts, expected).map { (Double($0) - $1) * (Double($0) - $1) / $1 }.reduce(0, +)
}
