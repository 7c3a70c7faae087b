internal import Hemiola
internal import HemiolaFiles

/// Divides the records of a recording into streams, batches with their events, and ends. Used by one thread at a time.
final class RecordingReader {
    /// A batch with its events, or events without the record of a batch.
    struct Batch: Sendable {
        var number: Int64
        var frame: Int64
        /// Its length; nil until it is known.
        var frameCount: Int?
        var isPartial: Bool
        /// The values; nil: no batch was recorded.
        var row: [Float]?
        /// In the order of their records.
        var events: [Event] = []
        /// The length of the events' lines.
        var byteCount = 0

        /// The end, when the length is known.
        var end: Int64? { frameCount.map { frame + Int64($0) } }
    }

    enum Item: Sendable {
        case begin(StreamHeader)
        case batch(Batch)
        case end(StreamSummary)
        /// No record is available yet.
        case idle
        /// The end of the recording, and why not all of it could be read.
        case over(Problem?)
    }

    /// Empty lines between two records from which on a file is no recording. A program that writes to a pipe may write empty lines while
    /// it waits, but a small compressed file can contain billions.
    private static let mostEmptyLines = 1 << 20

    var name: String { lines.name }
    /// Warnings that were not reported yet.
    private(set) var warnings: [String] = []

    private let lines: LineReader
    private var decoder: RecordDecoder
    private let liveCaptures: Set<String>
    /// Items that were completed by the last record, in reverse order.
    private var items: [Item] = []
    private var isOver = false
    private var warnedTypes = 0
    /// Empty lines since the last record.
    private var emptyLines = 0

    /// nil between streams.
    private var stream: OpenStream?

    /// - Parameter liveCaptures: The ids of the captures whose streams are live.
    init(_ path: String, catalog: RecordCatalog, liveCaptures: Set<String>) throws(Problem) {
        lines = try LineReader(path)
        decoder = RecordDecoder(catalog: catalog)
        self.liveCaptures = liveCaptures
    }

    /// The next item. Waits at most 100 ms.
    func next() -> Item {
        while true {
            if let item = items.popLast() { return item }
            if isOver { return .over(nil) }
            do throws(Problem) {
                switch try lines.next() {
                case .line(let line): try read(line)
                case .unterminated(let line): try readLast(line)
                case .idle: return .idle
                case .end: finish()
                }
            } catch {
                fail(error)
            }
            items.reverse()
        }
    }

    /// Returns an item, which `next` returns again.
    func putBack(_ item: Item) {
        items.append(item)
    }

    /// The warnings since the last call.
    func takeWarnings() -> [String] {
        defer { warnings = [] }
        return warnings
    }

    // MARK: - Lines

    private func read(_ line: [UInt8]) throws(Problem) {
        // An empty line, also with the line ends of Windows.
        if line.isEmpty || line == [UInt8(ascii: "\r")] {
            emptyLines += 1
            guard emptyLines <= Self.mostEmptyLines else {
                throw fault("more than \(Self.mostEmptyLines) empty lines in succession; this is not a recording")
            }
            return
        }
        emptyLines = 0
        let record: RecordDecoder.Record
        do throws(Problem) {
            record = try decoder.decode(line)
        } catch {
            // No record precedes it.
            let hint = lines.lineNumber == 1 ? "; a recording is the output of hemiola analyze or listen" : ""
            throw fault(error.message + hint)
        }
        try add(record, byteCount: line.count)
        for type in decoder.undeclared.dropFirst(warnedTypes) {
            warnings.append("\(name): no plugin of this program declares \"\(type.prefix(40))\"; its records are replayed as they are")
        }
        warnedTypes = decoder.undeclared.count
    }

    /// Reads a line without a newline: that of a file whose last newline was removed, or a part of a line.
    private func readLast(_ line: [UInt8]) throws(Problem) {
        let record: RecordDecoder.Record
        do throws(Problem) {
            record = try decoder.decode(line)
        } catch {
            throw fault("the last line is cut off; the records before it were replayed")
        }
        try add(record, byteCount: line.count)
    }

    private func fault(_ message: String) -> Problem {
        Problem("\(name):\(lines.lineNumber): \(message)")
    }

    private func finish() {
        if lines.isTruncated { return fail(Problem("\(name): the compressed data is cut off; the records before were replayed")) }
        isOver = true
        if stream != nil {
            warnings.append("\(name): the last stream has no end record; the recording is incomplete, or its selection left it out")
            endStream(.endOfInput)
        }
        items.append(.over(nil))
    }

