/// What an analyzer will deliver from a stream and what it wants to be lent for it. Fixed from `prepare` on.
///
///     var outputs = AnalyzerOutputs()
///     rms = outputs.add(Feature("rms_db", .decibels, …))      // a handle into the row
///     spectrum = outputs.request(SpectrumRequest(size: 2048)) // a handle into the hop
public struct AnalyzerOutputs: Sendable, Hashable {
    /// The columns, in the order of the row.
    public private(set) var features: [Feature] = []
    /// The sparse outputs.
    public private(set) var events: [EventOutput] = []
    /// The spectra asked for, in the order of their handles.
    public private(set) var spectra: [SpectrumRequest] = []
    /// Values that one batch takes in the row.
    public private(set) var width = 0
    /// How far the features lie behind the audio, in frames.
    public var latencyFrames: Int64 = 0
    /// Whether an output never depends on audio after the end of its batch.
    public var isCausal = true

    /// No outputs yet.
    public init() {}

    /// Declares a feature. The handle is good for every row of this stream.
    public mutating func add(_ feature: Feature) -> FeatureHandle {
        precondition(feature.count >= 0, "a feature has a count of 0 or more")
        precondition(!features.contains { $0.name == feature.name }, "feature names are unique: \(feature.name)")
        defer {
            features.append(feature)
            width += feature.count
        }
        return FeatureHandle(offset: width, count: feature.count)
    }

    /// Declares a sparse output.
    public mutating func add(_ event: EventOutput) {
        precondition(!events.contains { $0.name == event.name }, "event names are unique: \(event.name)")
        events.append(event)
    }

    /// Asks for spectra. Equal requests, whoever makes them, are computed once.
    public mutating func request(_ spectrum: SpectrumRequest) -> SpectrumHandle {
        defer { spectra.append(spectrum) }
        return SpectrumHandle(index: spectra.count)
    }
}

/// A sparse output: records that come when there is something to say.
public struct EventOutput: Sendable, Hashable {
    /// The record's type for `onset` and `beat`, else the `output` of an `event` record.
    public var name: String
    /// The unit of its values.
    public var unit: Unit
    /// One sentence for people.
    public var summary: String

    /// A sparse output of that name and unit, with a sentence for people.
    public init(_ name: String, _ unit: Unit, _ summary: String) {
        self.name = name
        self.unit = unit
        self.summary = summary
    }
}
