internal import HemiolaRecords
internal import HemiolaSignal
internal import HemiolaVisualizer

/// The probability distribution of the time on a preset, in seconds.
enum DurationDistribution: Sendable, Equatable {
    /// Uniform between the minimum and minimum + `extra`.
    case uniform(Double, extra: Double = 0)
    /// Normal, with mean and standard deviation.
    case normal(Double, deviation: Double)

    /// One random duration in seconds.
    func random(using generator: inout SplitMix64) -> Double {
        switch self {
        case .uniform(let seconds, let extra): seconds + extra * generator.uniform()
        case .normal(let seconds, let deviation): seconds + deviation * generator.normal()
        }
    }
}

/// When presets change automatically: a change mode with its parameters.
struct ChangeTiming: Sendable, Equatable {
    /// The audio event that changes the preset, besides the timer.
    enum Trigger: Sendable, Equatable {
        case none
        /// A number of bars or beats has passed, while the confidence of the beat is at least `confidence`, 0…1.
        case beats(BeatCount, confidence: Double)
        /// The level rises by so many decibels over that of the last seconds.
        case drop(decibels: Double)
        /// A segment of the music begins.
        case segments
    }

    /// Time on a preset; nil: no timer.
    var duration: DurationDistribution?
    var trigger = Trigger.none
    /// Minimum time on a preset, in seconds. Requests from clients are not delayed.
    var minimum = 0.0
    /// Maximum time on a preset, in seconds; nil: unlimited.
    var maximum: Double?
    /// Blend time of an automatic change, in seconds.
    var blend: Double
    /// Blend time of a requested change, in seconds.
    var requestBlend: Double

    /// Random time until the timer changes the next preset, within the minimum and maximum; nil: no timer.
    func randomDuration(using generator: inout SplitMix64) -> Double? {
        let seconds = duration.map { max(minimum, $0.random(using: &generator)) }
        guard let maximum else { return seconds }
        return min(seconds ?? maximum, maximum)
    }
}

/// An automatic preset change with its time.
struct ScheduledChange: Sendable, Equatable {
    /// Stream time in seconds.
    var time: Double
    var reason: PresetChange.Reason
}

/// The times of a batch and the features that the preset schedule reads from its row.
struct BatchFeatures: Sendable {
    /// Stream time of the start of the batch, in seconds.
    var start: Double
    /// Stream time of its end, in seconds.
    var end: Double
    /// Length of a full batch in seconds.
    var duration: Double
    /// RMS level of the mix in dBFS; NaN without the analyzer `levels`.
    var level = Double.nan
    /// Confidence of the beat, 0…1; NaN without the analyzer `beat`.
    var confidence = Double.nan
}
