/// Encodes the parts of a Standard MIDI File (1.0).
public enum MIDIChunk {
    /// The header of a file.
    ///
    /// - Parameters:
    ///   - format: 0: one track; 1: several tracks that are played at the same time.
    ///   - tracks: The number of tracks.
    ///   - division: Ticks per quarter note.
    public static func header(format: UInt16, tracks: UInt16, division: UInt16) -> [UInt8] {
        chunk("MThd", bigEndian(format) + bigEndian(tracks) + bigEndian(division))
    }

    /// A track of events, each of which begins with its delay in ticks. The end of the track is appended.
    ///
    /// - Parameters:
    ///   - events: The bytes of the events.
    ///   - wait: Ticks from the last event to the end of the track.
    public static func track(_ events: [UInt8], wait: Int = 0) -> [UInt8] {
        chunk("MTrk", events + delay(wait) + [0xFF, 0x2F, 0])
    }

    /// A tempo event without its delay.
    ///
    /// - Parameter quarter: The length of a quarter note in microseconds, 1…0xFFFFFF.
    public static func tempo(quarter: Int) -> [UInt8] {
        [0xFF, 0x51, 3] + bigEndian(UInt32(quarter)).dropFirst()
    }

    /// A time signature without its delay: bars of so many quarter notes, 1...255, and a metronome click on each.
    public static func timeSignature(quarters: Int) -> [UInt8] {
        // Quarter notes are 2 to the power of -2; 24 MIDI clocks per click; 8 thirty-second notes per quarter note.
        [0xFF, 0x58, 4, UInt8(quarters), 2, 24, 8]
    }

    /// A time signature of so many sixteenth notes, 1…255.
    public static func timeSignature(sixteenths: Int) -> [UInt8] { [0xFF, 0x58, 4, UInt8(sixteenths), 4, 24, 8] }

    /// The delay of the next event in ticks. The format has four bytes for one: empty texts divide a longer one.
    public static func delay(_ ticks: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = ticks
        while rest > longestDelay {
            bytes += variableLength(longestDelay) + [0xFF, 0x01, 0]
            rest -= longestDelay
        }
        return bytes + variableLength(rest)
    }

    private static let longestDelay = 0xFFF_FFFF

    /// A variable-length quantity: seven bits per byte, most significant first.
    public static func variableLength(_ number: Int) -> [UInt8] {
        var bytes = [UInt8(number & 0x7F)]
        var rest = number >> 7
        while rest > 0 {
            bytes.insert(UInt8(rest & 0x7F) | 0x80, at: 0)
            rest >>= 7
        }
        return bytes
    }

    private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        Array(name.utf8) + bigEndian(UInt32(content.count)) + content
    }

    private static func bigEndian<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
        (0..<MemoryLayout<Number>.size).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
