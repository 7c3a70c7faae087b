public import HemiolaSignal

/// A batch that a sink was given, copied out.
public struct CollectedBatch: Sendable {
    /// Its number in the stream, 0….
    public var number: Int64
    /// Its first frame.
    public var frame: Int64
    /// Real frames in it.
    public var frameCount: Int
    /// Whether an end or a gap broke it off.
    public var isPartial: Bool
    /// NaN: there is none.
    public var row: [Float]
    /// Interleaved; empty unless a sink needs them.
    public var samples: [Float]
    /// In order of time.
    public var events: [Event]

    /// Copies a batch out of its block.
    public init(_ batch: borrowing Batch) {
        number = batch.number
        frame = batch.frame
        frameCount = batch.frameCount
        isPartial = batch.isPartial
        row = Self.copy(batch.row)
        samples = Self.copy(batch.samples)
        events = batch.events.indices.map { batch.events[$0] }
    }

    private static func copy(_ span: Span<Float>) -> [Float] {
        span.withUnsafeBufferPointer { Array($0) }
    }
}

/// Equal to the last bit: a NaN is equal to itself.
extension CollectedBatch: Equatable {
    public static func == (one: Self, other: Self) -> Bool {
        one.number == other.number && one.frame == other.frame && one.frameCount == other.frameCount
            && one.isPartial == other.isPartial && one.row.map(\.bitPattern) == other.row.map(\.bitPattern)
            && one.samples.map(\.bitPattern) == other.samples.map(\.bitPattern) && one.events == other.events
    }
}

/// A stream that a sink was given.
public struct CollectedStream: Sendable, Equatable {
    /// What `begin` was given.
    public var header: StreamHeader
    /// What `write` was given, in order.
    public var batches: [CollectedBatch] = []
    /// How many batches came together, for each `write`.
    public var blocks: [Int] = []
    /// Events that came without a batch, one element for each `write`.
    public var eventsBetween: [EventsBetween] = []
    /// nil: it has not ended.
    public var summary: StreamSummary?

    /// A stream that has begun.
    public init(_ header: StreamHeader) {
        self.header = header
    }

    /// Events that came without a batch.
    public struct EventsBetween: Sendable, Equatable {
        /// Batches of the stream that came before them.
        public var batchCount: Int
        /// In the order they came.
        public var events: [Event]

        /// Events after so many batches.
        public init(batchCount: Int, events: [Event]) {
            self.batchCount = batchCount
            self.events = events
        }
    }

    /// All events in the order they came, those of the summary included.
    public var events: [Event] {
        var result: [Event] = []
        var rest = eventsBetween[...]
        for (index, batch) in batches.enumerated() {
            while let next = rest.first, next.batchCount <= index { result += rest.removeFirst().events }
            result += batch.events
        }
        return result + rest.flatMap(\.events) + (summary?.lateEvents ?? [])
    }

    /// The values of a feature, one array for each batch; empty when no analyzer has it.
    public func values(_ analyzer: String, _ feature: String) -> [[Float]] {
        guard let handle = header.layout.handle(analyzer, feature) else { return [] }
        return batches.map { Array($0.row[handle.offset..<handle.offset + handle.count]) }
    }

    /// The first value of a feature, one for each batch.
    public func value(_ analyzer: String, _ feature: String) -> [Float] {
        values(analyzer, feature).compactMap(\.first)
    }
}
