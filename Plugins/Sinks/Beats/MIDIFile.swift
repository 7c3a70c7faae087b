/// A Standard MIDI File (1.0, format 1) of beats: a tempo map in which every beat is a quarter note, or several where the next beat is
/// more than 16.8 s away, and a click on each beat.
struct MIDIFile {
    /// Ticks of a quarter note.
    private static let division: UInt16 = 480
    /// Microseconds of a quarter note: three bytes.
    private static let quarters = 1...0xFF_FFFF
    /// Ticks that a click lasts.
    private static let clickLength = 60
    /// General MIDI: the drum channel's metronome bell on a downbeat, its click on the others.
    private static let (bell, click): (UInt8, UInt8) = (34, 33)

    /// Seconds, ascending, and places in the bar.
    var beats: [(time: Double, position: Int?)]

    var bytes: [UInt8] {
        Self.chunk("MThd", [0, 1, 0, 2] + Self.bigEndian(Self.division)) + Self.chunk("MTrk", tempoTrack)
            + Self.chunk("MTrk", clickTrack)
    }

    /// The quarter notes from one beat to the next, in microseconds each. The first beat ends the quarters that begin at 0; with a
    /// beat at 0 there are none before it. What is longer than one quarter can be is several.
    private var intervals: [[Int]] {
        var last = 0
        // Of rounded times, so that no error adds up.
        let times = beats.map { Int(($0.time * 1e6).rounded()) }
        return times.enumerated().map { index, time in
            defer { last = max(last, time) }
            let length = time - last
            if index == 0, length <= 0 { return [] }
            return Self.quarters(lasting: max(length, 1))
        }
    }

    /// As few quarters as can be, which differ by a microsecond at most.
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

    /// Seven bits a byte, the highest first.
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
