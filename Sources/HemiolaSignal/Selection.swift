/// Which records a sink writes, and which features of a batch.
///
/// Items are record types (`header`, `batch`, `beat` …), analyzers (`levels`) or single features (`levels.rms_db`).
/// Analyzers and features imply `batch` records that carry nothing else.
public struct Selection: Sendable, Hashable {
    /// The record types that a stream can carry, in the order of the manual.
    public static let recordTypes = [
        "header", "batch", "onset", "beat", "event", "preset", "speed", "key", "control", "device", "gap", "dropped", "end",
    ]

    /// Everything.
    public static let all = Selection(types: nil, features: nil)

    /// nil: all of them.
    private let types: Set<String>?
    private let features: Set<String>?

    private init(types: Set<String>?, features: Set<String>?) {
        self.types = types
        self.features = features
    }

    /// Names that an analyzer cannot have, because its name is a key of the batch record and a key has one type in every record.
    public static let reservedNames: Set<String> = Set(recordTypes).union([
        "type", "file", "file_base64", "schema", "hemiola", "source", "sample_rate", "channels", "channel_names", "batch_frames",
        "seed", "analyzers", "n", "frame", "t", "partial", "strength", "emitted_t", "bpm", "position", "confidence", "due_in_s",
        "duration_s", "analyzer", "output", "values", "label", "action", "name", "cut", "blend_s", "reason", "next_in_s", "key",
        "note", "description", "state", "frames", "sink", "client", "batches", "events", "non_finite", "summaries", "from",
        "locked", "presets", "names", "id", "ok", "error",
    ]).subtracting(["beat"])

    /// What an item that is no record type names: an analyzer, and a feature of it or nil for all.
    public struct FeaturePath: Sendable, Hashable {
        /// The analyzer's name in the pipeline.
        public var analyzer: String
        /// One of its features; nil: all.
        public var feature: String?

        /// As the user wrote it: `levels.rms_db`.
        public var text: String { feature.map { "\(analyzer).\($0)" } ?? analyzer }
    }

    /// Items that are neither a record type nor could be a feature path make no selection; whether the paths exist is known
    /// only when the analyzers are (`featurePaths`).
    public init(items: [String]) {
        var types: Set<String> = []
        var features: Set<String> = []
        for item in items {
            if Self.recordTypes.contains(item) {
                types.insert(item)
            } else {
                features.insert(item.hasPrefix("batch.") ? String(item.dropFirst("batch.".count)) : item)
            }
        }
        let wantsWholeBatches = types.contains("batch")
        if !features.isEmpty { types.insert("batch") }
        self.init(types: types, features: features.isEmpty || wantsWholeBatches ? nil : features)
    }

    /// The items that are no record types, taken apart.
    public var featurePaths: [FeaturePath] {
        (features ?? []).sorted().map { item in
            guard let dot = item.firstIndex(of: ".") else { return FeaturePath(analyzer: item, feature: nil) }
            return FeaturePath(analyzer: String(item[..<dot]), feature: String(item[item.index(after: dot)...]))
        }
    }

    /// Whether nothing is left out.
    public var isAll: Bool { types == nil && features == nil }

    /// Whether records of a type are written.
    public func contains(_ type: String) -> Bool {
        types?.contains(type) ?? true
    }

    /// Whether a batch carries a feature.
    public func contains(_ analyzer: String, _ feature: String) -> Bool {
        guard let features else { return true }
        return features.contains(analyzer) || features.contains("\(analyzer).\(feature)")
    }
}

extension Event {
    /// The type of the record that tells it.
    public var recordType: String {
        switch payload {
        case .onset: "onset"
        case .beat: "beat"
        case .finding: "event"
        case .preset: "preset"
        case .speed: "speed"
        case .key: "key"
        case .control: "control"
        case .device: "device"
        case .gap: "gap"
        case .dropped: "dropped"
        }
    }
}
