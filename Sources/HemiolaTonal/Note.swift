public import HemiolaRecords

extension RecordType {
    /// A note of a single voice has ended: ``Note``. Its time is that of its start.
    public static let note = RecordType(
        "note", "A note of a single voice. Written when it has ended; its time is that of its start.",
        fields: [
            .number("duration_s", unit: .seconds, minimum: 0, "The duration."),
            .integer("midi", in: 0...127, "The nearest MIDI note number; 60 is middle C, 69 is A4."),
            .number("hz", unit: .hertz, minimum: 0, "The mean fundamental frequency."),
            .integer("velocity", in: 1...127, "The level: 127 is 0 dBFS, 1 is −60 dBFS or less."),
            .number("confidence", in: 0...1, "The mean probability that there is a pitch."),
        ])
}

/// A note of a single voice.
public struct Note: EventRecord, Hashable {
    /// In seconds.
    public var duration: Double
    /// The nearest MIDI note number, 0…127; 69 is A4.
    public var midi: Int
    /// The mean fundamental frequency, in hertz.
    public var frequency: Double
    /// The level as a MIDI velocity, 1…127: 127 is 0 dBFS, 1 is −60 dBFS or less.
    public var velocity: Int
    /// The mean probability that there is a pitch, 0…1.
    public var confidence: Double

    /// A note of that duration, pitch and velocity.
    public init(duration: Double, midi: Int, frequency: Double, velocity: Int, confidence: Double) {
        self.duration = duration
        self.midi = midi
        self.frequency = frequency
        self.velocity = velocity
        self.confidence = confidence
    }

    public init?(_ event: Event) {
        // The note of another program may have no MIDI number: then it is none.
        guard event.type == .note, let midi = event[1].integer, (0...127).contains(midi) else { return nil }
        self.init(
            duration: event[0].number ?? .nan, midi: midi, frequency: event[2].number ?? .nan,
            velocity: min(max(event[3].integer ?? 64, 1), 127), confidence: event[4].number ?? .nan)
    }

    public func event(at time: Double) -> Event {
        Event(at: time, .note, .number(duration), .integer(midi), .number(frequency), .integer(velocity), .number(confidence))
    }
}
