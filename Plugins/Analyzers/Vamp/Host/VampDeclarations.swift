/// A parameter of a Vamp plugin.
struct VampParameter: Sendable, Hashable {
    /// Its name for programs.
    var identifier: String
    /// Its name for users.
    var name: String
    /// Its description, often empty.
    var summary: String
    /// The unit of its value, often empty.
    var unit: String
    /// The smallest and the largest value.
    var minimum: Float
    /// The largest value.
    var maximum: Float
    /// The value when none is set.
    var defaultValue: Float
    /// The distance of two values; nil: every value within the range is valid.
    var step: Float?
    /// The names of the values from the minimum on, in steps; often empty.
    var valueNames: [String]
}

/// The time positions of the features of an output.
enum VampSampleType: String, Sendable, Hashable, CaseIterable {
    /// One feature per step, at the time of the step.
    case oneSamplePerStep = "one-sample-per-step"
    /// At equal intervals, which are not those of the steps.
    case fixedSampleRate = "fixed-sample-rate"
    /// Each feature has a time of its own.
    case variableSampleRate = "variable-sample-rate"
}

/// An output of a Vamp plugin, as the plugin declares it for its parameters and block size.
struct VampOutput: Sendable, Hashable {
    /// Its name for programs.
    var identifier: String
    /// Its name for users.
    var name: String
    /// Its description, often empty.
    var summary: String
    /// The unit of its values, often empty.
    var unit: String
    /// Values per feature; nil: it differs.
    var binCount: Int?
    /// The smallest and the largest value; nil: unknown.
    var minimum: Float?
    /// The largest value; nil: unknown.
    var maximum: Float?
    /// The time positions of its features.
    var sampleType: VampSampleType
    /// Features per second, with fixed sample rate; else 0, or the resolution of their times.
    var sampleRate: Float

    /// Whether every step has a fixed number of values.
    var isDense: Bool { sampleType == .oneSamplePerStep && (binCount ?? 0) > 0 }
}

/// The kind of input that a Vamp plugin reads.
enum VampInputDomain: String, Sendable, Hashable {
    /// Samples.
    case time = "time-domain"
    /// Complex spectra.
    case frequency = "frequency-domain"
}

/// A plugin of a Vamp library, as the library declares it.
struct VampPluginDescription: Sendable, Hashable {
    /// The name of its library.
    var library: String
    /// Its name for programs.
    var identifier: String
    /// Its name for users.
    var name: String
    /// Its description, often empty.
    var summary: String
    /// Its maker.
    var maker: String
    /// Its copyright.
    var copyright: String
    /// Its version.
    var version: Int
    /// The kind of input that it reads.
    var inputDomain: VampInputDomain
    /// Its parameters.
    var parameters: [VampParameter]
    /// The names of its programs: sets of values of parameters.
    var programs: [String]

    /// `LIBRARY:PLUGIN`.
    var key: String { "\(library):\(identifier)" }
}

/// A time of a Vamp plugin: seconds and nanoseconds, which have the same sign.
struct VampTime: Sendable, Hashable {
    /// Whole seconds.
    var seconds: Int32
    /// Nanoseconds beyond the seconds.
    var nanoseconds: Int32

    /// A time from its parts.
    init(seconds: Int32, nanoseconds: Int32) {
        (self.seconds, self.nanoseconds) = (seconds, nanoseconds)
    }

    /// The time of a frame, 0…, to the nearest nanosecond.
    init(frame: Int64, sampleRate: Int) {
        let rate = Int64(sampleRate)
        seconds = Int32(clamping: frame / rate)
        nanoseconds = Int32((Double(frame % rate) / Double(rate) * 1e9 + 0.5).rounded(.down))
    }

    /// In seconds.
    var value: Double { Double(seconds) + Double(nanoseconds) / 1e9 }
}

/// A feature that a Vamp plugin returns.
struct VampFeature: Sendable, Hashable {
    /// Its time; nil: that of the step.
    var time: VampTime?
    /// Its duration; nil: it has none.
    var duration: VampTime?
    /// Its values.
    var values: [Float]
    /// Its label, often empty.
    var label: String
}
