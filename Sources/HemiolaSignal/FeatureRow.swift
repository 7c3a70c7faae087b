/// The values of one hop or batch, as one flat row: an analyzer sees its own part of it, a director the whole.
///
/// Writing is by the handles that `AnalyzerOutputs.add` gave out. A value that does not exist (yet) is NaN and is written
/// as `null`; every value is NaN until it is set.
public struct FeatureRow: ~Copyable, ~Escapable {
    private var values: MutableSpan<Float>

    /// A row over values in the caller's memory.
    @_lifetime(copy values)
    public init(_ values: consuming MutableSpan<Float>) {
        self.values = values
    }

    /// Values in it.
    public var count: Int { values.count }

    /// The single value of a feature.
    public subscript(_ feature: FeatureHandle) -> Float {
        get { values[feature.offset] }
        set { values[feature.offset] = newValue }
    }

    /// Value `index` of a feature of several.
    public subscript(_ feature: FeatureHandle, _ index: Int) -> Float {
        get {
            precondition(index >= 0 && index < feature.count, "index is outside the feature")
            return values[feature.offset + index]
        }
        set {
            precondition(index >= 0 && index < feature.count, "index is outside the feature")
            values[feature.offset + index] = newValue
        }
    }

    /// All values of a feature, to be filled in one go.
    public subscript(all feature: FeatureHandle) -> MutableSpan<Float> {
        @_lifetime(&self)
        mutating get {
            values._mutatingExtracting(feature.offset..<feature.offset + feature.count)
        }
    }
}

/// Where a declared feature stands in a row.
public struct FeatureHandle: Sendable, Hashable {
    /// The first of its values in the row.
    public let offset: Int
    /// How many values it has.
    public let count: Int

    /// The place of `count` values from `offset` on.
    public init(offset: Int, count: Int) {
        self.offset = offset
        self.count = count
    }
}
