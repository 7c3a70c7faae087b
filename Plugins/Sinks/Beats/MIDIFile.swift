/// Encodes beats as a Standard MIDI File (1.0, format 1) with two tracks: a tempo map and a metronome note on each beat.
///
/// Each interval between two beats is one quarter note. An interval above 16.8 s, the longest quarter note, is divided into several.
struct MIDIFile {
    /// Ticks per quarter note.
    private static let division: UInt16 = 480
    /// Lengths of a quarter note in microseconds: three bytes in the tempo event.
    private static let quarters = 1...0xFF_FFFF
    /// Length of a metronome note in ticks.
    private static let clickLength = 60
    /// General MIDI percussion: Metronome Bell on downbeats, Metronome Click on the other beats.
    private static let (bell, click): (UInt8, UInt8) = (34, 33)

    /// Times in seconds, ascending, and positions in the bar.
    var beats: [(time: Double, position: Int?)]

    /// The contents of the file.
    var bytes: [UInt8] {
        Self.chunk("MThd", [0, 1, 0, 2] + Self.bigEndian(Self.division)) + Self.chunk("MTrk", tempoTrack)
            + Self.chunk("MTrk", clickTrack)
    }

    /// For each beat, the quarter notes between the previous beat (0 for the first) and this one, in microseconds. Empty for a first
    /// beat at 0.
    private var intervals: [[Int]] {
        var last = 0
        // Differences of rounded times, so that rounding errors do not add up.
        let times = beats.map { Int(($0.time * 1e6).rounded()) }
        return times.enumerated().map { index, time in
            defer { last = max(last, time) }
            let length = time - last
            if index == 0, length <= 0 { return [] }
            return Self.quarters(lasting: max(length, 1))
        }
    }

    /// The smallest number of quarter notes of the given total length. They differ by at most one microsecond.
    private static func quarters(lasting length: Int) -> [Int] {
        let count = (length + quarters.upperBound - 1) / quarters.upperBound
        let (each, rest) = length.quotientAndRemainder(dividingBy: count)
        return (0..<count).map { each + ($0 < rest ? 1 : 0) }
    }

    private var tempoTrack: [UInt8] {
        var track: [UInt8] = []
        var last = 0
        var wait = 0
        for quarter in intervals.joined() {
            if quarter != last {
                track += Self.variableLength(wait) + [0xFF, 0x51, 3] + Self.bigEndian(UInt32(quarter)).dropFirst()
                wait = 0
                last = quarter
            }
            wait += Int(Self.division)
        }
        return track + Self.variableLength(wait) + [0xFF, 0x2F, 0]
    }

    private var clickTrack: [UInt8] {
        var track: [UInt8] = []
        var sounding = 0
        for (beat, quarters) in zip(beats, intervals) {
            let wait = quarters.count * Int(Self.division) - sounding
            let note = beat.position == 1 ? Self.bell : Self.click
            track += Self.variableLength(wait) + [0x99, note, beat.position == 1 ? 127 : 96]
            track += Self.variableLength(Self.clickLength) + [0x89, note, 0]
            sounding = Self.clickLength
        }
        return track + Self.variableLength(0) + [0xFF, 0x2F, 0]
    }

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        Array(name.utf8) + bigEndian(UInt32(content.count)) + content
    }

    private static func bigEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<MemoryLayout<Number>.size).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    /// A variable-length quantity: seven bits per byte, most significant first.
    private static func variableLength(_ number: Int) -> [UInt8] {
        var bytes = [UInt8(number & 0x7F)]
        var rest = number >> 7
        while rest > 0 {
            bytes.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
            rest >>= 7
        }
        return bytes
    }
}
