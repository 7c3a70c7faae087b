public import HemiolaSignal

/// The outputs of an analyzer for a stream, and the spectra that it requests. Fixed from `prepare` on.
///
///     var outputs = AnalyzerOutputs()
///     rms = outputs.add(Feature("rms_db", .decibels, …))      // a handle into the row
///     spectrum = outputs.request(SpectrumRequest(size: 2048)) // a handle into the hop
public struct AnalyzerOutputs: Sendable, Hashable {
    /// The columns, in the order of the row.
    public internal(set) var features: [Feature] = []
    /// The event outputs.
    public internal(set) var events: [EventOutput] = []
    /// The requested spectra, in the order of their handles.
    public private(set) var spectra: [SpectrumRequest] = []
    /// Values that one batch takes in the row.
    public private(set) var width = 0
    /// The delay of the features relative to the audio, in frames.
    public var latencyFrames: Int64 = 0
    /// Whether an output never depends on audio after the end of its batch.
    public var isCausal = true

    /// No outputs yet.
    public init() {}

    /// Declares a feature. The handle is good for every row of this stream.
    public mutating func add(_ feature: Feature) -> FeatureHandle {
        precondition(feature.count >= 0, "a feature has a count of 0 or more")
        let names = features.flatMap(\.recordKeys)
        precondition(feature.recordKeys.allSatisfy { !names.contains($0) }, "feature names are unique: \(feature.name)")
        defer {
            features.append(feature)
            width += feature.count
        }
        return FeatureHandle(offset: width, count: feature.count)
    }

    /// Declares an event output.
    public mutating func add(_ event: EventOutput) {
        precondition(!events.contains { $0.name == event.name }, "event names are unique: \(event.name)")
        events.append(event)
    }

    /// Declares that the analyzer emits records of its own type in this stream.
    public mutating func add(_ type: RecordType) {
        add(EventOutput(type.name, .none, type.summary))
    }

    /// Requests spectra. Equal requests of several analyzers are computed once.
    public mutating func request(_ spectrum: SpectrumRequest) -> SpectrumHandle {
        defer { spectra.append(spectrum) }
        return SpectrumHandle(index: spectra.count)
    }
}

/// An event output: records at irregular times.
public struct EventOutput: Sendable, Hashable {
    /// The record's type for `onset` and `beat`, else the `output` of an `event` record.
    public var name: String
    /// The unit of its values.
    public var unit: Unit
    /// One sentence.
    public var summary: String

    /// An event output of that name and unit, with a description.
    public init(_ name: String, _ unit: Unit, _ summary: String) {
        self.name = name
        self.unit = unit
        self.summary = summary
    }
}
