/// A parameter of a Vamp plugin.
public struct VampParameter: Sendable, Hashable {
    /// Its name for programs.
    public var identifier: String
    /// Its name for users.
    public var name: String
    /// Its description, often empty.
    public var summary: String
    /// The unit of its value, often empty.
    public var unit: String
    /// The smallest and the largest value.
    public var minimum: Float
    /// The largest value.
    public var maximum: Float
    /// The value when none is set.
    public var defaultValue: Float
    /// The distance of two values; nil: every value within the range is valid.
    public var step: Float?
    /// The names of the values from the minimum on, in steps; often empty.
    public var valueNames: [String]
}

/// The time positions of the features of an output.
public enum VampSampleType: String, Sendable, Hashable, CaseIterable {
    /// One feature per step, at the time of the step.
    case oneSamplePerStep = "one-sample-per-step"
    /// At equal intervals, which are not those of the steps.
    case fixedSampleRate = "fixed-sample-rate"
    /// Each feature has a time of its own.
    case variableSampleRate = "variable-sample-rate"
}

/// An output of a Vamp plugin, as the plugin declares it for its parameters and block size.
public struct VampOutput: Sendable, Hashable {
    /// Its name for programs.
    public var identifier: String
    /// Its name for users.
    public var name: String
    /// Its description, often empty.
    public var summary: String
    /// The unit of its values, often empty.
    public var unit: String
    /// Values per feature; nil: it differs.
    public var binCount: Int?
    /// The smallest and the largest value; nil: unknown.
    public var minimum: Float?
    /// The largest value; nil: unknown.
    public var maximum: Float?
    /// The time positions of its features.
    public var sampleType: VampSampleType
    /// Features per second, with fixed sample rate; else 0, or the resolution of their times.
    public var sampleRate: Float

    /// Whether every step has a fixed number of values.
    public var isDense: Bool { sampleType == .oneSamplePerStep && (binCount ?? 0) > 0 }
}

/// The kind of input that a Vamp plugin reads.
public enum VampInputDomain: String, Sendable, Hashable {
    /// Samples.
    case time = "time-domain"
    /// Complex spectra.
    case frequency = "frequency-domain"
}

/// A plugin of a Vamp library, as the library declares it.
public struct VampPluginDescription: Sendable, Hashable {
    /// The name of its library.
    public var library: String
    /// Its name for programs.
    public var identifier: String
    /// Its name for users.
    public var name: String
    /// Its description, often empty.
    public var summary: String
    /// Its maker.
    public var maker: String
    /// Its copyright.
    public var copyright: String
    /// Its version.
    public var version: Int
    /// The kind of input that it reads.
    public var inputDomain: VampInputDomain
    /// Its parameters.
    public var parameters: [VampParameter]
    /// The names of its programs: sets of values of parameters.
    public var programs: [String]

    /// `LIBRARY:PLUGIN`.
    public var key: String { "\(library):\(identifier)" }
}

/// A time of a Vamp plugin: seconds and nanoseconds, which have the same sign.
public struct VampTime: Sendable, Hashable {
    /// Whole seconds.
    public var seconds: Int32
    /// Nanoseconds beyond the seconds.
    public var nanoseconds: Int32

    /// A time from its parts.
    public init(seconds: Int32, nanoseconds: Int32) {
        (self.seconds, self.nanoseconds) = (seconds, nanoseconds)
    }

    /// The time of a frame, 0…, to the nearest nanosecond.
    public init(frame: Int64, sampleRate: Int) {
        let rate = Int64(sampleRate)
        seconds = Int32(clamping: frame / rate)
        nanoseconds = Int32((Double(frame % rate) / Double(rate) * 1e9 + 0.5).rounded(.down))
    }

    /// In seconds.
    public var value: Double { Double(seconds) + Double(nanoseconds) / 1e9 }
}

/// A feature that a Vamp plugin returns.
public struct VampFeature: Sendable, Hashable {
    /// Its time; nil: that of the step.
    public var time: VampTime?
    /// Its duration; nil: it has none.
    public var duration: VampTime?
    /// Its values.
    public var values: [Float]
    /// Its label, often empty.
    public var label: String
}
