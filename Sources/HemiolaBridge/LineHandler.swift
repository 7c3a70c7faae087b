internal import NIOCore
internal import NIOPosix

/// A client on a stream socket: newline-delimited JSON in both directions.
final class LineHandler: ChannelDuplexHandler, ClientWire {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = Never
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Bytes of a line that is read at once; a longer one is read by a thread beside, so that nobody waits for it.
    private static let shortLine = 16 << 10
    private static let readers: NIOThreadPool = {
        let pool = NIOThreadPool(numberOfThreads: 1)
        pool.start()
        return pool
    }()

    private let hub: BridgeHub
    /// Why it is turned away; nil: it is let in.
    private let refusal: String?
    private var context: ChannelHandlerContext?
    /// Asked for with every batch: the context would look it up.
    private var channel: (any Channel)?
    private var client: BridgeClient?
    private var splitter = LineSplitter()
    private var lines: ArraySlice<LineSplitter.Line> = []
    private var isReading = false
    private var isProcessing = false
    private var owesRead = false

    init(_ hub: BridgeHub, refusal: String?) {
        self.hub = hub
        self.refusal = refusal
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        channel = context.channel
        if context.channel.isActive { begin() }
    }

    func channelActive(context: ChannelHandlerContext) {
        begin()
    }

    func channelInactive(context: ChannelHandlerContext) {
        leave()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        leave()
        self.context = nil
        channel = nil
    }

    private func begin() {
        if client == nil { client = hub.admit(self, refusal: refusal) }
    }

    private func leave() {
        guard let client else { return }
        self.client = nil
        hub.remove(client)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { client?.pump() }
    }

    // MARK: - In

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lines += splitter.add(unwrapInboundIn(data).readableBytesView)
        process()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // A client that has said all it wanted to say, and goes on reading.
        if case ChannelEvent.inputClosed? = event as? ChannelEvent, let line = splitter.finish() {
            lines.append(line)
            process()
        }
    }

    /// The channel would read on.
    func read(context: ChannelHandlerContext) {
        if isBusy { owesRead = true } else { context.read() }
    }

    func resume() {
        process()
        if owesRead, !isBusy {
            owesRead = false
            context?.read()
        }
    }

    private var isBusy: Bool { isReading || !lines.isEmpty || client?.isCongested == true }

    private func process() {
        if isProcessing { return }
        isProcessing = true
        defer { isProcessing = false }
        while !isReading, let client, !client.isCongested, let line = lines.popFirst() {
            switch line {
            case .tooLong:
                client.receive(ClientMessage.Fault(text: "a line has \(LineSplitter.limit) bytes at most"))
            case .line(let bytes) where bytes.count <= Self.shortLine:
                Self.hand(Self.message(bytes), to: client)
            case .line(let bytes):
                readBeside(bytes)
            }
        }
    }

    private func readBeside(_ bytes: [UInt8]) {
        isReading = true
        let handler = NIOLoopBound(self, eventLoop: hub.loop)
        Self.readers.runIfActive(eventLoop: hub.loop) { Self.message(bytes) }.whenComplete { result in
            let handler = handler.value
            handler.isReading = false
            if case .success(let message) = result, let client = handler.client { Self.hand(message, to: client) }
            handler.resume()
        }
    }

    private static func message(_ bytes: [UInt8]) -> Result<ClientMessage, ClientMessage.Fault> {
        Result { () throws(ClientMessage.Fault) in try ClientMessage(bytes) }
    }

    private static func hand(_ message: Result<ClientMessage, ClientMessage.Fault>, to client: BridgeClient) {
        switch message {
        case .success(let message): client.receive(message)
        case .failure(let fault): client.receive(fault)
        }
    }

    // MARK: - Out

    var isWritable: Bool { channel?.isWritable ?? false }

    func write(_ line: ByteBuffer) {
        context?.write(wrapOutboundOut(line), promise: nil)
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
