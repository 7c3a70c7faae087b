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
    /// Lines that are read before the other clients have their turn.
    private static let linesPerTurn = 8
    /// Lines that are still read of a client that has sent them and gone.
    private static let linesAtEnd = 256

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
    private var allowance = ReadAllowance()
    /// Whether it goes on by itself: the other clients have their turn, or the allowance is used up.
    private var isPausing = false

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
        processRest()
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

    private var isBusy: Bool { isReading || isPausing || !lines.isEmpty || client?.isCongested == true }

    private func process() {
        if isProcessing { return }
        isProcessing = true
        defer { isProcessing = false }
        var count = 0
        while !isReading, !isPausing, let client, !client.isCongested, let line = lines.first {
            count += 1
            if count > Self.linesPerTurn { return pause(for: .zero) }
            if let wait = allowance.wait(at: hub.loop.now) { return pause(for: wait) }
            allowance.take(line.byteCount)
            lines.removeFirst()
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

    /// A client that sends several controls and leaves at once has sent them all the same, within its allowance.
    private func processRest() {
        guard let client, !isReading, !client.isClosing else { return }
        for line in lines.prefix(Self.linesAtEnd) {
            guard case .line(let bytes) = line, bytes.count <= Self.shortLine, allowance.wait(at: hub.loop.now) == nil else { break }
            allowance.take(bytes.count)
            Self.hand(Self.message(bytes), to: client)
        }
        lines = []
    }

    /// Goes on when the other clients have had their turn, and not before so much time has passed.
    private func pause(for time: TimeAmount) {
        isPausing = true
        let handler = NIOLoopBound(self, eventLoop: hub.loop)
        let goOn: @Sendable () -> Void = {
            handler.value.isPausing = false
            handler.value.resume()
        }
        if time == .zero { hub.loop.execute(goOn) } else { hub.loop.scheduleTask(in: time, goOn) }
    }

    private func readBeside(_ bytes: [UInt8]) {
        isReading = true
        client?.hasSentLongLine = true
        let handler = NIOLoopBound(self, eventLoop: hub.loop)
        BridgeThreads.pool.runIfActive(eventLoop: hub.loop) { Self.message(bytes) }.whenComplete { result in
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
