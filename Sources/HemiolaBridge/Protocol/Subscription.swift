internal import HemiolaRecords
internal import HemiolaSystem
internal import Synchronization

/// The streams that a client gets, and the format of the samples.
struct Subscription: Sendable, Hashable {
    /// Default: samples only.
    var streams: Set = [StreamName.samples]
    var payload: SamplePayload = .json
    /// Whether the client has named the streams. Such a client gets page commands only after `ready`.
    var isExplicit = false
    /// Whether the client has sent a valid `subscribe`.
    private var isChanged = false

    init(streams: Set<String> = [StreamName.samples], payload: SamplePayload = .json, isExplicit: Bool = false) {
        self.streams = streams
        self.payload = payload
        self.isExplicit = isExplicit
    }

    var isBare: Bool { payload == .bare }

    /// Applies a `subscribe` message; nil: unchanged.
    ///
    /// - Throws: A name that is unknown here. The subscription has not changed then.
    mutating func change(
        _ names: [String]?, _ payloadName: String?, _ catalog: RecordCatalog, acceptsBinaryMessages: Bool
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
            let known = StreamName.all(in: catalog)
            // A set: a message can have 10 000 names.
            let knownSet = Set(known)
            if let name = names.first(where: { !knownSet.contains($0) }) {
                throw Problem("unknown stream \"\(name.prefix(64))\"; expected one of: \(known.joined(separator: ", "))")
            }
            new.streams = Set(names)
            new.isExplicit = true
        }
        // A bare client gets arrays of samples and nothing else.
        if new.isBare { new.streams.formIntersection([StreamName.samples]) }
        new.isChanged = true
        self = new
    }
}

/// The union of all clients' subscriptions: written on the event loop, read by the sink's thread, which encodes nothing else.
final class SubscriptionUnion: Sendable {
    struct Contents: Sendable, Hashable {
        var streams: Set<String> = []
        /// The sample formats of the clients that subscribe to samples.
        var payloads: Set<SamplePayload> = []
    }

    private let contents = Mutex(Contents())

    var current: Contents { contents.withLock { $0 } }

    func set(_ contents: Contents) {
        self.contents.withLock { $0 = contents }
    }
}

/// The streams that a client can subscribe to, by their names: the samples and the record types.
enum StreamName {
    static let samples = "pushSamples"
    static let header = "header"
    static let batch = "batch"
    static let end = "end"

    /// The names of all streams of a program, in the order of the manual.
    static func all(in catalog: RecordCatalog) -> [String] {
        catalog.recordTypes.filter { $0 != "failure" } + [samples]
    }
}
