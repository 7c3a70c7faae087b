internal import HemiolaSignal

/// How long a preset stays.
enum Period: Sendable, Equatable {
    case fixed(Double)
    /// Between the first and the sum of both.
    case uniform(Double, extra: Double)
    case normal(Double, deviation: Double)

    /// Seconds.
    func draw(using generator: inout ShowGenerator) -> Double {
        switch self {
        case .fixed(let seconds): seconds
        case .uniform(let seconds, let extra): seconds + extra * generator.uniform()
        case .normal(let seconds, let deviation): seconds + deviation * generator.normal()
        }
    }
}

/// When presets change by themselves: a mode with all its numbers.
struct Pacing: Sendable, Equatable {
    /// What besides time changes the preset.
    enum Trigger: Sendable, Equatable {
        case none
        /// Loudness above a threshold that every cut doubles.
        case milkDrop(level: Double, halfLife: Double)
        /// A jump of the volume, once the preset has stayed so long.
        case projectM(jump: Double, earliest: Double)
        /// Every so many bars or beats, while the beat is known that well.
        case beats(BeatCount, confidence: Double)
        /// The music comes back so many decibels louder.
        case drop(decibels: Double)
    }

    /// nil: time alone changes nothing.
    var period: Period?
    var trigger = Trigger.none
    /// Seconds that every preset stays at least, whatever happens.
    var minimum = 0.0
    /// Seconds after which it goes, whatever does not happen.
    var maximum: Double?
    /// Seconds of a change that happens by itself.
    var blend: Double
    /// Seconds of a change that somebody asked for.
    var requestBlend: Double

    /// Whether it ever changes anything.
    var isAutomatic: Bool { period != nil || maximum != nil || trigger != .none }

    /// How long the next preset stays at most; nil: until something happens.
    func draw(using generator: inout ShowGenerator) -> Double? {
        let drawn = period.map { max(minimum, $0.draw(using: &generator)) }
        guard let maximum else { return drawn }
        return min(drawn ?? maximum, maximum)
    }
}

/// A change that shall happen.
struct Change: Sendable, Equatable {
    /// Seconds of stream time.
    var time: Double
    /// Seconds from one picture to the next; 0 is a hard cut.
    var blend: Double
    var reason: PresetChange.Reason
}

/// What a batch says to the show.
struct ShowMoment: Sendable {
    /// Seconds of stream time at which the batch begins and ends.
    var start: Double
    var end: Double
    /// Seconds of a whole batch.
    var duration: Double
    /// Around 1 in the milkdrop profile; NaN when there are none.
    var bass = Double.nan
    var mid = Double.nan
    var treb = Double.nan
    var volume = Double.nan
    /// RMS of the mix in dBFS; NaN when nobody measures it.
    var level = Double.nan
    /// How well the beat is known now; NaN when nobody says.
    var confidence = Double.nan
}
