internal import Glibc

/// The spacing of the frequency axis.
public enum FrequencyScale: String, CaseIterable, Sendable {
    /// Equal distances are equal ratios: octaves have the same height.
    case log
    /// The mel scale of M. Slaney's Auditory Toolbox: linear up to 1 kHz, logarithmic above.
    case mel
    /// Equal distances are equal differences in hertz.
    case linear

    /// The lowest frequency of a picture when none is given, in hertz.
    public var defaultMinimum: Double { self == .log ? 30 : 0 }

    /// The place of a frequency on the scale, in the scale's own unit.
    func place(of frequency: Double) -> Double {
        switch self {
        case .log: logarithm(frequency)
        case .mel: frequency < 1000 ? frequency * 3 / 200 : 15 + logarithm(frequency / 1000) * 27 / logarithm(6.4)
        case .linear: frequency
        }
    }

    /// The frequency at a place, in hertz.
    func frequency(at place: Double) -> Double {
        switch self {
        case .log: exp(place)
        case .mel: place < 15 ? place * 200 / 3 : 1000 * exp((place - 15) * logarithm(6.4) / 27)
        case .linear: place
        }
    }
}

/// A frequency axis: the range of frequencies of a picture.
struct FrequencyAxis: Equatable {
    let scale: FrequencyScale
    let minimum: Double
    let maximum: Double

    /// - Parameters:
    ///   - minimum: In hertz; nil: the default of the scale. On a logarithmic scale at least 1.
    ///   - maximum: In hertz; nil: 20 kHz. At most half the sample rate.
    init(_ scale: FrequencyScale, minimum: Double?, maximum: Double?, sampleRate: Double) {
        self.scale = scale
        let highest = max(20, min(maximum ?? 20_000, sampleRate / 2))
        let lowest = scale == .log ? 1.0 : 0
        self.maximum = highest
        self.minimum = max(lowest, min(minimum ?? scale.defaultMinimum, highest / 2))
    }

    /// The distance of a frequency from the lower end, 0…1; outside of it for other frequencies.
    func fraction(of frequency: Double) -> Double {
        let (low, high) = (scale.place(of: minimum), scale.place(of: maximum))
        return (scale.place(of: frequency) - low) / (high - low)
    }

    /// The frequency at a distance from the lower end, in hertz.
    func frequency(at fraction: Double) -> Double {
        let (low, high) = (scale.place(of: minimum), scale.place(of: maximum))
        return scale.frequency(at: low + fraction * (high - low))
    }
}

/// The natural logarithm. The function `log` has the name of a case.
private func logarithm(_ value: Double) -> Double { log(value) }
