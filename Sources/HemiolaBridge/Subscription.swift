internal import HemiolaSignal
internal import Synchronization

/// The streams that a client gets, and the format of the samples.
struct Subscription: Sendable, Hashable {
    /// Default: samples only.
    var streams: StreamSet = .samples
    var payload: SamplePayload = .json
    /// Whether the client has named the streams. Such a client gets page commands only after `ready`.
    var isExplicit = false

    var isBare: Bool { payload == .bare }
}

/// The union of all clients' subscriptions: written on the event loop, read by the sink's thread, which encodes nothing else.
final class SubscriptionUnion: Sendable {
    struct Contents: Sendable, Hashable {
        var streams: StreamSet = []
        /// The sample formats of the clients that subscribe to samples.
        var payloads: PayloadSet = []
        /// Whether any client is connected.
        var hasClients = false
    }

    private let contents = Mutex(Contents())

    var current: Contents { contents.withLock { $0 } }

    func set(_ contents: Contents) {
        self.contents.withLock { $0 = contents }
    }
}

/// A set of streams that a client can subscribe to: the record types and the samples. One bit each.
struct StreamSet: OptionSet, Sendable, Hashable {
    var rawValue: UInt32

    static let samplesName = "pushSamples"
    /// In the order of the bits.
    static let names = Selection.recordTypes + [samplesName]

    static let samples = StreamSet(named: samplesName)!
    static let batch = StreamSet(named: "batch")!
    static let header = StreamSet(named: "header")!
    static let end = StreamSet(named: "end")!
    static let dropped = StreamSet(named: "dropped")!

    init(rawValue: UInt32) {
        self.rawValue = rawValue
    }

    /// - Returns: nil if no stream has this name.
    init?(named name: String) {
        guard let bit = Self.names.firstIndex(of: name) else { return nil }
        rawValue = 1 << bit
    }

    init(_ event: Event) {
        self = StreamSet(named: event.recordType) ?? []
    }
}
