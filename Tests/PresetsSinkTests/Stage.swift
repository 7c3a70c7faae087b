import HemiolaSignal

@testable import PresetsSink

/// Batches at 44.1 kHz, one after another, for a pacer or a show without a pipeline.
struct Stage {
    static let standardBatch = 1024.0 / 44_100

    private let batch: Double
    private(set) var number = 0

    init(batch: Double = Stage.standardBatch) {
        self.batch = batch
    }

    /// The end of the last batch.
    var time: Double { Double(number) * batch }

    mutating func next(_ fill: (inout ShowMoment) -> Void = { _ in }) -> ShowMoment {
        var moment = ShowMoment(start: time, end: Double(number + 1) * batch, duration: batch)
        number += 1
        fill(&moment)
        return moment
    }
}

extension Pacer {
    /// Runs to a time, beginning anew at every change.
    mutating func run(
        _ stage: inout Stage, until end: Double, _ fill: (inout ShowMoment) -> Void = { _ in }
    ) -> [Change] {
        var changes: [Change] = []
        while stage.time < end {
            guard let change = decide(stage.next(fill), isHeld: false) else { continue }
            changes.append(change)
            restart(at: change.time)
        }
        return changes
    }
}

extension PresetShow {
    /// The events of so many batches.
    mutating func run(_ stage: inout Stage, until end: Double, _ fill: (inout ShowMoment) -> Void = { _ in }) -> [Event] {
        var events = EventList()
        while stage.time < end { direct(stage.next(fill), into: &events) }
        return events.events
    }

    mutating func step(_ stage: inout Stage) -> [Event] {
        var events = EventList()
        direct(stage.next(), into: &events)
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
        compactMap { if case .preset(let change) = $0.payload { change } else { nil } }
    }
    var presetTimes: [Double] {
        compactMap { if case .preset = $0.payload { $0.time } else { nil } }
    }
    var speeds: [Double] {
        compactMap { if case .speed(let speed) = $0.payload { speed } else { nil } }
    }
}

/// Names `p0`, `p1` ….
func names(_ count: Int) -> [String] { (0..<count).map { "p\($0)" } }

/// Pearson's statistic of counts against what was expected.
func chiSquared(_ counts: [Int], expected: [Double]) -> Double {
    zip(counts, expected).map { (Double($0) - $1) * (Double($0) - $1) / $1 }.reduce(0, +)
}
