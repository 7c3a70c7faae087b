// Who may connect, and what each may cost. The article Visualizers has the limits for authors of clients.
//
// A Unix socket admits processes of the user that runs Hemiola (and of the socket's group, if one is set), by the mode of the file and the
// credentials that the kernel reports. A web server admits who has the token, under its own name, from its own page or an allowed origin
// (`WebAccess`). Whoever is admitted may control the run. Imports and messages of windows are accepted at a Unix socket only, and not from
// the pages of a window; those that name files, of the user that runs Hemiola only (`ClientMessage.Body.refusal`).
// - Descriptors: one, of `max_clients`. A web server has 128 further connections, of which 64 have not shown the token.
// - Memory: a message of 1 MiB, eight batches and 1 MiB of events (the oldest are dropped and counted), 4 MiB of unread replies. The calls
//   of all clients have 128 MiB.
// - CPU: 4000 messages or 64 MiB a second, on the event loop and never on the thread that analyses; 32 controls per batch.
// Who exceeds a limit is disconnected with the reason.

public import Hemiola
internal import HemiolaSystem
public import HemiolaVisualizer
internal import NIOCore
internal import NIOPosix

/// The settings of a bridge.
public struct BridgeSettings: Sendable {
    /// Sample format of clients that do not subscribe.
    public var payload: SamplePayload
    /// Maximum number of connected clients. The bridge raises the limit of open files for them, or warns and accepts fewer.
    public var clientLimit: Int
    /// Whether a client's `closeViz` ends the run.
    public var exitsOnClose: Bool

    /// Settings with the given values, else the defaults of the sink `socket`.
    public init(payload: SamplePayload = .json, clientLimit: Int = 64, exitsOnClose: Bool = false) {
        self.payload = payload
        self.clientLimit = clientLimit
        self.exitsOnClose = exitsOnClose
    }
}

/// Connects one sink with its clients.
///
/// The sink's thread encodes each batch once, in the formats that at least one client subscribes to, and submits the result to the
/// event loop. The event loop sends the shared bytes to the clients.
///
/// The sink's own thread calls its methods. `listen` and `close` block that thread instead of suspending, because the code that
/// resumes a continuation is not instrumented by the sanitizers. No method waits for a client, except `close`: at most 0.5 s.
public final class Bridge {
    /// The event loop that all bridges of a process share. It has its own thread, which the first bridge starts.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// Time that `close` leaves the clients to read the waiting lines.
    private static let closeTimeout = TimeAmount.milliseconds(500)
    /// Bytes in NIO's write buffer above which a channel is not writable: one and a half batches as JSON.
    private static let waterMark = ChannelOptions.Types.WriteBufferWaterMark(low: 1, high: 32 << 10)
    /// Descriptors that the rest of the program needs.
    private static let otherDescriptors = 64

    private let loop: any EventLoop
    private let hub: NIOLoopBound<BridgeHub>
    private let server: any Channel
    private let subscriptions: SubscriptionUnion
    private var encoder: BatchEncoder
    /// The presets that the pages of the run have reported, for the sink's ``/HemiolaVisualizer/PageDirector``.
    public let presets: PagePresets

    private init(_ hub: NIOLoopBound<BridgeHub>, _ server: any Channel, _ subscriptions: SubscriptionUnion, _ context: SinkContext) {
        loop = server.eventLoop
        self.hub = hub
        self.server = server
        self.subscriptions = subscriptions
        encoder = BatchEncoder(context)
        presets = .shared(by: context.run)
    }

