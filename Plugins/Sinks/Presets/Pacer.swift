internal import HemiolaSignal

/// Decides when the preset changes: the mode and the clock in, changes out. It knows no preset.
///
/// A change whose time is known ahead, by the timer or by an announced beat, is told in the last batch that ends before that
/// time, so that whoever obeys at once is on time, and what happens meanwhile still counts.
struct Pacer: Sendable {
    let pacing: Pacing
    private var generator: ShowGenerator
    private(set) var lastChange = 0.0
    /// When time alone changes the preset; nil: never.
    private(set) var due: Double?

    private var milkDrop: MilkDropCut?
    private var projectM: ProjectMCut?
    private var drop: DropDetector?
    private var counter: BeatCounter?
    private var neededConfidence = 0.0

    init(_ pacing: Pacing, seed: UInt64) {
        self.pacing = pacing
        generator = ShowGenerator(seed: seed)
        switch pacing.trigger {
        case .none: break
        case .milkDrop(let level, let halfLife): milkDrop = MilkDropCut(level: level, halfLife: halfLife)
        case .projectM(let jump, let earliest): projectM = ProjectMCut(jump: jump, earliest: earliest)
        case .drop(let decibels): drop = DropDetector(decibels: decibels)
        case .beats(let count, let confidence):
            counter = BeatCounter(count)
            neededConfidence = confidence
        }
    }

    /// A preset has come: its time begins.
    mutating func restart(at time: Double) {
        lastChange = time
        due = pacing.draw(using: &generator).map { time + $0 }
        counter?.restart(at: time)
    }

    /// The clock starts anew, in the middle of the show: what was `time` is 0 now.
    mutating func rebase(by time: Double) {
        lastChange -= time
        due = due.map { $0 - time }
        counter?.forget()
        counter?.restart(at: lastChange)
    }

    mutating func hear(_ beat: Beat, at time: Double) {
        counter?.announce(beat, at: time)
    }

    /// Hears a batch.
    ///
    /// - Parameter isHeld: Nothing may change now; what is learnt from the music goes on.
    /// - Returns: The change that happens now, or before the next batch ends. The pacer does not restart by itself.
    mutating func decide(_ moment: ShowMoment, isHeld: Bool) -> Change? {
        let timeOnPreset = moment.end - lastChange
        let mayCut = !isHeld && timeOnPreset >= pacing.minimum
        let cut = hearCut(moment, timeOnPreset, mayCut: mayCut, isHeld: isHeld)
        let beat = nextBeat(moment, isHeld: isHeld)
        if isHeld { return nil }
        if let cut, mayCut { return Change(time: moment.end, blend: cut == .hardCut ? 0 : pacing.blend, reason: cut) }
        if let beat { return beat }
        guard let due, due < moment.end + moment.duration else { return nil }
        if counter != nil, isBeatKnown(moment), !isOverdue(moment) { return nil }
        return Change(time: max(due, moment.end), blend: pacing.blend, reason: .timer)
    }

    private mutating func hearCut(
        _ moment: ShowMoment, _ timeOnPreset: Double, mayCut: Bool, isHeld: Bool
    ) -> PresetChange.Reason? {
        // MilkDrop's threshold rests while the preset is locked.
        let isSettled = moment.end >= HardCut.settlingSeconds
        let sum = moment.bass + moment.mid + moment.treb
        if !isHeld, milkDrop?.hear(sum: sum, seconds: moment.duration, mayCut: mayCut && isSettled) == true { return .hardCut }
        if projectM?.hear(volume: moment.volume, timeOnPreset: timeOnPreset) == true, isSettled { return .hardCut }
        return drop?.hear(level: moment.level, seconds: moment.duration) == true ? .drop : nil
    }

    private mutating func nextBeat(_ moment: ShowMoment, isHeld: Bool) -> Change? {
        while let boundary = counter?.next(before: moment.end + moment.duration) {
            guard !isHeld, boundary.time - lastChange >= pacing.minimum, isBeatKnown(moment) else { continue }
            return Change(
                time: max(boundary.time, moment.end), blend: pacing.blend, reason: boundary.isDownbeat ? .bar : .beat)
        }
        return nil
    }

    private func isBeatKnown(_ moment: ShowMoment) -> Bool {
        guard let counter else { return false }
        let told = moment.confidence.isNaN ? 1 : moment.confidence
        return min(told, counter.confidence(at: moment.end)) >= neededConfidence
    }

    private func isOverdue(_ moment: ShowMoment) -> Bool {
        guard let maximum = pacing.maximum else { return false }
        return lastChange + maximum < moment.end + moment.duration
    }
}
