/// A message of the MIDI 1.0 protocol, as it is sent on a cable: one to three bytes.
public struct MIDIMessage: Sendable, Hashable {
    /// Channels as people count them.
    public static let channels = 1...16
    /// The clock pulses of a quarter note.
    public static let pulsesPerQuarter = 24
    /// The clock pulses of a sixteenth note, in which song positions are counted.
    public static let pulsesPerSixteenth = 6
    /// Song positions, in sixteenth notes: 14 bits.
    public static let songPositions = 0...0x3FFF

    /// Timing clock: one of 24 per quarter note.
    public static let clock = MIDIMessage(0xF8)
    /// The receiver starts at the beginning of its song, at the next clock.
    public static let start = MIDIMessage(0xFA)
    /// The receiver continues at its song position, at the next clock.
    public static let `continue` = MIDIMessage(0xFB)
    /// The receiver stops.
    public static let stop = MIDIMessage(0xFC)

    /// The bytes; those beyond `count` are 0.
    private let storage: (UInt8, UInt8, UInt8)
    /// The number of bytes, 1…3.
    public let count: Int

    private init(_ status: UInt8) {
        storage = (status, 0, 0)
        count = 1
    }

    /// A message from its bytes.
    ///
    /// - Parameters:
    ///   - status: The first byte, 0x80…0xFF.
    ///   - first: The first data byte, of messages that have one; 7 bits.
    ///   - second: The second data byte, of messages that have two; 7 bits.
    /// - Returns: nil for an undefined status, for the begin and the end of a system exclusive message, and without the data bytes that the
    ///   status requires.
    public init?(status: UInt8, _ first: UInt8? = nil, _ second: UInt8? = nil) {
        guard let dataCount = Self.dataCount(ofStatus: status), dataCount < 1 || first != nil, dataCount < 2 || second != nil
        else { return nil }
        storage = (status, dataCount > 0 ? (first ?? 0) & 0x7F : 0, dataCount > 1 ? (second ?? 0) & 0x7F : 0)
        count = 1 + dataCount
    }

    /// The data bytes of a message; nil for an undefined status, and for the begin and the end of a system exclusive message.
    static func dataCount(ofStatus status: UInt8) -> Int? {
        switch status {
        case 0x80...0xBF, 0xE0...0xEF, 0xF2: 2
        case 0xC0...0xDF, 0xF1, 0xF3: 1
        case 0xF6, 0xF8, 0xFA...0xFC, 0xFE, 0xFF: 0
        default: nil
        }
    }

    private init(_ status: UInt8, _ first: Int, _ second: Int) {
        storage = (status, UInt8(first & 0x7F), UInt8(second & 0x7F))
        count = 3
    }

    /// A note begins.
    ///
    /// - Parameters:
    ///   - note: 0…127; 60 is middle C.
    ///   - channel: 1…16.
    ///   - velocity: 1…127; 0 ends the note.
    public static func noteOn(_ note: Int, channel: Int, velocity: Int) -> MIDIMessage {
        MIDIMessage(0x90 | status(ofChannel: channel), note, velocity)
    }

    /// A note ends.
    public static func noteOff(_ note: Int, channel: Int) -> MIDIMessage {
        MIDIMessage(0x80 | status(ofChannel: channel), note, 0)
    }

    /// A controller, such as a fader, has a value.
    ///
    /// - Parameters:
    ///   - number: 0…127; 1 is the modulation wheel.
    ///   - channel: 1…16.
    ///   - value: 0…127.
    public static func controller(_ number: Int, channel: Int, value: Int) -> MIDIMessage {
        MIDIMessage(0xB0 | status(ofChannel: channel), number, value)
    }

    /// Sets the song position of a receiver that is stopped.
    ///
    /// - Parameter sixteenths: Sixteenth notes from the beginning of the song; taken modulo 16384.
    public static func songPosition(_ sixteenths: Int) -> MIDIMessage {
        MIDIMessage(0xF2, sixteenths, sixteenths >> 7)
    }

    private static func status(ofChannel channel: Int) -> UInt8 { UInt8((channel - channels.lowerBound) & 0x0F) }

    /// The first byte: the type of the message, and its channel if it has one.
    public var status: UInt8 { storage.0 }

    /// Whether it is a single byte that may stand between the bytes of another message.
    public var isRealTime: Bool { status >= 0xF8 }

    /// Whether it begins a note.
    public var isNoteOn: Bool { status & 0xF0 == 0x90 && storage.2 > 0 }

    /// Whether it ends a note: also with the velocity 0.
    public var isNoteOff: Bool { status & 0xF0 == 0x80 || status & 0xF0 == 0x90 && storage.2 == 0 }

    /// Whether it sets a controller: byte 1 is its number, byte 2 its value.
    public var isController: Bool { status & 0xF0 == 0xB0 }

    /// Whether it selects a program: byte 1 is its number.
    public var isProgramChange: Bool { status & 0xF0 == 0xC0 }

    /// A byte of the message, 0…`count - 1`.
    public subscript(_ index: Int) -> UInt8 {
        switch index {
        case 0: storage.0
        case 1: storage.1
        default: storage.2
        }
    }

    /// All bytes.
    public var bytes: [UInt8] { (0..<count).map { self[$0] } }

    public static func == (one: MIDIMessage, other: MIDIMessage) -> Bool {
        one.storage == other.storage && one.count == other.count
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(storage.0)
        hasher.combine(storage.1)
        hasher.combine(storage.2)
    }
}
