internal import HemiolaSignal
internal import NIOCore

/// What a batch has for the clients: every line encoded once, to be shared by all who want it.
final class Parcel: Sendable {
    /// A record's line.
    struct Line: Sendable {
        var stream: StreamSet
        var bytes: ByteBuffer
        /// Which client need not be told: it knows already.
        var except: String?
    }

    /// What a page has to do.
    struct Cue: Sendable {
        var bytes: ByteBuffer
        /// Whether it is for pages that said that they can be driven.
        var needsReady = true
        /// The client that told it, by the origin of its control.
        var except: String?
    }

    /// Seconds of stream time at its start.
    let time: Double
    /// The batch's own line, if somebody wants it.
    let batch: ByteBuffer?
    /// Its events.
    let events: [Line]
    /// The messages of samples that are complete with it.
    let samples: [SampleMessage]
    let cues: [Cue]
    /// How the visualizers stand after it.
    let state: VisualizerChange
    /// Which streams the events are of.
    let eventStreams: StreamSet

    init(time: Double, batch: ByteBuffer?, events: [Line], samples: [SampleMessage], cues: [Cue], state: VisualizerChange) {
        self.time = time
        self.batch = batch
        self.events = events
        self.samples = samples
        self.cues = cues
        self.state = state
        eventStreams = events.reduce(into: []) { $0.formUnion($1.stream) }
    }

    /// Whether it says nothing to anybody.
    var isEmpty: Bool {
        batch == nil && events.isEmpty && samples.isEmpty && cues.isEmpty && state == VisualizerChange()
    }

    /// Whether it has something for a subscription that comes at the pace of the batches.
    func hasPaced(_ subscription: Subscription) -> Bool {
        subscription.streams.contains(.samples) && !samples.isEmpty || subscription.streams.contains(.batch) && batch != nil
    }

    /// Whether it has events for a subscription.
    func hasEvents(_ subscription: Subscription) -> Bool {
        !eventStreams.isDisjoint(with: subscription.streams)
    }

    /// How many bytes it has for a subscription.
    func byteCount(for subscription: Subscription, isStripped: Bool) -> Int {
        let streams = subscription.streams
        var count = 0
        if !isStripped, streams.contains(.batch), let batch { count += batch.readableBytes }
        if hasEvents(subscription) {
            for line in events where streams.contains(line.stream) { count += line.bytes.readableBytes }
        }
        if !isStripped, streams.contains(.samples) {
            for message in samples { count += message[subscription.payload]?.readableBytes ?? 0 }
        }
        return count
    }

    /// How many lines of events it has for a subscription.
    func eventCount(for subscription: Subscription) -> Int {
        hasEvents(subscription) ? events.count { subscription.streams.contains($0.stream) } : 0
    }

    /// A copy with nothing but the events for a subscription: what a slow client keeps of a batch that it lost. The other lines of the
    /// batch are freed as soon as nothing else holds them.
    func stripped(for subscription: Subscription) -> Parcel {
        Parcel(
            time: time, batch: nil, events: events.filter { subscription.streams.contains($0.stream) }, samples: [], cues: [],
            state: VisualizerChange())
    }

    /// The bytes for a subscription, in order: the batch, its events, the samples.
    func write(_ subscription: Subscription, client: String, isStripped: Bool, _ body: (ByteBuffer) -> Void) {
        let streams = subscription.streams
        if !isStripped, streams.contains(.batch), let batch { body(batch) }
        if hasEvents(subscription) {
            for line in events where streams.contains(line.stream) && line.except != client { body(line.bytes) }
        }
        if !isStripped, streams.contains(.samples) {
            for message in samples {
                if let bytes = message[subscription.payload] { body(bytes) }
            }
        }
    }
}

/// What a client wants to get.
struct Subscription: Sendable, Hashable {
    /// Without `subscribe`.
    var streams: StreamSet = .samples
    var payload: SamplePayload = .json
    /// Whether it said what it wants: then it gets that alone, unless it says that it is a page.
    var isChosen = false

    var isBare: Bool { payload == .bare }
}

/// A tempo and the time of the beat that had it.
struct TempoReport: Sendable, Hashable {
    var beatsPerMinute: Double
    var time: Double
}

/// What a batch changes in the visualizers' state; nil: nothing.
struct VisualizerChange: Sendable, Hashable {
    var preset: String?
    /// With a preset: when, in stream time, another comes by itself.
    var due: Double?
    var speed: Double?
    /// A preset came by itself: they cycle.
    var showsCycling = false
    var cycleToggles = 0
    /// Somebody held the preset or let go of it: when the next one comes is not known any more.
    var losesDue = false
    /// The last beat, by its tempo and time.
    var beat: TempoReport?
    /// What has become of the device.
    var device: DeviceNotice?
}
