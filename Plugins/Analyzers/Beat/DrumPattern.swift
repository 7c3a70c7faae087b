/// Strokes that repeat from bar to bar: announces those that the last two bars had at the same place.
///
/// Places are in bars since the bars are known: the whole part counts bars, the rest is the phase of the bar. No allocation.
struct DrumPattern: Sendable {
    /// A stroke that is expected at a place.
    private struct Expected: Sendable {
        var place: Double
        var strength: Double
    }

    /// How far strokes of different bars, and an announced and a heard one, may be apart, in seconds.
    private static let tolerance = 0.05
    /// Most strokes of a voice that are stored: those of two bars of rolls.
    private static let capacity = 64

    /// By voice: the places of the strokes of the last two bars, the expected ones, and those that have been announced.
    private var heard: [[Double]]
    private var expected: [[Expected]]
    private var announced: [[Double]]
    /// The place of the last frame, and the bar's length in seconds; nil while the bars are unknown.
    private var now: (place: Double, barSeconds: Double)?

    init() {
        heard = DrumVoice.allCases.map { _ in [] }
        expected = DrumVoice.allCases.map { _ in [] }
        announced = heard
        for voice in heard.indices {
            heard[voice].reserveCapacity(Self.capacity)
            expected[voice].reserveCapacity(Self.capacity)
            announced[voice].reserveCapacity(Self.capacity)
        }
    }

    /// Moves on to a frame.
    ///
    /// - Parameter bar: nil: unknown, and everything is forgotten.
    mutating func advance(_ bar: BarState?) {
        guard let bar else { return forget() }
        var place = bar.phase
        if let now {
            place += now.place.rounded(.down)
            if place < now.place - 0.5 { place += 1 }
            // The bars begin elsewhere, or the tempo is another: what was heard says nothing any more.
            if abs(place - now.place) > 0.25 || abs(bar.duration / now.barSeconds - 1) > 0.2 { forget() }
        }
        now = (place, bar.duration)
    }

    private mutating func forget() {
        now = nil
        for voice in heard.indices {
            heard[voice].removeAll(keepingCapacity: true)
            expected[voice].removeAll(keepingCapacity: true)
            announced[voice].removeAll(keepingCapacity: true)
        }
    }

    /// Adds a stroke that was heard.
    ///
    /// - Parameter age: The time since it, in seconds.
    /// - Returns: Whether it had been announced.
    mutating func add(_ stroke: DrumDetector.Stroke, age: Double) -> Bool {
        guard let now else { return false }
        let (voice, place, tolerance) = (stroke.voice.rawValue, now.place - age / now.barSeconds, Self.tolerance / now.barSeconds)
        heard[voice].removeAll { $0 < place - 1 - tolerance }
        announced[voice].removeAll { $0 < place - tolerance }
        if let before = heard[voice].first(where: { abs($0 + 1 - place) <= tolerance }), expected[voice].count < Self.capacity {
            expected[voice].append(Expected(place: (place + before + 1) / 2 + 1, strength: stroke.strength))
        }
        if heard[voice].count < Self.capacity { heard[voice].append(place) }
        return announced[voice].contains { abs($0 - place) <= tolerance }
    }

    /// Returns the next stroke of a voice that is due within a time, and marks it as announced.
    ///
    /// - Parameter lead: In seconds after the last frame.
    /// - Returns: The time until it, in seconds, and its strength.
    mutating func next(_ voice: DrumVoice, within lead: Double) -> (seconds: Double, strength: Double)? {
        guard let now, let first = expected[voice.rawValue].first else { return nil }
        let seconds = (first.place - now.place) * now.barSeconds
        guard seconds <= lead else { return nil }
        expected[voice.rawValue].removeFirst()
        announced[voice.rawValue].append(first.place)
        return (seconds, first.strength)
    }
}
