internal import NIOCore
internal import NIOWebSocket

/// A client on a WebSocket: one JSON message per text message in both directions, and samples as binary messages to clients that
/// subscribe to the payload `binary`.
final class WebSocketHandler: ChannelInboundHandler, ClientConnection {
    typealias InboundIn = WebSocketFrame
    typealias OutboundOut = WebSocketFrame

    /// Maximum length of a message in bytes, in one frame or in several.
    static let limit = ClientMessage.longestMessage
    /// Time between two pings.
    private static let pingInterval = TimeAmount.seconds(30)
    /// Time after which a client from which nothing was received is disconnected. A client that reads slowly gets the ping after the
    /// messages in the socket's buffer.
    private static let silenceTimeout = TimeAmount.seconds(120)
    /// Time in which a client must reply to the closing message.
    private static let closeTimeout = TimeAmount.milliseconds(500)
    /// Time for which the bytes of a client after an invalid frame are read and discarded. A connection that is closed while bytes of the
    /// client are unread is reset, and the client may lose the closing message with its code.
    private static let discardTimeout = TimeAmount.seconds(5)

    private var context: ChannelHandlerContext?
    /// The context's channel: used with every batch, and `context.channel` costs a lookup.
    private var channel: (any Channel)?
    private let hub: BridgeHub
    /// The client; nil: refused, or disconnected.
    private var client: BridgeClient?
    /// The frames of a message that is not complete; nil: none.
    private var message: ByteBuffer?
    /// The last ping of the client that is to be answered as soon as the channel is writable: the earlier ones need no answer.
    private var pendingPong: ByteBuffer?
    private var pingTask: RepeatedTask?
    /// The time when the last frame was received.
    private var lastFrameTime = NIODeadline.distantPast
    /// Whether the closing message was sent.
    private var isClosing = false
    /// Whether the client's bytes are discarded because of an invalid frame.
    private var isDiscarding = false

    init(_ hub: BridgeHub) {
        self.hub = hub
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        channel = context.channel
        lastFrameTime = hub.loop.now
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        pingTask = context.eventLoop.scheduleRepeatedTask(initialDelay: Self.pingInterval, delay: Self.pingInterval) { _ in
            handler.value.ping()
        }
        client = hub.addClient(self, refusal: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        removeClient()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        pingTask?.cancel()
        removeClient()
        self.context = nil
        channel = nil
    }

    private func removeClient() {
        if let client { hub.remove(client) }
        client = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // The frame decoder reports each read after an invalid frame: these bytes are discarded.
        if isClosing { return }
        switch error as? NIOWebSocketError {
        case .invalidFrameLength: fail(.messageTooLarge)
        case .some: fail(.protocolError)
        case nil: abort()
        }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        guard context.channel.isWritable else { return }
        if let data = pendingPong { pong(data) }
        client?.sendQueue()
    }

    // MARK: - Inbound

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let frame = unwrapInboundIn(data)
        lastFrameTime = hub.loop.now
        if isClosing {
            if frame.opcode == .connectionClose { context.close(promise: nil) }
            return
        }
        guard frame.maskKey != nil, !frame.rsv1, !frame.rsv2, !frame.rsv3 else { return fail(.protocolError) }
        switch frame.opcode {
        case .text where message == nil:
            receive(frame)
        case .continuation where message != nil:
            receive(frame)
        case .binary where message == nil:
            fail(.unacceptableData)
        case .ping:
            // Of several pings in one read, only the last is answered (RFC 6455, section 5.5.3).
            pendingPong = frame.unmaskedData
        case .pong:
            break
        case .connectionClose:
            var data = frame.unmaskedData
            sendClose(data.readWebSocketErrorCode() ?? .normalClosure)
            closeOutput(timeout: Self.closeTimeout)
        default:
            fail(.protocolError)
        }
    }

    private func receive(_ frame: WebSocketFrame) {
        var buffer = message ?? ByteBuffer()
        // A second reference to the storage would copy the message so far with every frame.
        message = nil
        let part = frame.unmaskedData
        guard buffer.readableBytes + part.readableBytes <= Self.limit else { return fail(.messageTooLarge) }
        if buffer.readableBytes == 0 { buffer = part } else { buffer.writeImmutableBuffer(part) }
        message = frame.fin ? nil : buffer
        if frame.fin { client?.receive(Array(buffer.readableBytesView)) }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if let data = pendingPong { pong(data) }
        context.fireChannelReadComplete()
    }

    // MARK: - Outbound

    var isWritable: Bool { !isClosing && channel?.isWritable ?? false }
    var acceptsBinaryMessages: Bool { true }
    var user: UInt32? { nil }

    func write(_ message: ByteBuffer, _ kind: MessageKind) {
        var data = message
        // The newline separates lines; messages are separated by the framing.
        if kind == .text, data.readableBytesView.last == UInt8(ascii: "\n") { data.moveWriterIndex(to: data.writerIndex - 1) }
        write(WebSocketFrame(fin: true, opcode: kind == .text ? .text : .binary, data: data))
    }

    private func write(_ frame: WebSocketFrame) {
        if !isClosing { context?.write(wrapOutboundOut(frame), promise: nil) }
    }

    func flush() {
        context?.flush()
    }

    func finish(_ end: ConnectionEnd) {
        guard let context else { return }
        if end == .limit { return fail(.policyViolation) }
        if isDiscarding { return abort() }
        guard !isClosing else { return }
        sendClose(.goingAway)
        // The client replies with its own closing message, after which the connection is closed.
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: Self.closeTimeout) { handler.value.abort() }
    }

    func abort() {
        context?.close(promise: nil)
    }

    // MARK: - Control frames

    private func ping() {
        guard lastFrameTime + Self.silenceTimeout > hub.loop.now else { return abort() }
        write(WebSocketFrame(fin: true, opcode: .ping, data: ByteBuffer()))
        flush()
    }

    private func pong(_ data: ByteBuffer) {
        guard isWritable else {
            pendingPong = data
            return
        }
        pendingPong = nil
        write(WebSocketFrame(fin: true, opcode: .pong, data: data))
        flush()
    }

    /// Closes the connection because of a frame that the protocol does not allow.
    private func fail(_ code: WebSocketErrorCode) {
        isDiscarding = true
        sendClose(code)
        closeOutput(timeout: Self.discardTimeout)
    }

    private func sendClose(_ code: WebSocketErrorCode) {
        var data = ByteBuffer()
        data.write(webSocketErrorCode: code)
        write(WebSocketFrame(fin: true, opcode: .connectionClose, data: data))
        isClosing = true
        flush()
    }

    /// Ends the sending side; the client's end, or the timeout, closes the connection.
    private func closeOutput(timeout: TimeAmount) {
        guard let context else { return }
        context.close(mode: .output, promise: nil)
        let handler = NIOLoopBound(self, eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: timeout) { handler.value.abort() }
    }
}
