/// Which records a sink writes, and which features of a batch.
///
/// Items are record types (`header`, `batch`, `beat` …), analyzers (`levels`) or single features (`levels.rms_db`). The name of a record type
/// that an analyzer has too is the record type; `batch.beat` is the analyzer. A plugin's id is its name in records: `musical-key` is `musical_key`.
/// Analyzers and features imply `batch` records that carry nothing else.
public struct Selection: Sendable, Hashable {
    /// Everything.
    public static let all = Selection(types: nil, features: nil)

    /// nil: all of them.
    private let types: Set<String>?
    private let features: Set<FeaturePath>?

    private init(types: Set<String>?, features: Set<FeaturePath>?) {
        self.types = types
        self.features = features
    }

    /// An item that is not a record type: an analyzer, and one of its features or nil for all.
    public struct FeaturePath: Sendable, Hashable {
        /// The analyzer's name in the pipeline.
        public var analyzer: String
        /// One of its features; nil: all.
        public var feature: String?

        fileprivate init(_ path: Substring) {
            let parts = path.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
            analyzer = parts[0].recordName
            feature = parts.count > 1 ? String(parts[1]) : nil
        }

        /// As the user wrote it: `levels.rms_db`.
        public var text: String { feature.map { "\(analyzer).\($0)" } ?? analyzer }
    }

    /// The selection of these items. Whether the feature paths exist is known only when the analyzers are (`featurePaths`).
    ///
    /// - Parameters:
    ///   - items: Record types, analyzers and features.
    ///   - catalog: The record types there are; any other item names an analyzer or a feature.
    public init(items: [String], catalog: RecordCatalog = .standard) {
        let recordTypes = catalog.recordTypes
        var types: Set<String> = []
        var features: Set<FeaturePath> = []
        for item in items {
            let isFeature = item.hasPrefix("batch.")
            let path = FeaturePath(isFeature ? item.dropFirst("batch.".count) : item[...])
            if !isFeature, path.feature == nil, recordTypes.contains(path.analyzer) {
                types.insert(path.analyzer)
            } else {
                features.insert(path)
            }
        }
        let wantsWholeBatches = types.contains("batch")
        if !features.isEmpty { types.insert("batch") }
        self.init(types: types, features: features.isEmpty || wantsWholeBatches ? nil : features)
    }

    /// The items that are not record types, as analyzer and feature.
    public var featurePaths: [FeaturePath] { (features ?? []).sorted { $0.text < $1.text } }

    /// The record types that were selected by name, in alphabetical order; none where nothing is left out.
    public var recordTypes: [String] { (types ?? []).sorted() }

    /// Whether nothing is left out.
    public var isAll: Bool { types == nil && features == nil }

    /// This selection and these record types.
    public func adding(types more: [String]) -> Selection {
        Selection(types: types.map { $0.union(more) }, features: features)
    }

    /// Whether records of a type are written.
    public func contains(_ type: String) -> Bool {
        types?.contains(type) ?? true
    }

    /// Whether a batch carries a feature.
    public func contains(_ analyzer: String, _ feature: String) -> Bool {
        guard let features else { return true }
        return features.contains { $0.analyzer == analyzer && $0.feature ?? feature == feature }
    }
}

extension StringProtocol {
    /// The name in records of an analyzer with this id: `musical_key` for `musical-key`, so that it is a word in every language.
    package var recordName: String { String(map { $0 == "-" ? "_" : $0 }) }
}
