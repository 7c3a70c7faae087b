public import HemiolaSignal

/// Which column of a row holds what: the one table that every sink, director and golden file reads.
public struct FeatureLayout: Sendable, Hashable {
    /// One analyzer's columns.
    public struct Section: Sendable, Hashable {
        /// Its name in this pipeline: the plugin's id or its `as=` name.
        public var analyzer: String
        /// Its features, in the order of the row.
        public var features: [Column]
    }

    /// A feature and where it stands in the whole row.
    public struct Column: Sendable, Hashable {
        /// What it holds.
        public var feature: Feature
        /// Where it stands in the whole row.
        public var handle: FeatureHandle
    }

    /// One for each analyzer, in the order of the row.
    public private(set) var sections: [Section] = []
    /// Values in a row.
    public private(set) var width = 0

    /// The layout of an empty row.
    public init() {}

    /// Adds the columns of an analyzer of that name behind those that are there.
    public mutating func append(_ outputs: AnalyzerOutputs, of analyzer: String) {
        let columns = outputs.features.map { feature in
            defer { width += feature.count }
            return Column(feature: feature, handle: FeatureHandle(offset: width, count: feature.count))
        }
        sections.append(Section(analyzer: analyzer, features: columns))
    }

    /// The place of a feature in the whole row, or nil when no analyzer of that name has it, or when it has no values.
    public func handle(_ analyzer: String, _ feature: String) -> FeatureHandle? {
        let section = sections.first { $0.analyzer == analyzer }
        return section?.features.first { $0.feature.name == feature && $0.handle.count > 0 }?.handle
    }
}
