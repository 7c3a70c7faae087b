internal import Hemiola
internal import HemiolaVisualizer
internal import NIOCore

/// The encoders of a stream. The sink's thread and the event loop each use a copy.
struct StreamEncoders: Sendable {
    /// Encodes the records that the user has selected.
    var selected: RecordEncoder
    /// Encodes every record.
    var unfiltered: RecordEncoder
    var format: StreamFormat
    /// The name of the stream's source.
    var source: String

    /// The `hello` message at a stream time in seconds.
    func hello(_ state: VisualizerState, at time: Double) -> ByteBuffer {
        .json { buffer in
            selected.encodeHello(into: &buffer) { buffer in
                buffer.append(#","visualizer":"#)
                buffer.append(.object(state.members(at: time)))
            }
        }
    }

    /// The `header` record; nil if it is not selected.
    var header: ByteBuffer? {
        let bytes = ByteBuffer.json { selected.encodeHeader(into: &$0) }
        return bytes.readableBytes > 0 ? bytes : nil
    }
}

/// Encodes each batch once, in the formats that clients subscribe to. Used on the sink's thread.
struct BatchEncoder: ~Copyable {
    private let context: SinkContext
    private var framer = SampleFramer()
    private var samples = SampleEncoder()
    private var counters = BridgeCounters()
    private var line = JSONBuffer(capacity: 4096)
    private var encoders: StreamEncoders?
    private var state = VisualizerState()

    init(_ context: SinkContext) {
        self.context = context
    }

    /// Begins a stream.
    mutating func begin(_ stream: StreamHeader) -> StreamEncoders {
        framer.begin(stream.format)
        samples.begin()
        state.begin(stream)
        counters.beginStream()
        let encoders = StreamEncoders(
            selected: RecordEncoder(stream, selection: context.records.selection),
            unfiltered: RecordEncoder(stream), format: stream.format, source: stream.source.name)
        self.encoders = encoders
        return encoders
    }

    /// Encodes a batch; nil outside a stream.
    ///
    /// - Parameter emitted: The stream time at which an event is delivered, given it and the batch's end; by default that end.
    mutating func encode(
        _ batch: borrowing Batch, _ subscribed: SubscriptionUnion.Contents, emitted: (Event, Double) -> Double = { $1 }
    ) -> EncodedBatch? {
        guard let encoders else { return nil }
        var messages: [SampleMessage] = []
        let now = context.timing.clock.now
        framer.add(batch.samples, at: batch.frame) { frame, values in
            messages.append(samples.encode(values, at: frame, now: now, as: subscribed.payloads))
        }
        line.removeAll()
        if subscribed.streams.contains(StreamName.batch) { encoders.selected.encodeLine(batch, into: &line) }
        let batchLine = line.count > 0 ? line.bytes : nil
        let end = encoders.format.seconds(at: batch.endFrame)
        counters.countBatch(endingAt: end, now: now)
        let lines = lines(of: batch.events, emitted: { emitted($0, end) }, encoders, subscribed)
        let start = encoders.format.seconds(at: batch.frame)
        return finish(at: start, batch.events, encoders, lines, messages, batchLine: batchLine)
    }

    /// Encodes events outside a batch, whose `emitted_t` is their own time; nil outside a stream, and without events.
    mutating func encode(_ events: [Event], _ subscribed: SubscriptionUnion.Contents) -> EncodedBatch? {
        guard let encoders, let time = events.map(\.time).max() else { return nil }
        return finish(at: time, events.span, encoders, lines(of: events.span, emitted: \.time, encoders, subscribed))
    }

    /// Ends the stream: encodes the remaining samples, the late events and the `end` record.
    mutating func end(_ summary: StreamSummary, _ subscribed: SubscriptionUnion.Contents) -> EncodedBatch? {
        guard let encoders else { return nil }
        self.encoders = nil
        var messages: [SampleMessage] = []
        let now = context.timing.clock.now
        framer.finish { frame, values in
            messages.append(samples.encode(values, at: frame, now: now, as: subscribed.payloads))
        }
        let end = encoders.format.seconds(at: summary.frames)
        var lines = lines(of: summary.lateEvents.span, emitted: { _ in end }, encoders, subscribed)
        if subscribed.streams.contains(StreamName.end) {
            var summary = summary
            summary.lateEvents = []
            line.removeAll()
            encoders.selected.encodeEnd(summary, into: &line)
            if line.count > 0 { lines.append(EncodedBatch.EventLine(stream: StreamName.end, time: end, bytes: line.bytes)) }
        }
        return finish(at: end, summary.lateEvents.span, encoders, lines, messages)
    }

    // MARK: - Events

    /// The lines of the events that clients subscribe to.
    private mutating func lines(
        of events: Span<Event>, emitted: (Event) -> Double, _ encoders: StreamEncoders, _ subscribed: SubscriptionUnion.Contents
    ) -> [EncodedBatch.EventLine] {
        var lines: [EncodedBatch.EventLine] = []
        for index in events.indices {
            let event = events[index]
            let stream = event.type.name
            guard subscribed.streams.contains(stream) else { continue }
            line.removeAll()
            let time = emitted(event)
            encoders.selected.encode(event, batchEnd: time, into: &line)
            if line.count > 0 {
                lines.append(.init(stream: stream, time: time, bytes: line.bytes, excludedClient: excludedClient(of: event)))
            }
        }
        return lines
    }

    /// The client whose lines were dropped does not get the record: it gets a `dropped` line at the position of the missing lines.
    private func excludedClient(of event: Event) -> String? {
        guard let drop = DropReport(event), drop.sink == context.name else { return nil }
        return drop.client
    }

    /// Applies the events to the state and the counters.
    ///
    /// - Returns: The batch with these lines, and what follows from the events for pages.
    private mutating func finish(
        at time: Double, _ events: Span<Event>, _ encoders: StreamEncoders, _ lines: [EncodedBatch.EventLine],
        _ messages: [SampleMessage] = [], batchLine: ByteBuffer? = nil
    ) -> EncodedBatch {
        var resumesAudio = false
        for index in events.indices {
            state.apply(events[index])
            if let drop = DropReport(events[index]) { counters.count(drop) }
            guard let gap = Gap(events[index]), gap.frames > 0 else { continue }
            counters.countGap(seconds: encoders.format.seconds(at: gap.frames))
            resumesAudio = true
        }
        return EncodedBatch(
            time: time, batchLine: batchLine, eventLines: lines, sampleMessages: messages, resumesAudio: resumesAudio,
            pageCommands: PageCommand.following(events), state: state, counters: counters)
    }
}
