internal import Synchronization

/// A batch for a sink: one row of features, its events, and the audio itself where a sink needs it.
public struct Batch: ~Escapable {
    /// 0, 1, 2 … since the stream's start.
    public let number: Int64
    /// Its first frame, counted from the stream's first.
    public let frame: Int64
    /// Real frames in it.
    public let frameCount: Int
    /// Whether the stream ended or a gap followed before the batch was full.
    public let isPartial: Bool
    /// Whether it has values. False only in a replay: the recording has no record of the batch, but of its events.
    public let hasValues: Bool
    /// The values, laid out as the header's `layout` says. NaN: there is none.
    public let row: Span<Float>
    /// The interleaved samples, `frameCount` frames; empty unless the pipeline has a sink that needs them.
    public let samples: Span<Float>
    /// The events, in order of time.
    public let events: Span<Event>

    @_lifetime(copy row, copy samples, copy events)
    init(
        number: Int64, frame: Int64, frameCount: Int, isPartial: Bool, hasValues: Bool, row: Span<Float>,
        samples: Span<Float>, events: Span<Event>
    ) {
        self.number = number
        self.frame = frame
        self.frameCount = frameCount
        self.isPartial = isPartial
        self.hasValues = hasValues
        self.row = row
        self.samples = samples
        self.events = events
    }

    /// The frame after its last.
    public var endFrame: Int64 { frame + Int64(frameCount) }
}

/// Consecutive batches of one stream, passed to a sink together: up to 64 from a file, one at a time live. It can be stored.
public struct BatchBlock: Sendable {
    /// The most batches that travel together.
    public static let capacity = 64

    /// The rows and samples: shared by all sinks, not written again while there is a reference to it.
    package let storage: BatchStorage
    /// The events may differ between sinks: those of dropped batches are kept, `lead_ms` moves them, `select` filters them.
    package private(set) var events: [Event]
    private var eventEnds: [Int]

    package init(_ storage: BatchStorage) {
        self.storage = storage
        events = storage.events
        eventEnds = storage.eventEnds
    }

    /// Batches in it.
    public var count: Int { storage.count }

    /// Batch `index`, 0…`count - 1`.
    public subscript(index: Int) -> Batch {
        @_lifetime(borrow self)
        get {
            let start = index == 0 ? 0 : eventEnds[index - 1]
            let batch = Batch(
                number: storage.infos[index].number, frame: storage.infos[index].frame,
                frameCount: storage.infos[index].frameCount, isPartial: storage.infos[index].isPartial,
                hasValues: storage.infos[index].hasValues, row: storage.row(index), samples: storage.samples(index),
                events: events.span.extracting(start..<eventEnds[index]))
            return unsafe _overrideLifetime(batch, borrowing: self)
        }
    }

    /// Puts other events in the place of those of each batch.
    package mutating func replaceEvents(_ body: (_ index: Int, _ old: ArraySlice<Event>, _ new: inout [Event]) -> Void) {
        var new: [Event] = []
        var ends: [Int] = []
        for index in 0..<count {
            let start = index == 0 ? 0 : eventEnds[index - 1]
            body(index, events[start..<eventEnds[index]], &new)
            ends.append(new.count)
        }
        events = new
        eventEnds = ends
    }
}

/// The buffers behind a block: filled by the analysis thread, then only read.
///
/// `@unchecked Sendable`: the engine fills it while it is the only owner, and takes it back from the pool only when it is
/// the only owner again.
package final class BatchStorage: @unchecked Sendable {
    package struct Info {
        let number: Int64
        let frame: Int64
        let frameCount: Int
        let isPartial: Bool
        let hasValues: Bool

        package init(number: Int64, frame: Int64, frameCount: Int, isPartial: Bool, hasValues: Bool = true) {
            self.number = number
            self.frame = frame
            self.frameCount = frameCount
            self.isPartial = isPartial
            self.hasValues = hasValues
        }
    }

    /// The reference count alone says when a storage may be used again, and orders what its readers did before that. Said once
    /// more where tools can see it, which cannot look into the runtime.
    private let uses = Atomic<Int>(0)

    private let capacity: Int
    package let width: Int
    /// 0 when no sink needs the audio.
    package let samplesPerBatch: Int
    private let channelCount: Int
    fileprivate private(set) var infos: [Info]
    fileprivate private(set) var events: [Event] = []
    fileprivate private(set) var eventEnds: [Int] = []
    // Raw pointers, because a class's array is checked for exclusive access at every index.
    private let rows: UnsafeMutablePointer<Float>
    private let audio: UnsafeMutablePointer<Float>

    package init(capacity: Int, width: Int, samplesPerBatch: Int, channelCount: Int) {
        self.capacity = capacity
        self.width = width
        self.samplesPerBatch = samplesPerBatch
        self.channelCount = channelCount
        infos = []
        infos.reserveCapacity(capacity)
        eventEnds.reserveCapacity(capacity)
        events.reserveCapacity(64)
        rows = .allocate(capacity: max(1, capacity * width))
        rows.initialize(repeating: .nan, count: max(1, capacity * width))
        audio = .allocate(capacity: max(1, capacity * samplesPerBatch))
        audio.initialize(repeating: 0, count: max(1, capacity * samplesPerBatch))
    }

    deinit {
        rows.deallocate()
        audio.deallocate()
    }

    package var count: Int { infos.count }
    package var byteCount: Int { capacity * (width + samplesPerBatch) * MemoryLayout<Float>.stride }
    package var isFull: Bool { infos.count == capacity }

    /// The row of the current batch, to be written.
    package var openRow: UnsafeMutableBufferPointer<Float> {
        UnsafeMutableBufferPointer(start: rows + count * width, count: width)
    }

    /// The samples of the current batch, to be written.
    package var openSamples: UnsafeMutableBufferPointer<Float> {
        UnsafeMutableBufferPointer(start: audio + count * samplesPerBatch, count: samplesPerBatch)
    }

    /// Completes the current batch with its events.
    package func complete(_ info: Info, events list: inout EventList) {
        list.drain(into: &events)
        eventEnds.append(events.count)
        infos.append(info)
    }

    /// Completes the current batch with events that keep their order.
    package func complete(_ info: Info, events ordered: [Event]) {
        events += ordered
        eventEnds.append(events.count)
        infos.append(info)
    }

    /// Called when a sink has processed it.
    package func noteUse() {
        uses.add(1, ordering: .releasing)
    }

    /// Removes all batches, for reuse. The caller has the only reference.
    package func removeAll() {
        _ = uses.load(ordering: .acquiring)
        infos.removeAll(keepingCapacity: true)
        events.removeAll(keepingCapacity: true)
        eventEnds.removeAll(keepingCapacity: true)
    }

    @_lifetime(borrow self)
    fileprivate func row(_ index: Int) -> Span<Float> {
        let buffer = UnsafeBufferPointer(start: rows + index * width, count: width)
        return unsafe _overrideLifetime(buffer.span, borrowing: self)
    }

    @_lifetime(borrow self)
    fileprivate func samples(_ index: Int) -> Span<Float> {
        let count = samplesPerBatch == 0 ? 0 : infos[index].frameCount * channelCount
        let buffer = UnsafeBufferPointer(start: audio + index * samplesPerBatch, count: count)
        return unsafe _overrideLifetime(buffer.span, borrowing: self)
    }
}
