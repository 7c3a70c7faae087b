internal import Glibc
internal import HemiolaRecords
internal import HemiolaTonal

/// Divides a sequence of pitches into notes.
///
/// A note ends when the pitch is lost, moves to another one, or when the level rises as at a new attack. A vibrato leaves the note's
/// pitch as far as a step of a semitone does: but it does not rest there, and comes back within its cycle.
struct NoteSegmenter: Sendable {
    /// A pitch this far from that of the note, in semitones, may be the next note.
    private static let tolerance: Float = 0.7
    /// It is the next note when it stays within so many semitones for so long, in seconds: at its extremes, a vibrato of 4 Hz that
    /// leaves the tolerance does so for a shorter time. The shorter rest is that of a trill with 0.1 s per note.
    private static let rests: [(range: Float, seconds: Double)] = [(0.15, 0.07), (0.07, 0.058)]
    /// Or when it is further away than a vibrato of a semitone to either side goes, for so long, in seconds.
    private static let jump: Float = 1.7
    private static let jumpSeconds = 0.058
    /// Or when its mean over a cycle of the slowest vibrato, 4 Hz, is outside the tolerance, and the note was so long, in seconds, that
    /// its pitch is not that of a part of a cycle.
    private static let cycleSeconds = 0.25
    private static let establishedSeconds = 0.163
    /// A change whose mean comes this close to the note, in semitones, was a part of it.
    private static let returned: Float = 0.5
    /// A change further away than this, in semitones, is an error of the octave, and no part of the note.
    private static let farthest: Float = 2.2
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

        /// Adds the frames of a change that has come back.
        mutating func add(_ change: Segment) {
            end = change.end
            pitch += change.pitch
            voicing += change.voicing
            highestPower = max(highestPower, change.highestPower)
            count += change.count
        }
    }

    /// The last frames of a change that are close to each other.
    private struct Rest {
        /// The width of their range in semitones, and the number of frames that make a rest.
        let width: Float
        let frames: Int
        private var range: ClosedRange<Float> = 0...0
        private var count = 0

        init(width: Float, frames: Int) {
            self.width = width
            self.frames = frames
        }

        mutating func add(_ semitones: Float) {
            let wider = min(range.lowerBound, semitones)...max(range.upperBound, semitones)
            let isClose = count > 0 && wider.upperBound - wider.lowerBound <= width
            range = isClose ? wider : semitones...semitones
            count = isClose ? count + 1 : 1
        }

        mutating func reset() { count = 0 }

        /// Whether there is a rest that is further than a distance from a pitch.
        func isFarther(than distance: Float, from pitch: Float) -> Bool {
            count >= frames && abs((range.lowerBound + range.upperBound) / 2 - pitch) > distance
        }
    }

    private let frameSeconds: Double
    private let minimumDuration: Double
    private let jumpFrames: Int
    private let cycleFrames: Int
    private let establishedFrames: Int
    private let pauseFrames: Int
    private let attackFrames: Int
    private var note = Segment()
    /// The frames since the pitch left that of the note: the next note, or a part of the note.
    private var change = Segment()
    private var rests: [Rest]
    private var pause = 0
    /// The power of the last frames, in decibels; the oldest at `levelIndex`.
    private var levels = InlineArray<4, Float>(repeating: -120)
    private var levelIndex = 0
    /// The start of the audio, or the end of the last gap in it, in seconds: no note begins earlier.
    private var earliestStart = 0.0

    init(frameSeconds: Double, minimumDuration: Double) {
        self.frameSeconds = frameSeconds
        self.minimumDuration = minimumDuration
        rests = Self.rests.map { Rest(width: $0.range, frames: Int(($0.seconds / frameSeconds).rounded())) }
        jumpFrames = Int((Self.jumpSeconds / frameSeconds).rounded())
        cycleFrames = Int((Self.cycleSeconds / frameSeconds).rounded())
        establishedFrames = Int((Self.establishedSeconds / frameSeconds).rounded())
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
        if change.count > 0, abs(semitones - change.mean) > 2 * Self.tolerance {
            // Back to the note, as a vibrato, or to another pitch.
            endChange(isPart: abs(semitones - note.mean) <= Self.tolerance)
        }
        if change.count == 0, note.count == 0 || abs(semitones - note.mean) <= Self.tolerance {
            note.add(semitones, frame, at: time, frameSeconds)
            return
        }
        change.add(semitones, frame, at: time, frameSeconds)
        for index in rests.indices { rests[index].add(semitones) }
        if isNextNote {
            let next = change
            change = Segment()
            finishNote(&events)
            note = next
        } else if abs(change.mean - note.mean) < Self.returned {
            endChange(isPart: true)
        }
    }

    /// Whether the change is the next note.
    private var isNextNote: Bool {
        let distance = abs(change.mean - note.mean)
        return rests.contains { $0.isFarther(than: Self.tolerance, from: note.mean) }
            || change.count >= jumpFrames && distance > Self.jump
            || change.count >= cycleFrames && note.count >= establishedFrames && distance > Self.tolerance
    }

    /// Ends the change without a new note.
    ///
    /// - Parameter isPart: Whether it was a part of the note, if it was not too far away.
    private mutating func endChange(isPart: Bool) {
        if isPart, change.count > 0, abs(change.mean - note.mean) < Self.farthest { note.add(change) }
        change = Segment()
        for index in rests.indices { rests[index].reset() }
    }

    private mutating func finishNote(_ events: inout EventList) {
        // A shorter change at the end is the transition to the next note.
        endChange(isPart: change.count >= jumpFrames)
        if let event = event(of: note) { events.append(event) }
        note = Segment()
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
}
