internal import HemiolaRecords
internal import NIOCore

/// The encoded content of a batch, or of events outside a batch: each line is encoded once and shared by all clients.
final class EncodedBatch: Sendable {
    /// The line of an event.
    struct EventLine: Sendable {
        var stream: StreamSet
        var bytes: ByteBuffer
        /// The name of a client that does not get the line, because it has already got the same information.
        var excludedClient: String?
    }

    /// Stream time of the batch's first frame, in seconds.
    let time: Double
    /// The frame after the batch. Controls that take effect before have their replies after it.
    let end: StreamPosition
    /// The `batch` record; nil if no client subscribes to it.
    let batchLine: ByteBuffer?
    /// The events of the batch.
    let eventLines: [EventLine]
    /// The `pushSamples` messages whose last frame is in the batch.
    let sampleMessages: [SampleMessage]
    let pageCommands: [PageCommand]
    /// The changes of the visualizer's state in the batch.
    let stateChange: VisualizerChange
    /// The streams of `eventLines`.
    let eventStreams: StreamSet

    init(
        time: Double, end: StreamPosition = StreamPosition(stream: 0, frame: 0), batchLine: ByteBuffer?, eventLines: [EventLine],
        sampleMessages: [SampleMessage], pageCommands: [PageCommand], stateChange: VisualizerChange
    ) {
        self.time = time
        self.end = end
        self.batchLine = batchLine
        self.eventLines = eventLines
        self.sampleMessages = sampleMessages
        self.pageCommands = pageCommands
        self.stateChange = stateChange
        eventStreams = eventLines.reduce(into: []) { $0.formUnion($1.stream) }
    }

    /// Whether there is nothing to send and no change of state.
    var isEmpty: Bool {
        batchLine == nil && eventLines.isEmpty && sampleMessages.isEmpty && pageCommands.isEmpty && stateChange == VisualizerChange()
    }

    /// Whether a subscription includes samples or the batch line: both are dropped for a slow client.
    func hasDroppableLines(for subscription: Subscription) -> Bool {
        subscription.streams.contains(.samples) && !sampleMessages.isEmpty
            || subscription.streams.contains(.batch) && batchLine != nil
    }

    /// Whether a subscription includes events of the batch.
    func hasEvents(for subscription: Subscription) -> Bool {
        !eventStreams.isDisjoint(with: subscription.streams)
    }

    /// The number of bytes for a subscription.
    func byteCount(for subscription: Subscription, eventsOnly: Bool) -> Int {
        let streams = subscription.streams
        var count = 0
        if !eventsOnly, streams.contains(.batch), let batchLine { count += batchLine.readableBytes }
        if hasEvents(for: subscription) {
            for line in eventLines where streams.contains(line.stream) { count += line.bytes.readableBytes }
        }
        if !eventsOnly, streams.contains(.samples) {
            for message in sampleMessages { count += message[subscription.payload]?.readableBytes ?? 0 }
        }
        return count
    }

    /// The number of event lines for a subscription.
    func eventCount(for subscription: Subscription) -> Int {
        hasEvents(for: subscription) ? eventLines.count { subscription.streams.contains($0.stream) } : 0
    }

    /// A copy that holds only the events for a subscription: the part of a dropped batch that stays in a slow client's queue. The
    /// memory of the other lines is freed as soon as no other client needs them.
    func eventsOnly(for subscription: Subscription) -> EncodedBatch {
        EncodedBatch(
            time: time, end: end, batchLine: nil, eventLines: eventLines.filter { subscription.streams.contains($0.stream) },
            sampleMessages: [],
            pageCommands: [], stateChange: VisualizerChange())
    }

    /// Calls a closure with each line for a subscription, in this order: the batch, its events, the samples.
    func forEachLine(for subscription: Subscription, client: String, eventsOnly: Bool, _ body: (ByteBuffer, MessageKind) -> Void) {
        let streams = subscription.streams
        if !eventsOnly, streams.contains(.batch), let batchLine { body(batchLine, .text) }
        if hasEvents(for: subscription) {
            for line in eventLines where streams.contains(line.stream) && line.excludedClient != client { body(line.bytes, .text) }
        }
        if !eventsOnly, streams.contains(.samples) {
            let kind: MessageKind = subscription.payload == .binary ? .binary : .text
            for message in sampleMessages {
                if let bytes = message[subscription.payload] { body(bytes, kind) }
            }
        }
    }
}

/// A message to visualizer pages: change the preset or the speed, resume audio.
struct PageCommand: Sendable {
    static let resumeAudioLine = ByteBuffer(string: "{\"type\":\"resumeAudio\"}\n")
    static let getPresetNamesLine = ByteBuffer(string: "{\"type\":\"getPresetNames\"}\n")

    var bytes: ByteBuffer
    /// Whether only pages that have sent `ready` get it.
    var requiresReady = true
    /// The origin of the control that reported the change: this page does not get the command.
    var excludedOrigin: String?
    /// The preset that the page loads; nil: another command.
    var preset: String?
    /// The only page that gets the command; nil: all.
    var page: String?
}
