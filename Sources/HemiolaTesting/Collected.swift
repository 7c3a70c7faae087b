public import HemiolaRecords
public import HemiolaSignal

/// A copy of a batch.
///
/// Made by ``CollectingSink``, and by a test that needs a block for a sink: `BatchBlock(_:format:)`.
public struct CollectedBatch: Sendable {
    /// The number of the batch in the stream, 0….
    public var number: Int64
    /// The first frame of the batch, counted from the first frame of the stream.
    public var frame: Int64
    /// The number of frames without padding.
    public var frameCount: Int
    /// Whether the end of the stream or a gap ended the batch before it was full.
    public var isPartial: Bool
    /// The values of all features, laid out as `StreamHeader.layout`. NaN: no value.
    public var row: [Float]
    /// Interleaved samples; empty unless a sink of the pipeline needs them.
    public var samples: [Float]
    /// The events, in order of time.
    public var events: [Event]

    /// A batch from its parts.
    public init(
        number: Int64 = 0, frame: Int64 = 0, frameCount: Int = Batching.defaultFrames, isPartial: Bool = false, row: [Float] = [],
        samples: [Float] = [], events: [Event] = []
    ) {
        self.number = number
        self.frame = frame
        self.frameCount = frameCount
        self.isPartial = isPartial
        self.row = row
        self.samples = samples
        self.events = events
    }

    /// Copies a batch of a block. O(values + samples + events).
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

/// Equal in every bit: NaN equals NaN.
extension CollectedBatch: Equatable {
    public static func == (one: Self, other: Self) -> Bool {
        one.number == other.number && one.frame == other.frame && one.frameCount == other.frameCount
            && one.isPartial == other.isPartial && one.row.map(\.bitPattern) == other.row.map(\.bitPattern)
            && one.samples.map(\.bitPattern) == other.samples.map(\.bitPattern) && one.events == other.events
    }
}

extension BatchBlock {
    /// A block of batches, for a test that calls `write` of a sink.
    ///
    /// - Parameters:
    ///   - batches: 1…`BatchBlock.capacity` consecutive batches. All rows have the same count, and so have all samples.
    ///   - format: The format of the samples.
    public init(_ batches: [CollectedBatch], format: StreamFormat = TestSignal.mono) {
        precondition(!batches.isEmpty && batches.count <= Self.capacity, "a block has 1...\(Self.capacity) batches")
        let storage = BatchStorage(
            capacity: batches.count, width: batches[0].row.count, samplesPerBatch: batches[0].samples.count,
            channelCount: format.channelCount)
        for batch in batches {
            precondition(batch.row.count == storage.width && batch.samples.count == storage.samplesPerBatch, "batches of one size")
            _ = storage.openRow.update(from: batch.row)
            _ = storage.openSamples.update(from: batch.samples)
            var events = EventList()
            for event in batch.events { events.append(event) }
            storage.complete(
                BatchStorage.Info(number: batch.number, frame: batch.frame, frameCount: batch.frameCount, isPartial: batch.isPartial),
                events: &events)
        }
        self.init(storage)
    }
}

/// A stream, as ``CollectingSink`` received it.
public struct CollectedStream: Sendable, Equatable {
    /// The header that `begin` received.
    public var header: StreamHeader
    /// The batches that `write` received, in order.
    public var batches: [CollectedBatch] = []
    /// The number of batches of each `write`.
    public var blocks: [Int] = []
    /// Events between batches, one element per `write`.
    public var eventsBetween: [EventsBetween] = []
    /// The summary that `end` received; nil before the end.
    public var summary: StreamSummary?

    /// A stream without batches.
    public init(_ header: StreamHeader) {
        self.header = header
    }

    /// Events between batches.
    public struct EventsBetween: Sendable, Equatable {
        /// The number of batches of the stream before them.
        public var batchCount: Int
        /// The events, in the order of `write`.
        public var events: [Event]

        /// Events after a number of batches.
        public init(batchCount: Int, events: [Event]) {
            self.batchCount = batchCount
            self.events = events
        }
    }

    /// All events in the order in which the sink received them, with those of the summary.
    public var events: [Event] {
        var result: [Event] = []
        var rest = eventsBetween[...]
        for (index, batch) in batches.enumerated() {
            while let next = rest.first, next.batchCount <= index { result += rest.removeFirst().events }
            result += batch.events
        }
        return result + rest.flatMap(\.events) + (summary?.lateEvents ?? [])
    }

    /// The values of a feature, an array per batch; empty when no analyzer of that name has the feature.
    public func values(_ analyzer: String, _ feature: String) -> [[Float]] {
        guard let handle = header.layout.handle(analyzer, feature) else { return [] }
        return batches.map { Array($0.row[handle.offset..<handle.offset + handle.count]) }
    }

    /// The first value of a feature per batch; empty when no analyzer of that name has the feature.
    public func value(_ analyzer: String, _ feature: String) -> [Float] {
        values(analyzer, feature).compactMap(\.first)
    }
}
