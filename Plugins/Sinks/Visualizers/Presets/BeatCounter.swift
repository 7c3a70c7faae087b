internal import HemiolaRecords

/// A number of bars or of beats.
enum BeatCount: Sendable, Equatable {
    case bars(Int)
    case beats(Int)
}

/// Counts beats since the last preset change. A beat that was announced ahead is counted when stream time reaches its time.
struct BeatCounter: Sendable {
    /// Beats per bar while no beat has carried a position in the bar.
    private static let defaultBarLength = 4
    /// Announced beats that are queued. No tracker announces so many ahead.
    private static let capacity = 256
    /// Seconds after the last beat from which the confidence is 0: more than a beat at 30 bpm takes.
    private static let beatTimeout = 2.5
    /// Seconds. A beat that follows the last change within this time is the beat of that change and is not counted.
    private static let sameBeat = 0.1

    private let target: BeatCount
    /// In order of time.
    private var announced: [(time: Double, beat: Beat)] = []
    private var bars = 0
    private var beats = 0
    private var hasBarPositions = false
    /// Above two bars the tracker has lost the bars: the next downbeat may never come.
    private var beatsSinceDownbeat = 0
    private var lastChange = 0.0
    /// The last beat whose time stream time has reached.
    private var lastBeat: (time: Double, beat: Beat)?
    /// Beats of a bar, as the last two downbeats say; nil: no bar has ended yet.
    private var barLength: Int?

    init(_ target: BeatCount) {
        self.target = target
        announced.reserveCapacity(Self.capacity)
    }

    /// Queues a beat. Does not allocate.
    mutating func add(_ beat: Beat, at time: Double) {
        if announced.count == Self.capacity { announced.remove(at: 0) }
        announced.append((time, beat))
        // Sorted by swapping, nearly always without a swap: Array.insert allocates.
        var place = announced.count - 1
        while place > 0, announced[place - 1].time > time {
            announced.swapAt(place - 1, place)
            place -= 1
        }
    }

    /// Restarts the count at a preset change.
    mutating func restart(at time: Double) {
        (bars, beats, lastChange) = (0, 0, time)
    }

    /// Drops the queued beats and the position in the bar, because the next stream has a clock of its own.
    mutating func clear() {
        announced.removeAll(keepingCapacity: true)
        lastBeat = nil
        (hasBarPositions, beatsSinceDownbeat) = (false, 0)
    }

    /// Counts the queued beats before a time.
    ///
    /// - Returns: The beat that completes the count; nil when all beats before `limit` are counted.
    mutating func next(before limit: Double) -> (time: Double, isDownbeat: Bool)? {
        while !announced.isEmpty, announced[0].time < limit {
            let first = announced.remove(at: 0)
            if first.beat.position == 1, let last = lastBeat?.beat.position, last > 1 { barLength = last }
            lastBeat = first
            if first.beat.position != nil { hasBarPositions = true }
            beatsSinceDownbeat = first.beat.position == 1 ? 0 : beatsSinceDownbeat + 1
            guard first.time > lastChange + Self.sameBeat else { continue }
            let isDownbeat = first.beat.position == 1
            beats += 1
            if isDownbeat { bars += 1 }
            if isComplete(isDownbeat) { return (first.time, isDownbeat) }
        }
        return nil
    }

    private func isComplete(_ isDownbeat: Bool) -> Bool {
        switch target {
        case .beats(let count): beats >= count
        case .bars(let count):
            if hasBarPositions, beatsSinceDownbeat <= 2 * Self.defaultBarLength {
                isDownbeat && bars >= count
            } else {
                beats >= count * Self.defaultBarLength
            }
        }
    }

    /// Confidence of the last beat, 0…1; 0 without a beat in the last 2.5 s.
    func confidence(at time: Double) -> Double {
        guard let lastBeat, time - lastBeat.time < Self.beatTimeout else { return 0 }
        return lastBeat.beat.confidence
    }

    /// The time at which the count will be complete at the present tempo; nil: it is not known.
    ///
    /// - Parameter earliest: A time before which it causes no change.
    func completion(notBefore earliest: Double) -> Double? {
        guard let lastBeat, lastBeat.beat.beatsPerMinute > 0 else { return nil }
        // With the digits of a record, so that a replay foresees the same time.
        let period = 60 / max(0.01, (lastBeat.beat.beatsPerMinute * 100).rounded() / 100)
        let lastTime = (lastBeat.time * 1e6).rounded() / 1e6
        let time: Double
        var step = period
        switch target {
        case .beats(let count): time = lastTime + Double(count - beats) * period
        case .bars(let count):
            guard let barLength, let position = lastBeat.beat.position else { return nil }
            let downbeat = lastTime + Double(max(1, barLength + 1 - position)) * period
            step *= Double(barLength)
            time = downbeat + Double(max(0, count - bars - 1)) * step
        }
        return time >= earliest ? time : time + ((earliest - time) / step).rounded(.up) * step
    }
}
