internal import Hemiola
internal import HemiolaNetwork
internal import HemiolaSignal

/// Which changes make a session follow the beats of the music. All times are in seconds of the monotonic clock. Reads no clock itself.
///
/// The first beats, those after a pause, and those for five seconds after a peer has joined set tempo and beat at once: a session that
/// another program began is taken over. After that a change is gradual, so that peers neither repeat nor skip notes.
struct SessionAlignment: Sendable {
    /// A beat of the music.
    struct AnnouncedBeat {
        var time: Double
        /// Seconds per beat.
        var period: Double
        /// The place in the bar, 1 = downbeat; nil when unknown.
        var position: Int?
        /// The probability that it is a beat.
        var confidence: Double
    }

    /// Announced beats after which the session is set for the first time.
    private static let leastBeats = 2
    /// Largest change of the tempo per beat: an octave takes eight beats.
    private static let largestTempoChange = 0.1
    /// Largest shift per beat, in beats: half a beat takes eight beats.
    private static let largestShift = 1.0 / 16
    /// Difference of the tempo above which beats are not shifted yet, because they would move away again.
    private static let settledTempo = 0.01
    /// Smaller differences of tempo, and of time in seconds, are not sent: each change is a message to all peers.
    private static let (tempoTolerance, timeTolerance) = (0.0002, 0.001)
    /// Successive beats that contradict the session's bar before it is moved.
    private static let barEvidence = 8
    /// Seconds after a peer has joined in which tempo and beat are set at once.
    private static let joinTime = 5.0
    /// Difference of the tempo that another peer must have caused.
    private static let peerChange = 0.001
    private static let defaultQuantum = 4

    private let quantum: Int?
    private let hold: Double
    private(set) var grid = BeatGrid()
    /// Whether the session has the music's tempo and beats.
    private(set) var isFollowing = false
    private var joinEnd = -Double.infinity
    private var lastBeat = -Double.infinity
    private var lastPosition: Int?
    /// The bar's length of the music, and the one that was found last.
    private var beatsPerBar: Int?
    private var lastBarLength: Int?
    /// Beats by which the session's bar is off, and for how many successive beats.
    private var barError = (beats: 0, count: 0)
    /// The tempo after the last beat.
    private var expectedTempo: Double?

    /// - Parameters:
    ///   - quantum: Beats per bar of the session; nil: those of the music.
    ///   - hold: Seconds without beats after which the next ones set the session anew; at least one and a half beats.
    init(quantum: Int?, hold: Double) {
        self.quantum = quantum
        self.hold = hold
    }

    /// Whether there are no beats any more.
    func isOver(at now: Double) -> Bool { isFollowing && now > lastBeat + max(hold, 1.5 * grid.period) }

    /// Forgets the beats: the next ones set tempo and beat at once.
    mutating func pause() {
        grid.reset()
        (isFollowing, lastPosition, beatsPerBar, lastBarLength, expectedTempo) = (false, nil, nil, nil, nil)
        barError = (0, 0)
    }

    /// A peer has joined, and may have changed the session.
    mutating func notePeer(now: Double) { joinEnd = now + Self.joinTime }

    /// Adds an announced beat.
    ///
    /// - Returns: The tempo that a peer has set since the last beat; else nil.
    mutating func add(_ beat: AnnouncedBeat, now: Double, to session: any LinkTimeline) -> Double? {
        guard beat.period > 0, beat.period.isFinite, abs(beat.time - now) <= BeatGrid.longestLead else { return nil }
        grid.add(beat.time, period: beat.period, confidence: beat.confidence)
        lastBeat = max(lastBeat, beat.time)
        noteBar(beat.position)
        // A beat beside the grid is none to follow.
        guard grid.count >= Self.leastBeats, abs(beat.time - grid.anchor) < 0.5 * grid.period else { return nil }

        let quantum = quantum ?? beatsPerBar ?? Self.defaultQuantum
        let state = session.state(at: grid.anchor, quantum: Double(quantum))
        let isImmediate = !isFollowing || now < joinEnd
        let peerTempo = expectedTempo.flatMap { abs(state.beatsPerMinute / $0 - 1) > Self.peerChange ? state.beatsPerMinute : nil }

        let music = 60 / grid.period
        var tempo = music
        if !isImmediate {
            let change = Self.largestTempoChange * state.beatsPerMinute
            tempo = min(max(tempo, state.beatsPerMinute - change), state.beatsPerMinute + change)
        }
        if abs(tempo / state.beatsPerMinute - 1) <= Self.tempoTolerance { tempo = state.beatsPerMinute }

        let nearest = state.beat.rounded()
        var shift = nearest - state.beat
        let bar = barError(of: Int(clamping: nearest), position: beat.position, quantum: quantum)
        barError = bar == barError.beats ? (bar, barError.count + 1) : (bar, 1)
        if bar != 0, isImmediate || barError.count >= Self.barEvidence {
            shift += Double(bar)
            barError = (0, 0)
        } else if !isImmediate {
            let isSettled = abs(tempo / music - 1) < Self.settledTempo
            shift = isSettled ? min(max(shift, -Self.largestShift), Self.largestShift) : 0
        }

        if tempo != state.beatsPerMinute || abs(shift) * grid.period > Self.timeTolerance {
            session.set(beatsPerMinute: tempo, beat: state.beat + shift, at: grid.anchor, quantum: Double(quantum))
        }
        (isFollowing, expectedTempo) = (true, tempo)
        return isImmediate ? nil : peerTempo
    }

    /// Takes the bar's length from the position before a downbeat: the first one, and another one when it is found twice.
    private mutating func noteBar(_ position: Int?) {
        if position == 1, let length = lastPosition, length > 1 {
            if beatsPerBar == nil || length == lastBarLength { beatsPerBar = length }
            lastBarLength = length
        }
        lastPosition = position
    }

    /// Beats to add so that the music's downbeat begins a bar of the session; 0 where either bar is unknown or they do not fit.
    private func barError(of beat: Int, position: Int?, quantum: Int) -> Int {
        guard let position, let beatsPerBar, quantum % beatsPerBar == 0 else { return 0 }
        let error = (((position - 1 - beat) % beatsPerBar) + beatsPerBar) % beatsPerBar
        return error > beatsPerBar / 2 ? error - beatsPerBar : error
    }
}
