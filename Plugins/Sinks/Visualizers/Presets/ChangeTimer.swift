internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaVisualizer

/// Computes when the preset changes, from the change timing, stream time and the features of each batch. Which preset comes next is
/// chosen by ``PresetOrder``.
///
/// A change whose time is known ahead, from the timer or an announced beat, is returned with the last batch that ends before that
/// time: a client that applies it at once is on time, and controls that arrive earlier can still prevent it.
struct ChangeTimer: Sendable {
    /// The record type of the analyzer `structure` that is read.
    static let segment = "segment"

    let timing: ChangeTiming
    private var generator: SplitMix64
    private(set) var lastChange = 0.0
    /// Stream time of the next timer change; nil: none.
    private var due: Double?

    private var drop: DropDetector?
    private var counter: BeatCounter?
    private var minimumConfidence = 0.0
    /// Whether the beat decides, as of the last batch.
    private var followsBeat = false
    /// The start of the last segment that has caused no change yet.
    private var segmentStart: Double?

    init(_ timing: ChangeTiming, seed: UInt64) {
        self.timing = timing
        generator = SplitMix64(seed: seed)
        switch timing.trigger {
        case .none, .segments: break
        case .drop(let decibels): drop = DropDetector(decibels: decibels)
        case .beats(let count, let confidence):
            counter = BeatCounter(count)
            minimumConfidence = confidence
        }
    }

    /// Restarts the time on the preset: a new preset is shown from this time on.
    mutating func restart(at time: Double) {
        lastChange = time
        due = timing.randomDuration(using: &generator).map { time + $0 }
        counter?.restart(at: time)
        segmentStart = nil
    }

    /// Moves all times to the clock of the next stream, whose 0 is `time` on the clock of this stream.
    mutating func rebase(by time: Double) {
        lastChange -= time
        due = due.map { $0 - time }
        counter?.clear()
        counter?.restart(at: lastChange)
        segmentStart = nil
    }

    /// Adds a beat or the start of a segment, which may be announced ahead of its time or reported after it.
    mutating func add(_ event: Event) {
        if let beat = Beat(event) { counter?.add(beat, at: event.time) }
        if timing.trigger == .segments, event.type.name == Self.segment { segmentStart = event.time }
    }

    /// Processes a batch.
    ///
    /// - Parameter isHeld: Whether changes are disabled. Detector and counter are updated all the same.
    /// - Returns: A change at the end of this batch or before the end of the next one; nil: no change. The caller calls
    ///   `restart(at:)` when it applies the change.
    mutating func update(with batch: BatchFeatures, isHeld: Bool) -> ScheduledChange? {
        let change = triggeredChange(batch, isHeld: isHeld)
        followsBeat = isBeatReliable(batch)
        if isHeld { return nil }
        if let change { return change }
        guard let due, due < batch.end + batch.duration else { return nil }
        if followsBeat, !isOverdue(batch) { return nil }
        return ScheduledChange(time: max(due, batch.end), reason: .timer)
    }

    /// Seconds from a time to the next change: by the timer, or by the beat at its present tempo. nil: there is none, or it depends on
    /// music that is not known yet.
    func nextIn(from time: Double) -> Double? {
        switch timing.trigger {
        case .none:
            return due.map { max(0, $0 - time) }
        case .beats:
            // With the digits of a record, so that a replay foresees the same time.
            let (start, time) = ((lastChange * 1e6).rounded() / 1e6, (time * 1e6).rounded() / 1e6)
            guard followsBeat, let completion = counter?.completion(notBefore: start + timing.minimum) else { return nil }
            return max(0, min(completion, start + (timing.maximum ?? .infinity)) - time)
        case .drop, .segments:
            return nil
        }
    }

    /// The change that the music causes; nil: there is none, or the minimum time on the preset has not passed.
    private mutating func triggeredChange(_ batch: BatchFeatures, isHeld: Bool) -> ScheduledChange? {
        switch timing.trigger {
        case .none:
            return nil
        case .beats:
            while let boundary = counter?.next(before: batch.end + batch.duration) {
                guard !isHeld, boundary.time - lastChange >= timing.minimum, isBeatReliable(batch) else { continue }
                return ScheduledChange(time: max(boundary.time, batch.end), reason: boundary.isDownbeat ? .bar : .beat)
            }
            return nil
        case .drop:
            guard drop?.update(level: batch.level, seconds: batch.duration) == true else { return nil }
            return change(at: batch.end, .drop)
        case .segments:
            guard let start = segmentStart, start < batch.end + batch.duration else { return nil }
            segmentStart = nil
            return change(at: max(start, batch.end), .segment)
        }
    }

    /// A change at that time; nil: the minimum time on the preset has not passed.
    private func change(at time: Double, _ reason: PresetChange.Reason) -> ScheduledChange? {
        time - lastChange >= timing.minimum ? ScheduledChange(time: time, reason: reason) : nil
    }

    /// Whether both the analyzer's confidence and that of the last beat reach the minimum. Without the former the latter decides.
    private func isBeatReliable(_ batch: BatchFeatures) -> Bool {
        guard let counter else { return false }
        let confidence = batch.confidence.isNaN ? 1 : batch.confidence
        return min(confidence, counter.confidence(at: batch.end)) >= minimumConfidence
    }

    private func isOverdue(_ batch: BatchFeatures) -> Bool {
        guard let maximum = timing.maximum else { return false }
        return lastChange + maximum < batch.end + batch.duration
    }
}
