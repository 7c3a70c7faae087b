internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOWebSocket

/// A connection of the web server, until it is upgraded to a WebSocket.
final class HTTPHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// Maximum number of header bytes, and of header fields.
    static let limits = {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 16 << 10
        limits.maxHeaderListSize = 16 << 10
        limits.maxHeaderFieldCount = 100
        return limits
    }()

    /// Time to complete the first request.
    private static let requestTimeout = TimeAmount.seconds(10)
    /// Time between two requests of a connection.
    private static let idleTimeout = TimeAmount.seconds(30)
    /// Time in which the client must receive a part of a response.
    private static let sendTimeout = TimeAmount.seconds(30)
    /// Time after the last response for which the bytes of the client are read and discarded. A connection that is closed while bytes of
    /// the client are unread is reset, and the client may lose the response.
    private static let discardTimeout = TimeAmount.seconds(5)
    /// Maximum number of bytes of a response that wait to be sent. The next part is made when the client has received the previous one, and
    /// the next request is processed after the last part: a client that does not read costs this much memory.
    static let partSize = 128 << 10
    /// Requests after which a connection is closed.
    static let requestLimit = 1000

    private enum State {
        case waiting
        /// A request of which only the head has been received.
        case reading(HTTPRequestHead)
        case responding
        /// No further request is read.
        case closing
    }

    private let server: WebServer
    private var state = State.waiting
    private var context: ChannelHandlerContext?
    private var timer: Scheduled<Void>?
    private var requestCount = 0
    /// Whether the response that is being sent has no body, and whether another request may follow it.
    private var isHead = false
    private var keepsAlive = true

    init(_ server: WebServer) {
        self.server = server
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        guard server.connections.add(self) else { return context.close(promise: nil) }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.channel.closeFuture.whenComplete { _ in handler.value.server.connections.remove(handler.value) }
        startTimer(Self.requestTimeout)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
        self.context = nil
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    /// Closes the connection at once.
    func abort() {
        context?.close(promise: nil)
    }

    /// The connection has become a WebSocket.
    func didUpgrade() {
        server.connections.upgrade(self)
    }

    private func startTimer(_ time: TimeAmount) {
        timer?.cancel()
        guard let context else { return }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: time) { handler.value.abort() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The request is answered after the attempt to upgrade has failed.
        if error is NIOWebSocketUpgradeError { return }
        // The parser reports each read after an invalid request: these bytes are discarded.
        if case .closing = state { return }
        guard let error = error as? HTTPParserError else { return context.close(promise: nil) }
        guard case .waiting = state else { return context.close(promise: nil) }
        let isTooLong = error == .headerOverflow
        isHead = false
        refuse(
            isTooLong ? .requestHeaderFieldsTooLarge : .badRequest,
            isTooLong ? "The header is longer than \(Self.limits.maxHeaderListSize) bytes." : "This is not a request of HTTP/1.1.")
    }

    // MARK: - Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (unwrapInboundIn(data), state) {
        case (.head(let head), .waiting):
            state = .reading(head)
        case (.body, .reading(let head)):
            // The body is not read.
            respond(to: head, hasBody: true)
        case (.end, .reading(let head)):
            respond(to: head, hasBody: false)
        default:
            // The rest of a request that was refused.
            break
        }
    }

    private func respond(to head: HTTPRequestHead, hasBody: Bool) {
        requestCount += 1
        isHead = head.method == .HEAD
        keepsAlive = head.isKeepAlive && requestCount < Self.requestLimit
        guard let request = WebRequest(target: head.uri) else { return refuse(.badRequest, "The path is invalid.") }
        let permission: WebAccess.Permission
        switch server.decision(on: head, request) {
        case .permitted(let given): permission = given
        case .refused(let status, let text): return refuse(status, text)
        }
        server.connections.accept(self)
        if hasBody { return refuse(.payloadTooLarge, "A request has no body.") }
        guard head.method == .GET || isHead else {
            var response = WebResponse(.methodNotAllowed, "The methods are GET and HEAD.")
            response.headers.add(name: "Allow", value: "GET, HEAD")
            return send(response)
        }
        state = .responding
        startTimer(Self.sendTimeout)
        let handler = NIOLoopBound(self, eventLoop: server.hub.loop)
        let headers = server.headers(for: permission)
        server.response(to: head, request, permission).whenSuccess { response in
            var response = response
            response.headers.add(contentsOf: headers)
            handler.value.send(response)
        }
    }

    /// Refuses the request, and closes the connection.
    private func refuse(_ status: HTTPResponseStatus, _ text: String) {
        keepsAlive = false
        send(WebResponse(status, text))
    }

    // MARK: - Responses

    private func send(_ response: WebResponse) {
        guard let context else { return }
        state = keepsAlive ? .responding : .closing
        startTimer(Self.sendTimeout)
        var headers = response.headers
        if response.status != .notModified { headers.replaceOrAdd(name: "Content-Length", value: "\(response.body.count)") }
        if !keepsAlive { headers.replaceOrAdd(name: "Connection", value: "close") }
        let head = HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: response.status, headers: headers))
        guard !isHead, response.body.count > 0 else {
            return write(head) { $0.finish() }
        }
        context.write(wrapOutboundOut(head), promise: nil)
        sendPart(of: response.body, at: 0)
    }

    /// Sends the rest of a body, part by part.
    private func sendPart(of body: WebBody, at offset: Int) {
        guard let context else { return }
        if offset >= body.count { return finish() }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        let send: @Sendable (ByteBuffer) -> Void = { part in
            handler.value.write(.body(.byteBuffer(part))) { handler in
                handler.startTimer(Self.sendTimeout)
                handler.sendPart(of: body, at: offset + part.readableBytes)
            }
        }
        if let part = body.bytes(at: offset, limit: Self.partSize) { return send(part) }
        BackgroundThread.pool.runIfActive(eventLoop: context.eventLoop) { body.read(at: offset, limit: Self.partSize) }
            .whenComplete { result in
                // The length has been sent: a file that has become shorter cannot be completed.
                guard case .success(let part?) = result else { return handler.value.abort() }
                send(part)
            }
    }

    /// Writes a part of a response.
    ///
    /// - Parameter next: Called when the client's side has accepted all bytes so far, unless the connection has closed.
    private func write(_ part: HTTPServerResponsePart, then next: @escaping @Sendable (HTTPHandler) -> Void) {
        guard let context else { return }
        let promise = context.eventLoop.makePromise(of: Void.self)
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        promise.futureResult.whenSuccess { next(handler.value) }
        context.writeAndFlush(wrapOutboundOut(part), promise: promise)
    }

    /// Ends the response, and waits for the next request or closes the connection.
    private func finish() {
        guard let context else { return }
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        // A pipelined request is delivered within the call that ends the response: without a turn of the event loop, the calls would nest.
        context.eventLoop.execute {
            let handler = handler.value
            guard let context = handler.context else { return }
            // The end of this response can begin that of a pipelined request.
            let keepsAlive = handler.keepsAlive
            if keepsAlive {
                handler.state = .waiting
                handler.startTimer(Self.idleTimeout)
            }
            context.writeAndFlush(handler.wrapOutboundOut(.end(nil)), promise: nil)
            if keepsAlive { return }
            context.close(mode: .output, promise: nil)
            handler.startTimer(Self.discardTimeout)
        }
    }
}

/// The thread for reading files, which takes too long for the event loop. One thread, so that at most one processor is taken from the
/// analysis.
enum BackgroundThread {
    static let pool: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 1)
        pool.start()
        return pool
    }()
}
