public import Hemiola
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOWebSocket

extension Bridge {
    /// Bytes of the kernel's send buffer for a connection, which Linux doubles. If it grew as the kernel allows, a client that does not
    /// read fast enough would get samples that are seconds old.
    private static let sendBuffer: SocketOptionValue = 128 << 10
    /// Bytes that are read at once. The requests in them wait for their responses: with the default of 64 KiB, four times in a row,
    /// thousands of short requests of one client would wait.
    private static let readSize = 16 << 10
    /// Descriptors of connections that are not clients, and of the files that they read.
    private static let furtherDescriptors = 256

    /// Serves a web page and accepts clients on its WebSocket.
    ///
    /// - Parameters:
    ///   - descriptor: A listening TCP socket. The bridge takes ownership of it.
    ///   - context: The sink's context.
    ///   - settings: Sample format, client limit, and the effect of `closeViz`.
    ///   - site: What is served, and to whom.
    public static func listen(
        on descriptor: CInt, _ context: SinkContext, _ settings: BridgeSettings, site: WebSite
    ) throws -> Bridge {
        try listen(on: descriptor, context, settings, furtherDescriptors: furtherDescriptors) { bootstrap, hub in
            let loop = hub.value.loop
            let connections = WebConnections(clientLimit: hub.value.settings.clientLimit)
            hub.value.closeOtherConnections = connections.abortAll
            let server = NIOLoopBound(WebServer(hub.value, site, connections: connections), eventLoop: loop)
            return
                bootstrap
                .childChannelOption(.socketOption(.so_sndbuf), value: sendBuffer)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: readSize))
                .childChannelOption(.maxMessagesPerRead, value: 1)
                .childChannelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture { try configure(channel, server.value) }
                }
        }
    }

    /// Adds the handlers of an accepted connection.
    static func configure(_ channel: any Channel, _ server: WebServer) throws {
        let handler = HTTPHandler(server)
        let boundServer = NIOLoopBound(server, eventLoop: channel.eventLoop)
        let boundHandler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        let upgrader = NIOWebSocketServerUpgrader(maxFrameSize: WebSocketHandler.limit, automaticErrorHandling: false) {
            channel, head in
            channel.eventLoop.makeSucceededFuture(boundServer.value.upgradeHeaders(for: head))
        } upgradePipelineHandler: { channel, _ in
            boundHandler.value.didUpgrade()
            return channel.pipeline.syncOperations.removeHandler(boundHandler.value).flatMapThrowing {
                try channel.pipeline.syncOperations.addHandler(WebSocketHandler(boundServer.value.hub))
            }
        }
        try channel.pipeline.syncOperations.configureHTTPServerPipeline(
            withServerUpgrade: (upgraders: [upgrader], completionHandler: { _ in }), withErrorHandling: false,
            withOutboundHeaderValidation: true, withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: HTTPHandler.limits)
        try channel.pipeline.syncOperations.addHandler(handler)
    }
}
