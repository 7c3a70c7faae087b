/// A parameter of a Vamp plugin.
package struct VampParameter: Sendable, Hashable {
    /// Its name for programs.
    package var identifier: String
    /// Its name for users.
    package var name: String
    /// Its description, often empty.
    package var summary: String
    /// The unit of its value, often empty.
    package var unit: String
    /// The smallest and the largest value.
    package var minimum: Float
    /// The largest value.
    package var maximum: Float
    /// The value when none is set.
    package var defaultValue: Float
    /// The distance of two values; nil: every value within the range is valid.
    package var step: Float?
    /// The names of the values from the minimum on, in steps; often empty.
    package var valueNames: [String]
}

/// The time positions of the features of an output.
package enum VampSampleType: String, Sendable, Hashable, CaseIterable {
    /// One feature per step, at the time of the step.
    case oneSamplePerStep = "one-sample-per-step"
    /// At equal intervals, which are not those of the steps.
    case fixedSampleRate = "fixed-sample-rate"
    /// Each feature has a time of its own.
    case variableSampleRate = "variable-sample-rate"
}

/// An output of a Vamp plugin, as the plugin declares it for its parameters and block size.
package struct VampOutput: Sendable, Hashable {
    /// Its name for programs.
    package var identifier: String
    /// Its name for users.
    package var name: String
    /// Its description, often empty.
    package var summary: String
    /// The unit of its values, often empty.
    package var unit: String
    /// Values per feature; nil: it differs.
    package var binCount: Int?
    /// The smallest and the largest value; nil: unknown.
    package var minimum: Float?
    /// The largest value; nil: unknown.
    package var maximum: Float?
    /// The time positions of its features.
    package var sampleType: VampSampleType
    /// Features per second, with fixed sample rate; else 0, or the resolution of their times.
    package var sampleRate: Float

    /// Whether every step has a fixed number of values.
    package var isDense: Bool { sampleType == .oneSamplePerStep && (binCount ?? 0) > 0 }
}

/// The kind of input that a Vamp plugin reads.
package enum VampInputDomain: String, Sendable, Hashable {
    /// Samples.
    case time = "time-domain"
    /// Complex spectra.
    case frequency = "frequency-domain"
}

/// A plugin of a Vamp library, as the library declares it.
package struct VampPluginDescription: Sendable, Hashable {
    /// The name of its library.
    package var library: String
    /// Its name for programs.
    package var identifier: String
    /// Its name for users.
    package var name: String
    /// Its description, often empty.
    package var summary: String
    /// Its maker.
    package var maker: String
    /// Its copyright.
    package var copyright: String
    /// Its version.
    package var version: Int
    /// The kind of input that it reads.
    package var inputDomain: VampInputDomain
    /// Its parameters.
    package var parameters: [VampParameter]
    /// The names of its programs: sets of values of parameters.
    package var programs: [String]

    /// `LIBRARY:PLUGIN`.
    package var key: String { "\(library):\(identifier)" }
}

/// A time of a Vamp plugin: seconds and nanoseconds, which have the same sign.
package struct VampTime: Sendable, Hashable {
    /// Whole seconds.
    package var seconds: Int32
    /// Nanoseconds beyond the seconds.
    package var nanoseconds: Int32

    /// A time from its parts.
    package init(seconds: Int32, nanoseconds: Int32) {
        (self.seconds, self.nanoseconds) = (seconds, nanoseconds)
    }

    /// The time of a frame, 0…, to the nearest nanosecond.
    package init(frame: Int64, sampleRate: Int) {
        let rate = Int64(sampleRate)
        seconds = Int32(clamping: frame / rate)
        nanoseconds = Int32((Double(frame % rate) / Double(rate) * 1e9 + 0.5).rounded(.down))
    }

    /// In seconds.
    package var value: Double { Double(seconds) + Double(nanoseconds) / 1e9 }
}

/// A feature that a Vamp plugin returns.
package struct VampFeature: Sendable, Hashable {
    /// Its time; nil: that of the step.
    package var time: VampTime?
    /// Its duration; nil: it has none.
    package var duration: VampTime?
    /// Its values.
    package var values: [Float]
    /// Its label, often empty.
    package var label: String
}
