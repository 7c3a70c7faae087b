internal import Hemiola
internal import HemiolaVisualizer
internal import NIOCore

/// The clients of a bridge, their subscriptions and the state of the visualizer. Used only on the event loop.
final class BridgeHub {
    let context: SinkContext
    let settings: BridgeSettings
    let loop: any EventLoop
    private(set) var state = VisualizerState()
    /// The calls of pages, shared with the other bridges of the run.
    let calls: PageCalls
    let presets: PagePresets
    let pageErrors: PageErrorLog

    /// As of the last batch.
    private(set) var counters = BridgeCounters()
    private let subscriptions: SubscriptionUnion
    private var clients: [BridgeClient] = []
    private var lastNumber = 0
    private var encoders: StreamEncoders?
    /// Stream time of the last batch, in seconds.
    private var time = 0.0
    /// Closes the connections that are not clients: those of a web server that have not been upgraded.
    var closeOtherConnections: () -> Void = {}
    /// Succeeds when the last client has left.
    private var allClientsLeft: EventLoopPromise<Void>?

    init(_ context: SinkContext, _ settings: BridgeSettings, _ subscriptions: SubscriptionUnion, on loop: any EventLoop) {
        self.context = context
        self.settings = settings
        calls = .shared(by: context.run, on: loop)
        presets = .shared(by: context.run)
        pageErrors = PageErrorLog(on: loop, warn: context.messages.warn)
        self.subscriptions = subscriptions
        self.loop = loop
    }

    // MARK: - Clients

    /// The name of the sink.
    var name: String { context.name }
    var clientCount: Int { clients.count }

    /// Adds a client.
    ///
    /// - Parameter refusal: Why the client is refused; nil accepts it unless the limit of clients is reached.
    /// - Returns: nil if the client is refused. The reason has then been sent, and the connection closes.
    func addClient(_ connection: any ClientConnection, refusal: String?) -> BridgeClient? {
        var refusal = refusal
        if refusal == nil, clients.count >= settings.clientLimit {
            refusal = "client limit reached (\(settings.clientLimit)); raise max_clients"
        }
        if let refusal {
            if settings.payload != .bare { connection.write(.error(refusal, count: 1), .text) }
            connection.flush()
            connection.finish(.ended)
            return nil
        }
        lastNumber += 1
        let client = BridgeClient(lastNumber, self, connection, payload: settings.payload)
        clients.append(client)
        updateSubscriptions()
        client.sendHello()
        return client
    }

    func remove(_ client: BridgeClient) {
        guard let index = clients.firstIndex(where: { $0 === client }) else { return }
        clients.remove(at: index)
        client.reportDrops()
        client.reportClosing()
        calls.remove([client])
        updateSubscriptions()
        if clients.isEmpty {
            allClientsLeft?.succeed()
            allClientsLeft = nil
        }
    }

    func updateSubscriptions() {
        var contents = SubscriptionUnion.Contents()
        for client in clients {
            contents.streams.formUnion(client.subscription.streams)
            if client.subscription.streams.contains(StreamName.samples) { contents.payloads.insert(client.subscription.payload) }
        }
        subscriptions.set(contents)
    }

    /// Closes every client after its waiting lines have been sent, or after a time limit.
    func close(within timeout: TimeAmount) -> EventLoopFuture<Void> {
        closeOtherConnections()
        let promise = loop.makePromise(of: Void.self)
        calls.remove(clients, "the run has ended")
        pageErrors.endInterval()
        if clients.isEmpty {
            promise.succeed()
        } else {
            allClientsLeft = promise
            let hub = NIOLoopBound(self, eventLoop: loop)
            loop.scheduleTask(in: timeout) { hub.value.abortAll() }
            forEachClient { $0.close() }
        }
        return promise.futureResult
    }

    /// Disconnects the clients that have not read their waiting lines.
    private func abortAll() {
        while let client = clients.last {
            client.abort()
            remove(client)
        }
    }

    /// Calls a closure with every client. Writing to a client can detect that it has disconnected, which removes it from the list at
    /// once; therefore no iterator of the list is used.
    private func forEachClient(_ body: (BridgeClient) -> Void) {
        var index = 0
        while index < clients.count {
            let client = clients[index]
            body(client)
            if index < clients.count, clients[index] === client { index += 1 }
        }
    }

    // MARK: - Streams

    func begin(_ encoders: StreamEncoders) {
        self.encoders = encoders
        time = 0
        state.begin(encoders.selected.header)
        counters.beginStream()
        forEachClient { $0.sendHello() }
    }

    func send(_ batch: EncodedBatch) {
        time = batch.time
        counters = batch.counters
        let hasDeviceChanged = batch.state.device != state.device
        state = batch.state
        if hasDeviceChanged {
            let line = status
            forEachClient { $0.send(status: line) }
        }
        forEachClient { $0.send(batch) }
    }

    // MARK: - Lines

    /// The `hello` message; nil before the first stream.
    var hello: ByteBuffer? { encoders?.hello(state, at: time) }

    /// The `header` record; nil if it is not selected, and before the first stream.
    var header: ByteBuffer? { encoders?.header }

    /// The `status` message.
    var status: ByteBuffer {
        ByteBuffer(string: state.status(at: time, source: encoders?.source, pages: calls.pageCount).line)
    }

    /// The `dropped` line for a client; nil before the first stream.
    func droppedLine(client: String, _ dropped: SendQueue.DropCount) -> ByteBuffer? {
        guard let encoders else { return nil }
        let event = Event(at: time, DropReport(sink: name, client: client, batches: dropped.batches, events: dropped.events))
        return .json { encoders.unfiltered.encode(event, batchEnd: time, into: &$0) }
    }
}
