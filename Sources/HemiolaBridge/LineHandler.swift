internal import HemiolaSignal
internal import NIOCore
internal import NIOPosix

/// A client on a stream socket: newline-delimited JSON in both directions.
final class LineHandler: ChannelDuplexHandler, ClientConnection {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = Never
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Maximum length in bytes of a line that is parsed on the event loop. Longer lines are parsed on the background thread, so that the
    /// other clients do not wait.
    private static let shortLine = 16 << 10
    /// Lines of one client that are processed before the event loop serves the other clients.
    private static let linesPerTurn = 8
    /// Lines that are still processed after the client has disconnected.
    private static let linesAfterDisconnect = 256

    private let hub: BridgeHub
    /// Why the client is refused; nil: it is accepted.
    private let refusal: String?
    private var context: ChannelHandlerContext?
    /// The context's channel: used with every batch, and `context.channel` costs a lookup.
    private var channel: (any Channel)?
    private var client: BridgeClient?
    private var splitter = LineSplitter()
    private var lines: ArraySlice<LineSplitter.Line> = []
    /// Whether a line is being parsed on the background thread.
    private var isParsing = false
    private var isProcessing = false
    /// Whether the channel has requested a read that was not passed on.
    private var hasPendingRead = false
    private var limiter = RateLimiter()
    /// Whether processing continues at a scheduled time: the other clients are served, or the rate limit is reached.
    private var isPausing = false

    init(_ hub: BridgeHub, refusal: String?) {
        self.hub = hub
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

    func channelInactive(context: ChannelHandlerContext) {
        processRemainingLines()
        removeClient()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        removeClient()
        self.context = nil
        channel = nil
    }

    private func addClient() {
        if client == nil { client = hub.addClient(self, refusal: refusal) }
    }

    private func removeClient() {
        guard let client else { return }
        self.client = nil
        hub.remove(client)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable { client?.sendQueue() }
    }

    // MARK: - Inbound

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        lines += splitter.add(unwrapInboundIn(data).readableBytesView)
        process()
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        // The client has closed its sending side and continues to read.
        if case ChannelEvent.inputClosed? = event as? ChannelEvent, let line = splitter.finish() {
            lines.append(line)
            process()
        }
    }

    /// Passes a read request of the channel on, or delays it while lines of the client wait.
    func read(context: ChannelHandlerContext) {
        if isBusy { hasPendingRead = true } else { context.read() }
    }

    func resume() {
        process()
        if hasPendingRead, !isBusy {
            hasPendingRead = false
            context?.read()
        }
    }

    private var isBusy: Bool { isParsing || isPausing || !lines.isEmpty || client?.isCongested == true }

    private func process() {
        if isProcessing { return }
        isProcessing = true
        defer { isProcessing = false }
        var count = 0
        while !isParsing, !isPausing, let client, !client.isCongested, let line = lines.first {
            count += 1
            if count > Self.linesPerTurn { return pause(for: .zero) }
            if let delay = limiter.delay(at: hub.loop.now) { return pause(for: delay) }
            limiter.count(byteCount: line.byteCount)
            lines.removeFirst()
            switch line {
            case .tooLong:
                client.receive(ClientMessage.Fault(text: "line longer than \(LineSplitter.limit) bytes"))
            case .line(let bytes) where bytes.count <= Self.shortLine:
                Self.deliver(Self.parse(bytes, catalog), to: client)
            case .line(let bytes):
                parseInBackground(bytes)
            }
        }
    }

    /// Processes the lines of a client that has sent controls and disconnected at once, within the rate limit.
    private func processRemainingLines() {
        guard let client, !isParsing, !client.isClosing else { return }
        for line in lines.prefix(Self.linesAfterDisconnect) {
            guard case .line(let bytes) = line, bytes.count <= Self.shortLine, limiter.delay(at: hub.loop.now) == nil else { break }
            limiter.count(byteCount: bytes.count)
            Self.deliver(Self.parse(bytes, catalog), to: client)
        }
        lines = []
    }

    /// Continues after a delay; zero: after the event loop has served the other clients.
    private func pause(for delay: TimeAmount) {
        isPausing = true
        let handler = NIOLoopBound(self, eventLoop: hub.loop)
        let continuation: @Sendable () -> Void = {
            handler.value.isPausing = false
            handler.value.resume()
        }
        if delay == .zero { hub.loop.execute(continuation) } else { hub.loop.scheduleTask(in: delay, continuation) }
    }

    private func parseInBackground(_ bytes: [UInt8]) {
        isParsing = true
        client?.hasSentLongLine = true
        let handler = NIOLoopBound(self, eventLoop: hub.loop)
        let catalog = catalog
        BackgroundThread.pool.runIfActive(eventLoop: hub.loop) { Self.parse(bytes, catalog) }.whenComplete { result in
            let handler = handler.value
            handler.isParsing = false
            if case .success(let message) = result, let client = handler.client {
                Self.deliver(message, to: client)
                handler.limiter.refund(byteCount: client.takeImportedBytes())
            }
            handler.resume()
        }
    }

    private var catalog: RecordCatalog { hub.catalog.declarations }

    private static func parse(_ bytes: [UInt8], _ catalog: RecordCatalog) -> Result<ClientMessage, ClientMessage.Fault> {
        Result { () throws(ClientMessage.Fault) in try ClientMessage(bytes, catalog) }
    }

    private static func deliver(_ message: Result<ClientMessage, ClientMessage.Fault>, to client: BridgeClient) {
        switch message {
        case .success(let message): client.receive(message)
        case .failure(let fault): client.receive(fault)
        }
    }

    // MARK: - Outbound

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

/// Limits the rate at which messages of one client are read (generic cell rate algorithm), because all clients share the event loop.
/// Above the limit the client's messages stay in the socket's buffer until the client blocks.
struct RateLimiter {
    /// Messages per second. A message counts once per 1024 bytes begun.
    static let rate = 2000
    /// Messages that are accepted at once after a second without messages.
    static let burst = 2000

    private static let interval = TimeAmount.nanoseconds(1_000_000_000 / Int64(rate))
    /// Minimum delay, so that the event loop is not woken for each line.
    private static let shortestDelay = TimeAmount.milliseconds(5)

    /// The time at which all counted messages fit the rate: the theoretical arrival time of the algorithm.
    private var arrival = NIODeadline.distantPast

    /// - Returns: The delay before the next message may be read; nil: it may be read now.
    mutating func delay(at now: NIODeadline) -> TimeAmount? {
        arrival = max(arrival, now - Self.interval * Int64(Self.burst))
        return arrival > now ? max(arrival - now, Self.shortestDelay) : nil
    }

    /// Counts a message that is read.
    mutating func count(byteCount: Int) {
        arrival = arrival + Self.interval * Int64(1 + byteCount >> 10)
    }

    /// Takes back the count of bytes whose rate is limited in another way.
    mutating func refund(byteCount: Int) {
        arrival = arrival - Self.interval * Int64(byteCount >> 10)
    }
}