    /// Accepts clients.
    ///
    /// - Parameters:
    ///   - descriptor: A listening Unix socket. The bridge takes ownership of it.
    ///   - context: The sink's context.
    ///   - settings: Sample format, client limit, and the effect of `closeViz`.
    ///   - refusal: Returns the reason why a user (by its number) is refused; nil accepts the user.
    public static func listen(
        on descriptor: CInt, _ context: SinkContext, _ settings: BridgeSettings,
        refusal: @escaping @Sendable (_ user: UInt32) -> String?
    ) throws -> Bridge {
        try listen(on: descriptor, context, settings) { bootstrap, hub in
            // `echo … | socat - UNIX:PATH` closes its sending side and continues to read.
            bootstrap.childChannelOption(.allowRemoteHalfClosure, value: true)
                .childChannelInitializer { channel in
                    PeerCredentials.user(of: channel).flatMapThrowing { user in
                        try channel.pipeline.syncOperations.addHandler(LineHandler(hub.value, user: user, refusal: refusal(user)))
                    }
                }
        }
    }

    /// Accepts clients of any framing.
    ///
    /// - Parameters:
    ///   - furtherDescriptors: Descriptors of connections that are not clients, and of the files that they read.
    ///   - configure: Sets the options and handlers of accepted channels. Called on the event loop.
    static func listen(
        on descriptor: CInt, _ context: SinkContext, _ settings: BridgeSettings, furtherDescriptors: Int = 0,
        configure: @escaping @Sendable (ServerBootstrap, NIOLoopBound<BridgeHub>) -> ServerBootstrap
    ) throws -> Bridge {
        var settings = settings
        settings.clientLimit = clientLimit(settings.clientLimit, otherDescriptors + furtherDescriptors, context)
        let loop = group.next()
        let subscriptions = SubscriptionUnion()
        let (hub, server) = try loop.flatSubmit { [settings] in
            let hub = NIOLoopBound(BridgeHub(context, settings, subscriptions, on: loop), eventLoop: loop)
            let bootstrap = ServerBootstrap(group: loop)
                .serverChannelOption(.backlog, value: 1024)
                .serverChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler()) }
                }
                .childChannelOption(.writeBufferWaterMark, value: waterMark)
            return configure(bootstrap, hub).withBoundSocket(descriptor).map { (hub, $0) }
        }.wait()
        return Bridge(hub, server, subscriptions, context)
    }

    /// The number of clients for which the limit of open files suffices, after it was raised as far as possible.
    private static func clientLimit(_ wanted: Int, _ otherDescriptors: Int, _ context: SinkContext) -> Int {
        let required = wanted + otherDescriptors
        guard let limit = raiseOpenFileLimit(to: required), limit < required else { return wanted }
        let allowed = max(1, limit - otherDescriptors)
        context.messages.warn(
            "\(context.name): max_clients is reduced from \(wanted) to \(allowed): the limit of open files is \(limit); "
                + "raise it with ulimit -Hn")
        return allowed
    }

    /// Begins a stream.
    public func begin(_ stream: StreamHeader) {
        let encoders = encoder.begin(stream)
        loop.execute { [hub] in hub.value.begin(encoders) }
    }

    /// Sends batches of the stream.
    public func write(_ batches: BatchBlock) {
        for index in 0..<batches.count {
            send(encoder.encode(batches[index], subscriptions.current))
        }
    }

    /// Sends events of the stream that are delivered outside batches.
    public func write(_ events: [Event]) {
        send(encoder.encode(events, subscriptions.current))
    }

    /// Ends the stream.
    public func end(_ summary: StreamSummary) {
        send(encoder.end(summary, subscriptions.current))
    }

    private func send(_ batch: EncodedBatch?) {
        if let batch { loop.execute { [hub] in hub.value.send(batch) } }
    }

    /// Stops accepting clients and closes all connections.
    public func close() {
        try? server.close().wait()
        let closed = loop.flatSubmit { [hub] in hub.value.close(within: Self.closeTimeout) }
        try? closed.wait()
    }
}

extension PeerCredentials {
    /// The user at the other end of a channel.
    fileprivate static func user(of channel: any Channel) -> EventLoopFuture<UInt32> {
        guard let provider = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        // Unsafe: the system writes as many bytes as its structure has; this type has the same layout.
        let peer: EventLoopFuture<PeerCredentials> = provider.unsafeGetSocketOption(
            level: .socket, name: NIOBSDSocket.Option(rawValue: option))
        return peer.map(\.user)
    }
}
