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
}

/// Encodes each batch once, in the formats that clients subscribe to. Used on the sink's thread.
struct BatchEncoder: ~Copyable {
    private let context: SinkContext
    private let catalog: StreamCatalog
    private var framer = SampleFramer()
    private var samples = SampleEncoder()
    private var counters = BridgeCounters()
    private var line = JSONBuffer(capacity: 4096)
    private var encoders: StreamEncoders?
    private var state = VisualizerState()

    init(_ context: SinkContext) {
        self.context = context
        catalog = StreamCatalog(context.records.catalog)
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
    mutating func encode(_ batch: borrowing Batch, _ subscribed: SubscriptionUnion.Contents) -> EncodedBatch? {
        guard let encoders else { return nil }
        var messages: [SampleMessage] = []
        let now = context.timing.clock.now
        framer.add(batch.samples, at: batch.frame) { frame, values in
            messages.append(samples.encode(values, at: frame, now: now, as: subscribed.payloads))
        }
        line.removeAll()
        if subscribed.streams.contains(.batch) { encoders.selected.encodeLine(batch, into: &line) }
        let batchLine = line.count > 0 ? line.bytes : nil
        let batchEnd = encoders.format.seconds(at: batch.endFrame)
        counters.countBatch(endingAt: batchEnd, now: now)
        let parts = encode(batch.events, emitted: { _ in batchEnd }, encoders, subscribed)
        return EncodedBatch(
            time: encoders.format.seconds(at: batch.frame), batchLine: batchLine, eventLines: parts.lines, sampleMessages: messages,
            pageCommands: parts.commands, state: state, counters: counters)
    }

    /// Encodes events outside a batch, whose `emitted_t` is their own time; nil outside a stream, and without events.
    mutating func encode(_ events: [Event], _ subscribed: SubscriptionUnion.Contents) -> EncodedBatch? {
        guard let encoders, let time = events.map(\.time).max() else { return nil }
        let parts = encode(events.span, emitted: \.time, encoders, subscribed)
        return EncodedBatch(time: time, eventLines: parts.lines, pageCommands: parts.commands, state: state, counters: counters)
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
        var parts = encode(summary.lateEvents.span, emitted: { _ in end }, encoders, subscribed)
        if subscribed.streams.contains(.end) {
            var summary = summary
            summary.lateEvents = []
            line.removeAll()
            encoders.selected.encodeEnd(summary, into: &line)
            if line.count > 0 { parts.lines.append(EncodedBatch.EventLine(stream: .end, bytes: line.bytes)) }
        }
        return EncodedBatch(
            time: end, eventLines: parts.lines, sampleMessages: messages, pageCommands: parts.commands, state: state, counters: counters)
    }

    // MARK: - Events

    private mutating func encode(
        _ events: Span<Event>, emitted: (Event) -> Double, _ encoders: StreamEncoders, _ subscribed: SubscriptionUnion.Contents
    ) -> (lines: [EncodedBatch.EventLine], commands: [PageCommand]) {
        var parts: (lines: [EncodedBatch.EventLine], commands: [PageCommand]) = ([], [])
        var reports = PageReports()
        for index in events.indices {
            let event = events[index]
            let stream = catalog.stream(of: event)
            if subscribed.streams.contains(stream) {
                line.removeAll()
                encoders.selected.encode(event, batchEnd: emitted(event), into: &line)
                if line.count > 0 {
                    parts.lines.append(.init(stream: stream, bytes: line.bytes, excludedClient: excludedClient(of: event)))
                }
            }
            if let control = event.control { reports.add(control) }
            state.apply(event)
            if let command = command(for: event, reports) { parts.commands.append(command) }
            if let drop = DropReport(event) { counters.count(drop) }
        }
        return parts
    }

    /// The client whose lines were dropped does not get the record: it gets a `dropped` line at the position of the missing lines.
    private func excludedClient(of event: Event) -> String? {
        guard let drop = DropReport(event), drop.sink == context.name else { return nil }
        return drop.client
    }

    /// The message to pages that follows from an event.
    private mutating func command(for event: Event, _ reports: PageReports) -> PageCommand? {
        line.removeAll()
        if let change = PresetChange(event) {
            line.appendLoadPreset(change.name, blend: change.cut == .hard ? 0 : change.blend)
            return PageCommand(
                bytes: line.bytes, excludedOrigin: change.reason == .page ? reports.presets[change.name] : nil, preset: change.name)
        }
        if let change = PagePresetChange(event) {
            line.appendLoadPreset(change.name, blend: change.blend)
            return PageCommand(bytes: line.bytes, preset: change.name, page: change.page)
        }
        if let change = SpeedChange(event) {
            line.appendSetSpeed(change.speed)
            return PageCommand(bytes: line.bytes, excludedOrigin: reports.speed)
        }
        guard let gap = Gap(event), gap.frames > 0 else { return nil }
        counters.countGap(seconds: encoders?.format.seconds(at: gap.frames) ?? 0)
        return PageCommand(bytes: .resumeAudio, requiresReady: false)
    }
}

/// The changes that pages have reported in a batch: a page does not get a command for its own change.
private struct PageReports {
    /// Name of the preset → origin of the control.
    var presets: [String: String] = [:]
    /// The origin of the last change of speed; nil if a client has set it.
    var speed: String?

    mutating func add(_ control: StampedControl) {
        switch control.control.type {
        case .presetHandler:
            if let name = control.control["name"].string { presets[name] = control.origin }
        case .speedHandler: speed = control.origin
        case .setSpeed: speed = nil
        default: break
        }
    }
}
