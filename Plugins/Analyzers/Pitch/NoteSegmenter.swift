internal import HemiolaSignal
internal import HemiolaTonal

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Divides a sequence of pitches into notes.
///
/// A note ends when the pitch is lost, moves away from that of the note for longer than a vibrato does, or when the level rises as at a
/// new attack.
struct NoteSegmenter: Sendable {
    /// A pitch this far from that of the note, in semitones, for so long, in seconds, begins a new note.
    private static let tolerance: Float = 0.7
    private static let changeSeconds = 0.058
    /// A pause of so many seconds ends a note.
    private static let pauseSeconds = 0.035
    /// A rise of the level of so many decibels within `attackSeconds` begins a new note.
    private static let attack: Float = 9
    private static let attackSeconds = 0.05
    /// Not so soon after the start of a note, whose own attack takes as long as the window.
    private static let attackLength = 0.12

    /// A note in progress, or one that is complete.
    private struct Segment {
        var start = 0.0
        var end = 0.0
        /// The sums of the pitch in semitones and of the voicing.
        var pitch: Float = 0
        var voicing: Float = 0
        var highestPower: Float = 0
        var count = 0

        var mean: Float { pitch / Float(max(1, count)) }

        mutating func add(_ semitones: Float, _ frame: DecodedPitch, at time: Double, _ frameSeconds: Double) {
            if count == 0 { start = time - frameSeconds / 2 }
            end = time + frameSeconds / 2
            pitch += semitones
            voicing += frame.voicing
            highestPower = max(highestPower, frame.power)
            count += 1
        }
    }

    private let frameSeconds: Double
    private let minimumDuration: Double
    private let changeFrames: Int
    private let pauseFrames: Int
    private let attackFrames: Int
    private var note = Segment()
    /// The frames that are far from the pitch of the note: the next note, if they go on.
    private var change = Segment()
    private var pause = 0
    /// The power of the last frames, in decibels; the oldest at `levelIndex`.
    private var levels = InlineArray<4, Float>(repeating: -120)
    private var levelIndex = 0
    /// The start of the audio, or the end of the last gap in it, in seconds: no note begins earlier.
    private var earliestStart = 0.0

    init(frameSeconds: Double, minimumDuration: Double) {
        self.frameSeconds = frameSeconds
        self.minimumDuration = minimumDuration
        changeFrames = Int((Self.changeSeconds / frameSeconds).rounded())
        pauseFrames = Int((Self.pauseSeconds / frameSeconds).rounded())
        attackFrames = min(4, Int((Self.attackSeconds / frameSeconds).rounded()))
    }

    mutating func advance(_ frame: DecodedPitch, at time: Double, _ events: inout EventList) {
        let level = 10 * log10f(max(frame.power, 1e-12))
        let rise = level - levels[levelIndex]
        levels[levelIndex] = level
        levelIndex = (levelIndex + 1) % attackFrames
        guard let frequency = frame.frequency else {
            pause += 1
            if pause >= pauseFrames { finishNote(&events) }
            return
        }
        pause = 0
        let semitones = 69 + 12 * log2f(frequency / 440)
        if note.count > 0, rise > Self.attack, time - note.start > Self.attackLength {
            finishNote(&events)
        }
        if note.count > 0, abs(semitones - note.mean) > Self.tolerance {
            // A change in the other direction begins anew.
            if change.count > 0, abs(semitones - change.mean) > 2 * Self.tolerance { change = Segment() }
            change.add(semitones, frame, at: time, frameSeconds)
            guard change.count >= changeFrames else { return }
            let next = change
            finishNote(&events)
            note = next
            return
        }
        change = Segment()
        note.add(semitones, frame, at: time, frameSeconds)
    }

    private mutating func finishNote(_ events: inout EventList) {
        if let event = event(of: note) { events.append(event) }
        note = Segment()
        change = Segment()
    }

    private func event(of note: Segment) -> Event? {
        let start = max(earliestStart, note.start)
        guard note.count > 0, note.end - start >= minimumDuration else { return nil }
        let midi = min(max(Int(note.mean.rounded()), 0), 127)
        let level = 10 * log10f(max(note.highestPower, 1e-12))
        return Note(
            duration: note.end - start, midi: midi, frequency: Double(440 * exp2f((note.mean - 69) / 12)),
            velocity: min(max(Int((127 + 127 * level / 60).rounded()), 1), 127), confidence: Double(note.voicing / Float(note.count))
        ).event(at: start)
    }

    /// Ends the last note before a gap or the end of the stream.
    mutating func finish(_ events: inout EventList) {
        finishNote(&events)
        pause = 0
        levels = InlineArray(repeating: -120)
    }

    /// The audio continues after a gap.
    mutating func resume(at time: Double) {
        earliestStart = time
    }

    /// Restores the state after `init`.
    mutating func reset() {
        self = NoteSegmenter(frameSeconds: frameSeconds, minimumDuration: minimumDuration)
    }
}
