internal import HemiolaRecords
internal import HemiolaSystem
internal import NIOCore
internal import NIOPosix

/// The messages that one client has sent: processed in order, within a rate limit, and while the client reads its replies.
///
/// Independent of the framing: a channel handler adds what it has received, and requests more data only while `isBusy` is false. Used
/// only on the event loop.
final class MessageProcessor {
    /// Maximum length in bytes of a message that is parsed on the event loop. Longer messages are parsed on the background thread, so
    /// that the other clients do not wait.
    private static let shortMessage = 16 << 10
    /// Messages of one client that are processed before the event loop serves the other clients.
    private static let messagesPerTurn = 8
    /// Bytes of a message.
    static let longestMessage = 1 << 20
    /// Messages that are still processed after the client has disconnected.
    private static let messagesAfterDisconnect = 256

    private let hub: BridgeHub
    /// The connection that continues to read when a pause or a background parse has ended.
    private weak var connection: (any ClientConnection)?
    /// The client; nil: not yet accepted, refused, or disconnected.
    private(set) var client: BridgeClient?
    private var messages: ArraySlice<LineSplitter.Line> = []
    /// Whether a message is being parsed on the background thread.
    private var isParsing = false
    private var isProcessing = false
    /// Whether processing continues at a scheduled time: the other clients are served, or the rate limit is reached.
    private var isPausing = false
    /// Whether the channel has requested a read that was not passed on.
    private var hasPendingRead = false
    private var limiter = RateLimiter()

    init(_ hub: BridgeHub, _ connection: any ClientConnection) {
        self.hub = hub
        self.connection = connection
    }

    /// Adds the client to the hub, unless it was added.
    ///
    /// - Parameter refusal: Why the client is refused; nil: it is accepted.
    func addClient(refusal: String?) {
        guard client == nil, let connection else { return }
        client = hub.addClient(connection, refusal: refusal)
    }

    func removeClient() {
        guard let client else { return }
        self.client = nil
        hub.remove(client)
    }

    // MARK: - Reading

    /// Whether the channel must not read: messages of the client wait.
    var isBusy: Bool { isParsing || isPausing || !messages.isEmpty || client?.isCongested == true }

    /// Handles a read request of the channel.
    ///
    /// - Returns: Whether the request is to be passed on. A delayed request is returned by `takePendingRead`.
    func shouldRead() -> Bool {
        if isBusy { hasPendingRead = true }
        return !isBusy
    }

    /// - Returns: Whether a delayed read request is to be passed on now.
    func takePendingRead() -> Bool {
        guard hasPendingRead, !isBusy else { return false }
        hasPendingRead = false
        return true
    }

    // MARK: - Processing

    /// Adds messages and processes them as far as possible.
    func add(_ new: some Sequence<LineSplitter.Line>) {
        messages += new
        process()
    }

    /// Processes the waiting messages as far as possible.
    func process() {
        if isProcessing { return }
        isProcessing = true
        defer { isProcessing = false }
        var count = 0
        while !isParsing, !isPausing, let client, !client.isCongested, let message = messages.first {
            count += 1
            if count > Self.messagesPerTurn { return pause(for: .zero) }
            if let delay = limiter.delay(at: hub.loop.now) { return pause(for: delay) }
            limiter.count(byteCount: message.bytes.count)
            messages.removeFirst()
            if message.isCut {
                client.receive(ClientMessage(id: nil, body: .invalid("line longer than \(Self.longestMessage) bytes")))
            } else if message.bytes.count <= Self.shortMessage {
                client.receive(ClientMessage(message.bytes, catalog))
            } else {
                parseInBackground(message.bytes)
            }
        }
    }

    /// Processes the messages of a client that has sent controls and disconnected at once, within the rate limit.
    func processRemaining() {
        guard let client, !isParsing, !client.isClosing else { return }
        for message in messages.prefix(Self.messagesAfterDisconnect) {
            guard message.bytes.count <= Self.shortMessage, limiter.delay(at: hub.loop.now) == nil else { break }
            limiter.count(byteCount: message.bytes.count)
            client.receive(ClientMessage(message.bytes, catalog))
        }
        messages = []
    }

    /// Continues after a delay; zero: after the event loop has served the other clients.
    private func pause(for delay: TimeAmount) {
        isPausing = true
        let processor = NIOLoopBound(self, eventLoop: hub.loop)
        let continuation: @Sendable () -> Void = {
            processor.value.isPausing = false
            processor.value.connection?.resume()
        }
        if delay == .zero { hub.loop.execute(continuation) } else { hub.loop.scheduleTask(in: delay, continuation) }
    }

    private func parseInBackground(_ bytes: [UInt8]) {
        isParsing = true
        client?.hasSentLongLine = true
        let processor = NIOLoopBound(self, eventLoop: hub.loop)
        let catalog = catalog
        BackgroundThread.pool.runIfActive(eventLoop: hub.loop) { ClientMessage(bytes, catalog) }.whenComplete { result in
            let processor = processor.value
            processor.isParsing = false
            if case .success(let message) = result, let client = processor.client {
                client.receive(message)
                processor.limiter.refund(byteCount: client.takeImportedBytes())
            }
            processor.connection?.resume()
        }
    }

    private var catalog: RecordCatalog { hub.catalog.declarations }
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
