internal import HemiolaSignal

/// So many bars or beats.
enum BeatCount: Sendable, Equatable {
    case bars(Int)
    case beats(Int)
}

/// Counts the beats since the last change, each when its time has come, however far ahead it was announced.
struct BeatCounter: Sendable {
    /// Beats of a bar whose downbeat nobody knows.
    private static let usualBar = 4
    /// Announced beats that wait; more than any tracker announces ahead.
    private static let capacity = 256
    /// Seconds after its last beat at which a beat is lost.
    private static let patience = 2.5
    /// Seconds: a beat this near to the last change is the one that it happened on.
    private static let sameBeat = 0.1

    private struct Announcement {
        var time: Double
        var beat: Beat
    }

    /// A beat whose time has come.
    struct Boundary {
        var time: Double
        var isDownbeat: Bool
    }

    private let target: BeatCount
    private var announced: [Announcement] = []
    private var bars = 0
    private var beats = 0
    private var knowsBars = false
    private var lastChange = 0.0
    /// The last beat that came, announced ones not included.
    private var lastBeat: (time: Double, confidence: Double)?

    init(_ target: BeatCount) {
        self.target = target
        announced.reserveCapacity(Self.capacity)
    }

    mutating func announce(_ beat: Beat, at time: Double) {
        if announced.count == Self.capacity { announced.remove(at: 0) }
        announced.append(Announcement(time: time, beat: beat))
        // Swapped into its place, nearly always the last: an insertion allocates.
        var place = announced.count - 1
        while place > 0, announced[place - 1].time > time {
            announced.swapAt(place - 1, place)
            place -= 1
        }
    }

    /// Counts from this time on.
    mutating func restart(at time: Double) {
        (bars, beats, lastChange) = (0, 0, time)
    }

    /// The clock of a new stream begins: its 0 is this time of the old one.
    mutating func forget() {
        announced.removeAll(keepingCapacity: true)
        lastBeat = nil
        knowsBars = false
    }

    /// Counts the beats before a time, up to one at which a change is due.
    mutating func next(before limit: Double) -> Boundary? {
        while !announced.isEmpty, announced[0].time < limit {
            let first = announced.remove(at: 0)
            lastBeat = (first.time, first.beat.confidence)
            if first.beat.position != nil { knowsBars = true }
            guard first.time > lastChange + Self.sameBeat else { continue }
            let isDownbeat = first.beat.position == 1
            beats += 1
            if isDownbeat { bars += 1 }
            if isDue(isDownbeat) { return Boundary(time: first.time, isDownbeat: isDownbeat) }
        }
        return nil
    }

    private func isDue(_ isDownbeat: Bool) -> Bool {
        switch target {
        case .beats(let count): beats >= count
        case .bars(let count): knowsBars ? isDownbeat && bars >= count : beats >= count * Self.usualBar
        }
    }

    /// How well the beat is known: that of the last one, unless it was too long ago.
    func confidence(at time: Double) -> Double {
        guard let lastBeat, time - lastBeat.time < Self.patience else { return 0 }
        return lastBeat.confidence
    }
}