    private func fail(_ error: Problem) {
        isOver = true
        endStream(.error)
        items.append(.over(error))
    }

    /// Ends a stream without an `end` record.
    private func endStream(_ reason: StreamSummary.Reason) {
        flush()
        guard let stream else { return }
        items.append(.end(StreamSummary(frames: stream.position, batches: stream.batchCount, reason: reason)))
        self.stream = nil
    }

    // MARK: - Records

    private func add(_ record: RecordDecoder.Record, byteCount: Int) throws(Problem) {
        if case .failure(let input) = record {
            warnings.append("\(name):\(lines.lineNumber): the recording has no records of this input: \(input.error ?? input.file)")
            return
        }
        if case .header(var next) = record {
            if stream != nil {
                warnings.append("\(name):\(lines.lineNumber): the stream before this header has no end record")
                endStream(.endOfInput)
            }
            next.isLive = liveCaptures.contains(next.source.kind)
            stream = OpenStream(next)
            return items.append(.begin(next))
        }
        guard let format = stream?.header.format else { throw fault("a record after the end of its stream") }
        switch record {
        case .header, .failure: break
        case .batch(let batch):
            flush(before: batch.frame)
            guard batch.frame >= stream?.position ?? 0 else { throw fault("the batch begins before the end of the batch before") }
            stream?.add(batch)
        case .event(let event, let emitted):
            if let batch = stream?.add(event, emitted: emitted.map(format.frame), byteCount: byteCount) { items.append(.batch(batch)) }
        case .end(let summary):
            flush(before: summary.frames)
            items.append(.end(summary))
            stream = nil
        }
    }

    /// Passes on the batch that waits for further events.
    private func flush(before next: Int64? = nil) {
        if let batch = stream?.flush(before: next) { items.append(.batch(batch)) }
    }
}

/// A stream of a recording whose end was not read yet.
private struct OpenStream {
    typealias Batch = RecordingReader.Batch

    /// Length of the events' lines from which on further events get a batch of their own.
    private static let longestEvents = 1 << 18

    let header: StreamHeader
    /// The batch that further events may belong to.
    private var pending: Batch?
    /// The end of the last batch.
    private(set) var position: Int64 = 0
    private(set) var batchCount: Int64 = 0
    /// Whether the stream has records of batches.
    private var hasRows = false

    init(_ header: StreamHeader) {
        self.header = header
    }

    /// Adds the record of a batch. The batch before was flushed.
    mutating func add(_ batch: RecordDecoder.BatchRecord) {
        hasRows = true
        batchCount += 1
        pending = Batch(
            number: batch.number, frame: batch.frame, frameCount: batch.isPartial ? nil : header.batching.batchFrames,
            isPartial: batch.isPartial, row: batch.row)
    }

    /// Adds an event to the batch after whose record it was written: the one that ends at its `emitted_t`.
    ///
    /// - Returns: The batch before, if the event begins another one.
    mutating func add(_ event: Event, emitted: Int64?, byteCount: Int) -> Batch? {
        let time = header.format.frame(at: event.time)
        if pending?.frameCount == nil, let start = pending?.frame {
            // A gap, and the loss of a device, come at the end of a partial batch.
            let end = emitted ?? (event.type == .gap || event.type == .device ? time : nil)
            if let end, (1...Int64(header.batching.batchFrames)).contains(end - start) { pending?.frameCount = Int(end - start) }
        }
        let limit = pending.map { $0.end ?? $0.frame } ?? position
        // Without batches, events are the only ones to have a time.
        let end = max(limit, emitted ?? (hasRows ? limit : time))
        let isFull = pending.map { $0.byteCount + byteCount > Self.longestEvents && !$0.events.isEmpty } ?? true
        var before: Batch?
        if isFull || end > limit && pending?.frameCount != nil {
            before = flush()
            pending = Batch(number: batchCount, frame: max(position, end), frameCount: 0, isPartial: false, row: nil)
        }
        pending?.events.append(event)
        pending?.byteCount += byteCount
        return before
    }

    /// Removes the batch that waits for further events.
    ///
    /// - Parameter next: The frame at which the records continue; nil: unknown.
    mutating func flush(before next: Int64? = nil) -> Batch? {
        guard var batch = pending else { return nil }
        pending = nil
        if batch.frameCount == nil {
            let longest = header.batching.batchFrames
            let distance = next.map { $0 - batch.frame } ?? 0
            batch.frameCount = distance > 0 ? Int(min(Int64(longest), distance)) : longest
        }
        position = batch.end ?? position
        return batch
    }
}
