internal import HemiolaRecords
internal import HemiolaVisualizer
internal import NIOCore

/// The encoded content of a batch, or of events outside a batch: each line is encoded once and shared by all clients.
struct EncodedBatch: Sendable {
    /// The line of an event.
    struct EventLine: Sendable {
        var stream: String
        /// Stream time at which it is delivered, in seconds.
        var time = 0.0
        var bytes: ByteBuffer
        /// The name of a client that does not get the line, because it has already got the same information.
        var excludedClient: String?
    }

    /// Stream time of the batch's first frame, in seconds.
    var time: Double
    /// The `batch` record; nil if no client subscribes to it.
    var batchLine: ByteBuffer?
    /// The events of the batch.
    var eventLines: [EventLine] = []
    /// The `pushSamples` messages whose last frame is in the batch.
    var sampleMessages: [SampleMessage] = []
    /// Whether the audio continues after a gap.
    var resumesAudio = false
    var pageCommands: [PageCommand] = []
    /// The visualizer's state after the batch.
    var state = VisualizerState()
    /// What was counted up to the batch.
    var counters = BridgeCounters()

    /// The lines for a client.
    ///
    /// - Parameter client: Its name, for lines that it does not get.
    func lines(for subscription: Subscription, client: String) -> BatchLines {
        let streams = subscription.streams
        var lines = BatchLines(isBinary: subscription.payload == .binary)
        if streams.contains(StreamName.batch) { lines.batch = batchLine }
        lines.events = eventLines.filter { streams.contains($0.stream) && $0.excludedClient != client }.map(\.bytes)
        if streams.contains(StreamName.samples) { lines.samples = sampleMessages.compactMap { $0[subscription.payload] } }
        return lines
    }
}

/// The lines of a batch for one client.
struct BatchLines: Sendable {
    /// The `batch` record; nil: the client does not get it.
    var batch: ByteBuffer?
    var events: [ByteBuffer] = []
    var samples: [ByteBuffer] = []
    /// Whether the samples are binary messages.
    var isBinary: Bool

    var isEmpty: Bool { !isWhole && events.isEmpty }
    /// Whether there is a batch record or samples, which are dropped for a slow client; its events are not.
    var isWhole: Bool { batch != nil || !samples.isEmpty }
    var byteCount: Int {
        var count = 0
        forEach { line, _ in count += line.readableBytes }
        return count
    }

    mutating func keepOnlyEvents() {
        (batch, samples) = (nil, [])
    }

    /// Calls a closure with each line, in this order: the batch, its events, the samples.
    func forEach(_ body: (ByteBuffer, MessageKind) -> Void) {
        if let batch { body(batch, .text) }
        for line in events { body(line, .text) }
        for message in samples { body(message, isBinary ? .binary : .text) }
    }
}
