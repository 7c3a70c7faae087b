internal import HemiolaFiles
internal import HemiolaSignal

/// Encodes beats as a Standard MIDI File (1.0, format 1) with two tracks: a map of tempi and time signatures, and a
/// metronome note on each beat.
///
/// Each interval between two beats is one quarter note. An interval above 16.8 s, the longest quarter note, is divided into several.
struct MIDIFile {
    /// Ticks per quarter note.
    private static let division: UInt16 = 480
    /// Lengths of a quarter note in microseconds: three bytes in the tempo event.
    private static let quarters = 1...0xFF_FFFF
    /// Beats per bar that a time signature can state, and those where no bar is known.
    private static let (barLengths, defaultBar) = (1...255, 4)
    /// Length of a metronome note in ticks.
    private static let clickLength = 60
    /// General MIDI percussion: Metronome Bell on downbeats, Metronome Click on the other beats.
    private static let (bell, click): (UInt8, UInt8) = (34, 33)

    /// Times in seconds, ascending, and positions in the bar.
    var beats: [(time: Double, position: Int?)]

    /// The contents of the file.
    var bytes: [UInt8] {
        MIDIChunk.header(format: 1, tracks: 2, division: Self.division) + tempoTrack + clickTrack
    }

    /// Successive quarter notes of equal length.
    private struct Quarters {
        /// In microseconds.
        var length: Int
        var count: Int
    }

    /// For each beat, the quarter notes between the previous beat (0 for the first) and this one. Empty for a first beat at 0.
    private var intervals: [[Quarters]] {
        var last = 0
        // Differences of rounded times, so that rounding errors do not add up.
        let times = beats.map { Int(clamping: ($0.time * 1e6).rounded()) }
        return times.enumerated().map { index, time in
            defer { last = max(last, time) }
            let length = time - last
            if index == 0, length <= 0 { return [] }
            return Self.quarters(lasting: max(length, 1))
        }
    }

    /// The smallest number of quarter notes of the given total length. They differ by at most one microsecond.
    private static func quarters(lasting length: Int) -> [Quarters] {
        let count = (length - 1) / quarters.upperBound + 1
        let (each, rest) = length.quotientAndRemainder(dividingBy: count)
        return [Quarters(length: each + 1, count: rest), Quarters(length: each, count: count - rest)].filter { $0.count > 0 }
    }

    private var tempoTrack: [UInt8] {
        let division = Int(Self.division)
        var events = timeSignatures.map { (tick: $0.quarter * division, order: 0, bytes: MIDIChunk.timeSignature(quarters: $0.length)) }
        var (tick, last) = (0, 0)
        for quarters in intervals.joined() {
            if quarters.length != last { events.append((tick, 1, MIDIChunk.tempo(quarter: quarters.length))) }
            last = quarters.length
            tick += quarters.count * division
        }
        events.sort { ($0.tick, $0.order) < ($1.tick, $1.order) }
        var track: [UInt8] = []
        var written = 0
        for event in events {
            track += MIDIChunk.delay(event.tick - written) + event.bytes
            written = event.tick
        }
        return MIDIChunk.track(track, wait: tick - written)
    }

    /// The quarter notes at which the time signature changes, and those per bar from there: each downbeat begins a bar. What precedes the
    /// first downbeat, or is longer than a signature can state, begins with a shorter bar. 4/4 where no bar is known.
    private var timeSignatures: [(quarter: Int, length: Int)] {
        var bars: [(start: Int, positions: [Int?])] = []
        var quarter = 0
        for (beat, quarters) in zip(beats, intervals) {
            quarter += quarters.reduce(0) { $0 + $1.count }
            if beat.position == 1 { bars.append((quarter, [])) }
            if !bars.isEmpty { bars[bars.count - 1].positions.append(beat.position) }
        }
        let lengths = zip(bars, bars.dropFirst()).map { $1.start - $0.start }
        var current = lengths.first.flatMap { Self.barLengths.contains($0) ? $0 : nil } ?? Self.defaultBar
        var signatures: [(quarter: Int, length: Int)] = []
        /// Begins bars of the current length that end at a quarter note, after a shorter one where they do not fit.
        func fill(from start: Int, to end: Int) {
            let rest = (end - start) % current
            if rest > 0 { signatures.append((start, rest)) }
            if rest > 0 || signatures.isEmpty { signatures.append((start + rest, current)) }
        }
        fill(from: 0, to: bars.first?.start ?? 0)
        for (bar, length) in zip(bars, lengths) where length != current {
            // Bars whose downbeats are unknown.
            let isSeveral = length % current == 0 && bar.positions.allSatisfy { $0 ?? 1 <= current }
            if isSeveral || !Self.barLengths.contains(length) {
                fill(from: bar.start, to: bar.start + length)
            } else {
                current = length
                signatures.append((bar.start, length))
            }
        }
        return signatures
    }

    private var clickTrack: [UInt8] {
        var track: [UInt8] = []
        var sounding = 0
        for (beat, quarters) in zip(beats, intervals) {
            let wait = quarters.reduce(0) { $0 + $1.count } * Int(Self.division) - sounding
            let note = beat.position == 1 ? Self.bell : Self.click
            track += MIDIChunk.delay(wait) + [0x99, note, beat.position == 1 ? 127 : 96]
            track += MIDIChunk.delay(Self.clickLength) + [0x89, note, 0]
            sounding = Self.clickLength
        }
        return MIDIChunk.track(track)
    }
}
