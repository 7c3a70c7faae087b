internal import HemiolaSystem
internal import NIOCore

/// A client on a stream socket: newline-delimited JSON in both directions.
final class LineHandler: ChannelInboundHandler, ClientConnection {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Time in which a client must read what waits for it when its connection ends.
    private static let closeTimeout = TimeAmount.milliseconds(500)

    let user: UInt32?
    private let hub: BridgeHub
    /// Why the client is refused; nil: it is accepted.
    private let refusal: String?
    private var context: ChannelHandlerContext?
    /// The context's channel: used with every batch, and `context.channel` costs a lookup.
    private var channel: (any Channel)?
    private var lines = LineSplitter(limit: ClientMessage.longestMessage)
    /// The client; nil: not yet accepted, refused, or disconnected.
    private var client: BridgeClient?

    init(_ hub: BridgeHub, user: UInt32, refusal: String?) {
        self.hub = hub
        self.user = user
        self.refusal = refusal
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        channel = context.channel
        if context.channel.isActive { addClient() }
    }

    func channelActive(context: ChannelHandlerContext) {
        addClient()
    }

    private func addClient() {
        if client == nil { client = hub.addClient(self, refusal: refusal) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        removeClient()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        removeClient()
        self.context = nil
        channel = nil
    }

    private func removeClient() {
        if let client { hub.remove(client) }
        client = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { client?.sendQueue() }
    }

    // MARK: - Inbound

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lines.append(unwrapInboundIn(data).readableBytesView)
        while let line = lines.next() { receive(line) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The client has closed its sending side and continues to read.
        if case ChannelEvent.inputClosed? = event as? ChannelEvent, let line = lines.finish() { receive(line) }
    }

    private func receive(_ line: LineSplitter.Line) {
        if line.isCut {
            client?.disconnect("a message is longer than \(ClientMessage.longestMessage) bytes")
        } else if !line.isBlank {
            client?.receive(line.bytes)
        }
    }

    // MARK: - Outbound

    var isWritable: Bool { channel?.isWritable ?? false }
    var acceptsBinaryMessages: Bool { false }

    func write(_ message: ByteBuffer, _ kind: MessageKind) {
        context?.write(wrapOutboundOut(message), promise: nil)
    }

    func flush() {
        context?.flush()
    }

    func finish(_ end: ConnectionEnd) {
        guard let context else { return }
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).whenComplete { _ in channel.close(promise: nil) }
        context.eventLoop.scheduleTask(in: Self.closeTimeout) { channel.close(promise: nil) }
    }

    func abort() {
        context?.close(promise: nil)
    }
}
