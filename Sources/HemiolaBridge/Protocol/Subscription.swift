internal import HemiolaRecords
internal import HemiolaSystem
internal import Synchronization

/// The streams that a client gets, and the format of the samples.
struct Subscription: Sendable, Hashable {
    /// Default: samples only.
    var streams: StreamSet = .samples
    var payload: SamplePayload = .json
    /// Whether the client has named the streams. Such a client gets page commands only after `ready`.
    var isExplicit = false
    /// Whether the client has sent a valid `subscribe`.
    private var isChanged = false

    init(streams: StreamSet = .samples, payload: SamplePayload = .json, isExplicit: Bool = false) {
        self.streams = streams
        self.payload = payload
        self.isExplicit = isExplicit
    }

    var isBare: Bool { payload == .bare }

    /// Applies a `subscribe` message; nil: unchanged.
    ///
    /// - Throws: A name that is unknown here. The subscription has not changed then.
    mutating func change(
        _ names: [String]?, _ payloadName: String?, _ catalog: StreamCatalog, acceptsBinaryMessages: Bool
    ) throws(Problem) {
        var new = self
        // `payload=bare` of the sink applies only to clients that never subscribe.
        if !isChanged, isBare { new.payload = .json }
        if let payloadName {
            guard let payload = SamplePayload(rawValue: payloadName) else {
                throw Problem("unknown payload \"\(payloadName.prefix(64))\"; expected json, base64, bare or binary")
            }
            if payload == .binary, !acceptsBinaryMessages {
                throw Problem("the payload binary requires a WebSocket; use json, base64 or bare on this socket")
            }
            new.payload = payload
        }
        if let names {
            new.streams = []
            new.isExplicit = true
            for name in names {
                guard let stream = catalog.stream(named: name) else {
                    throw Problem("unknown stream \"\(name.prefix(64))\"; expected one of: \(catalog.names.joined(separator: ", "))")
                }
                new.streams.formUnion(stream)
            }
        }
        // A bare client gets arrays of samples and nothing else.
        if new.isBare { new.streams.formIntersection(.samples) }
        new.isChanged = true
        self = new
    }
}

/// The union of all clients' subscriptions: written on the event loop, read by the sink's thread, which encodes nothing else.
final class SubscriptionUnion: Sendable {
    struct Contents: Sendable, Hashable {
        var streams: StreamSet = []
        /// The sample formats of the clients that subscribe to samples.
        var payloads: Set<SamplePayload> = []
    }

    private let contents = Mutex(Contents())

    var current: Contents { contents.withLock { $0 } }

    func set(_ contents: Contents) {
        self.contents.withLock { $0 = contents }
    }
}

/// A set of streams that a client can subscribe to: the samples and the record types. One bit each.
struct StreamSet: OptionSet, Sendable, Hashable {
    var rawValue: UInt128

    static let samples = StreamSet(rawValue: 1 << 0)
    static let header = StreamSet(rawValue: 1 << 1)
    static let batch = StreamSet(rawValue: 1 << 2)
    static let end = StreamSet(rawValue: 1 << 3)
    /// The bits of the event types of a ``StreamCatalog``.
    fileprivate static let eventBits = 4..<UInt128.bitWidth
}

/// The names of the streams that a program has, and their bits: `pushSamples` and the declared record types.
struct StreamCatalog: Sendable {
    let declarations: RecordCatalog
    /// The names of all streams, in the order of the manual.
    let names: [String]
    private let streams: [String: StreamSet]

    /// - Parameter declarations: The record types of the program. Clients can subscribe to the first 124 types of events.
    init(_ declarations: RecordCatalog) {
        self.declarations = declarations
        var streams: [String: StreamSet] = ["pushSamples": .samples, "header": .header, "batch": .batch, "end": .end]
        for (bit, type) in zip(StreamSet.eventBits, declarations.events) { streams[type.name] = StreamSet(rawValue: 1 << UInt128(bit)) }
        self.streams = streams
        names = declarations.recordTypes.filter { streams[$0] != nil } + ["pushSamples"]
    }

    /// The stream of that name; nil if there is none.
    func stream(named name: String) -> StreamSet? {
        streams[name]
    }

    /// The stream of an event; empty if no client can subscribe to it.
    func stream(of event: Event) -> StreamSet {
        streams[event.type.name] ?? []
    }
}
