package import Hemiola
package import HemiolaSignal
internal import NIOCore
internal import NIOPosix
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// How a bridge treats its clients.
package struct BridgeSettings: Sendable {
    /// For those that do not subscribe.
    package var payload: SamplePayload
    /// How many may be there at a time.
    package var clientLimit: Int
    /// Whether the run ends with a client's `closeViz`.
    package var exitsOnClose: Bool

    package init(payload: SamplePayload = .json, clientLimit: Int = 64, exitsOnClose: Bool = false) {
        self.payload = payload
        self.clientLimit = clientLimit
        self.exitsOnClose = exitsOnClose
    }
}

/// Between a sink and its clients. The sink's thread encodes what somebody wants, once, and hops to the event loop once per
/// batch; there the bytes are shared out.
///
/// Its methods are for the sink's own thread, and those that open and close block it. (Continuations are resumed in a library that
/// no sanitizer sees into.) None of them waits for a client, but `close`, for half a second at most.
package final class Bridge: Sendable {
    /// The one event loop of all bridges in a process, on a thread of its own, from the first bridge on.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// How long clients may take to read the rest.
    private static let grace = TimeAmount.milliseconds(500)
    /// Bytes that are handed to the system before a client counts as slow: a batch and a half as JSON.
    private static let waterMark = ChannelOptions.Types.WriteBufferWaterMark(low: 1, high: 32 << 10)

    private let loop: any EventLoop
    private let hub: NIOLoopBound<BridgeHub>
    private let server: any Channel
    private let demand: Demand
    private let writer: Mutex<BatchWriter>

    private init(_ hub: NIOLoopBound<BridgeHub>, _ server: any Channel, _ demand: Demand, _ writer: consuming sending BatchWriter) {
        loop = server.eventLoop
        self.hub = hub
        self.server = server
        self.demand = demand
        self.writer = Mutex(writer)
    }

    /// Lets clients in.
    ///
    /// - Parameters:
    ///   - descriptor: A listening Unix socket, which is the bridge's from here on.
    ///   - context: The sink's.
    ///   - refusal: Why a user is turned away; nil: is let in.
    package static func listen(
        on descriptor: CInt, _ context: SinkContext, _ settings: BridgeSettings,
        refusal: @escaping @Sendable (_ user: UInt32) -> String?
    ) throws -> Bridge {
        let loop = group.next()
        let demand = Demand()
        let hub = try loop.submit {
            NIOLoopBound(BridgeHub(context, settings, demand, on: loop), eventLoop: loop)
        }.wait()
        let server = try ServerBootstrap(group: loop)
            .serverChannelOption(.backlog, value: 1024)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(AcceptBackoffHandler()) }
            }
            .childChannelOption(.writeBufferWaterMark, value: waterMark)
            // `echo … | socat - UNIX:PATH` says all it has to say, and reads on.
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                Peer.user(of: channel).flatMapThrowing { user in
                    try channel.pipeline.syncOperations.addHandler(LineHandler(hub.value, refusal: refusal(user)))
                }
            }
            .withBoundSocket(descriptor).wait()
        return Bridge(hub, server, demand, BatchWriter(sink: context.name, selection: context.selection))
    }

    /// A stream begins.
    package func begin(_ stream: StreamHeader) {
        let encoders = writer.withLock { $0.begin(stream) }
        loop.execute { [hub] in hub.value.begin(encoders) }
    }

    /// Batches of the stream.
    package func write(_ batches: BatchBlock) {
        for index in 0..<batches.count {
            let parcel = writer.withLock { $0.parcel(batches[index], demand.now) }
            if let parcel { loop.execute { [hub] in hub.value.deliver(parcel) } }
        }
    }

    /// Events of the stream that come without a batch.
    package func write(_ events: [Event]) {
        let parcel = writer.withLock { $0.parcel(events, demand.now) }
        if let parcel { loop.execute { [hub] in hub.value.deliver(parcel) } }
    }

    /// The stream is over.
    package func end(_ summary: StreamSummary) {
        let parcel = writer.withLock { $0.end(summary, demand.now) }
        if let parcel { loop.execute { [hub] in hub.value.deliver(parcel) } }
    }

    /// Lets nobody in any more, and lets everybody go.
    package func close() {
        try? server.close().wait()
        let gone = loop.flatSubmit { [hub] in hub.value.close(within: Self.grace) }
        try? gone.wait()
    }
}

/// Who is at the other end of a Unix socket, as the kernel knows it.
private struct Peer: Sendable {
    // struct ucred
    var process: Int32
    var user: UInt32
    var group: UInt32

    static func user(of channel: any Channel) -> EventLoopFuture<UInt32> {
        guard let provider = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        // Unsafe: the system fills in as many bytes as its structure has, and this is that structure.
        let peer: EventLoopFuture<Peer> = provider.unsafeGetSocketOption(
            level: .socket, name: NIOBSDSocket.Option(rawValue: SO_PEERCRED))
        return peer.map(\.user)
    }
}
