internal import HemiolaSystem
internal import NIOCore

/// A client on a stream socket: newline-delimited JSON in both directions.
final class LineHandler: ChannelDuplexHandler, ClientConnection {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = Never
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let hub: BridgeHub
    /// Why the client is refused; nil: it is accepted.
    private let refusal: String?
    private var context: ChannelHandlerContext?
    /// The context's channel: used with every batch, and `context.channel` costs a lookup.
    private var channel: (any Channel)?
    private var lines = LineSplitter(limit: MessageProcessor.longestMessage)
    private lazy var processor = MessageProcessor(hub, self)

    init(_ hub: BridgeHub, refusal: String?) {
        self.hub = hub
        self.refusal = refusal
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        channel = context.channel
        if context.channel.isActive { processor.addClient(refusal: refusal) }
    }

    func channelActive(context: ChannelHandlerContext) {
        processor.addClient(refusal: refusal)
    }

    func channelInactive(context: ChannelHandlerContext) {
        processor.processRemaining()
        processor.removeClient()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        processor.removeClient()
        self.context = nil
        channel = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { processor.client?.sendQueue() }
    }

    // MARK: - Inbound

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lines.append(unwrapInboundIn(data).readableBytesView)
        var messages: [LineSplitter.Line] = []
        while let line = lines.next() {
            if !line.isBlank { messages.append(line) }
        }
        processor.add(messages)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The client has closed its sending side and continues to read.
        if case ChannelEvent.inputClosed? = event as? ChannelEvent, let line = lines.finish(), !line.isBlank {
            processor.add(CollectionOfOne(line))
        }
    }

    /// Passes a read request of the channel on, or delays it while lines of the client wait.
    func read(context: ChannelHandlerContext) {
        if processor.shouldRead() { context.read() }
    }

    func resume() {
        processor.process()
        if processor.takePendingRead() { context?.read() }
    }

    // MARK: - Outbound

    var isWritable: Bool { channel?.isWritable ?? false }
    var acceptsBinaryMessages: Bool { false }
    var isLocal: Bool { true }

    func write(_ message: ByteBuffer, _ kind: MessageKind) {
        context?.write(wrapOutboundOut(message), promise: nil)
    }

    func flush() {
        context?.flush()
    }

    func finish() {
        guard let context else { return }
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).whenComplete { _ in channel.close(promise: nil) }
    }

    func abort() {
        context?.close(promise: nil)
    }
}
