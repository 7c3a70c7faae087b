internal import Hemiola
internal import HemiolaMIDI
internal import HemiolaSignal

/// When MIDI clock pulses, start, continue and stop are sent. All times are in seconds of the monotonic clock. Reads no clock itself.
///
/// Pulses are as far apart as the tempo requires and never skipped or repeated: a difference from the grid of beats is removed by a
/// faster or slower tempo over the next beats.
struct ClockSchedule {
    /// The state of the receiver.
    private enum Transport {
        case stopped
        /// It starts or continues at the pulse of that number.
        case starting(pulse: Int)
        case running
    }

    private static let pulsesPerBeat = MIDIMessage.pulsesPerQuarter
    /// Time from start or continue to the first pulse: MIDI 1.0 recommends at least a millisecond.
    private static let startLead = 0.002
    /// Part of the phase error that is removed per pulse: three quarters within half a beat.
    private static let phaseGain = 1.0 / 12
    /// Largest deviation from the tempo while a phase error is removed: half a beat takes four beats.
    private static let largestCorrection = 0.125
    /// Largest change of the tempo per pulse: an octave takes 18 pulses.
    private static let largestTempoChange = 0.04
    /// Phase error, in beats, beyond which the pulse belongs to another beat.
    private static let halfBeat = 0.55
    /// Announced beats after which the clock starts, and after which it no longer waits for a downbeat.
    private static let (leastBeats, mostBeats) = (2, 8)
    /// A pulse that is later than this is not sent: the computer was suspended.
    private static let longestDelay = 0.5

    /// Seconds for which the clock continues after the last announced beat.
    private let hold: Double
    /// Whether the song continues after a pause; false: it starts again.
    private let continues: Bool

    private(set) var grid = BeatGrid()
    private var transport = Transport.stopped
    private var hasStarted = false
    /// The number and time of the next pulse. Pulse 24·i is beat i of the grid.
    private var pulse = 0
    private var pulseTime = 0.0
    /// Seconds between two pulses at the current tempo.
    private var interval = 0.0
    /// Pulses from the beginning of the song to the next pulse.
    private(set) var songPulse = 0
    /// The time of the last announced beat.
    private var lastBeat = -Double.infinity
    /// Announced beats since the clock stopped.
    private var beatsSinceStop = 0
    private var lastPosition: Int?
    private var beatsPerBar = 4

    /// - Parameters:
    ///   - hold: Seconds for which the clock continues after the last announced beat; at least one and a half beats.
    ///   - continues: Whether the song continues after a pause; false: it starts again.
    init(hold: Double, continues: Bool) {
        self.hold = hold
        self.continues = continues
    }

    /// Whether pulses are sent.
    var isRunning: Bool { if case .running = transport { true } else { false } }

    /// The time of the next message; infinite: there is none.
    var next: Double {
        switch transport {
        case .stopped: .infinity
        case .starting(let pulse): time(of: pulse) - Self.startLead
        case .running: min(pulseTime, deadline)
        }
    }

    /// The time at which the clock stops if no beat is announced.
    private var deadline: Double { lastBeat + max(hold, 1.5 * grid.period) }

    private func time(of pulse: Int) -> Double { grid.time(of: Double(pulse) / Double(Self.pulsesPerBeat)) }

    // MARK: - Beats

    /// Adds an announced beat.
    ///
    /// - Parameters:
    ///   - time: The time at which it is to be sent.
    ///   - period: Seconds per beat at the announced tempo.
    ///   - position: The place in the bar, 1 = downbeat; nil when unknown.
    ///   - confidence: The probability that it is a beat.
    ///   - now: The current time.
    mutating func addBeat(at time: Double, period: Double, position: Int?, confidence: Double, now: Double) {
        guard period > 0, period.isFinite, abs(time - now) <= BeatGrid.longestLead else { return }
        grid.add(time, period: period, confidence: confidence)
        lastBeat = max(lastBeat, time)
        if position == 1, let lastPosition, lastPosition > 1 { beatsPerBar = lastPosition }
        lastPosition = position
        guard case .stopped = transport else { return }
        beatsSinceStop += 1
        guard grid.count >= Self.leastBeats, position == nil || position == 1 || beatsSinceStop >= Self.mostBeats else { return }
        let step = position == 1 ? beatsPerBar : 1
        var beat = grid.index
        while grid.time(of: Double(beat)) < now + 2 * Self.startLead { beat += step }
        if hasStarted, continues {
            // The song continues at a beat, with a downbeat at a bar.
            let unit = step * Self.pulsesPerBeat
            songPulse = (songPulse + unit - 1) / unit * unit
        } else {
            songPulse = 0
        }
        transport = .starting(pulse: beat * Self.pulsesPerBeat)
    }

    /// The receiver lost messages: it is stopped, and continues at the song position of the next sixteenth note.
    mutating func resynchronize(now: Double, into messages: inout [MIDIMessage]) {
        guard isRunning else { return }
        messages.append(.stop)
        let unit = MIDIMessage.pulsesPerSixteenth
        var next = pulse
        var nextTime = pulseTime
        while songPulse % unit != 0 || nextTime < now + 2 * Self.startLead {
            next += 1
            songPulse += 1
            nextTime += interval
        }
        transport = .starting(pulse: next)
    }

    /// Stops the clock, if it runs.
    mutating func stop(into messages: inout [MIDIMessage]) {
        if isRunning { messages.append(.stop) }
        transport = .stopped
        grid.reset()
        (beatsSinceStop, lastPosition) = (0, nil)
    }

    /// As `stop`; the next song starts at its beginning.
    mutating func end(into messages: inout [MIDIMessage]) {
        stop(into: &messages)
        hasStarted = false
        lastBeat = -.infinity
    }

    // MARK: - Pulses

    /// Appends the messages that are due.
    mutating func advance(to now: Double, into messages: inout [MIDIMessage]) {
        if case .starting(let first) = transport, next <= now { start(at: first, now: now, into: &messages) }
        while isRunning {
            if deadline <= min(now, pulseTime) { return stop(into: &messages) }
            guard pulseTime <= now else { return }
            if now - pulseTime > Self.longestDelay { return stop(into: &messages) }
            messages.append(.clock)
            songPulse += 1
            pulse += 1
            schedulePulse()
        }
    }

    private mutating func start(at first: Int, now: Double, into messages: inout [MIDIMessage]) {
        if songPulse == 0 {
            messages.append(.start)
        } else {
            let sixteenths = songPulse / MIDIMessage.pulsesPerSixteenth
            messages.append(.songPosition(sixteenths % (MIDIMessage.songPositions.upperBound + 1)))
            messages.append(.continue)
        }
        hasStarted = true
        transport = .running
        pulse = first
        pulseTime = max(time(of: first), now + Self.startLead)
        interval = grid.period / Double(Self.pulsesPerBeat)
        beatsSinceStop = 0
    }

    /// Computes the time of the next pulse from that of the last one.
    private mutating func schedulePulse() {
        let target = grid.period / Double(Self.pulsesPerBeat)
        interval = min(max(target, interval * (1 - Self.largestTempoChange)), interval * (1 + Self.largestTempoChange))
        var error = time(of: pulse) - (pulseTime + interval)
        if abs(error) > Self.halfBeat * grid.period {
            let beats = (error / grid.period).rounded()
            grid.renumber(by: Int(clamping: beats))
            error -= beats * grid.period
        }
        let limit = Self.largestCorrection * interval
        pulseTime += interval + min(max(Self.phaseGain * error, -limit), limit)
    }
}
