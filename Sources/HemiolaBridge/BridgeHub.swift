internal import Hemiola
internal import HemiolaSignal
internal import HemiolaWire
internal import NIOCore

/// Where the clients of a bridge meet, on the event loop: who is there, what they want, how the visualizers stand.
final class BridgeHub {
    let name: String
    let loop: any EventLoop
    let controls: ControlPort
    private(set) var state = VisualizerState()

    private let settings: BridgeSettings
    private let endRun: @Sendable () -> Void
    private let demand: Demand
    /// Bytes that wait for all clients together at most.
    private static let byteCapacity = 128 << 20
    /// How long a beat counts: the tempo is unknown without another.
    private static let tempoSeconds = 5.0

    private var clients: [BridgeClient] = []
    private var lastNumber = 0
    private var encoders: StreamEncoders?
    /// Stream time of the last batch.
    private var time = 0.0
    /// When, in stream time, another preset comes by itself.
    private var due: Double?
    private var beat: TempoReport?
    private var device: DeviceNotice?
    private let memory = MemoryTrimmer()
    private var buffer = JSONBuffer(capacity: 4096)
    /// Told when the last client has gone.
    private var emptied: EventLoopPromise<Void>?

    init(_ context: SinkContext, _ settings: BridgeSettings, _ demand: Demand, on loop: any EventLoop) {
        name = context.name
        controls = context.controls
        endRun = context.endRun
        self.settings = settings
        self.demand = demand
        self.loop = loop
    }

    // MARK: - Clients

    /// A client has come.
    ///
    /// - Returns: nil when there is no room; why is written on the wire.
    func admit(_ wire: any ClientWire, refusal: String?) -> BridgeClient? {
        var refusal = refusal
        if refusal == nil, clients.count >= settings.clientLimit {
            refusal = "there are \(settings.clientLimit) clients already; max_clients lets in more"
        }
        if let refusal {
            if settings.payload != .bare { wire.write(line { $0.appendError(refusal, count: 1) }) }
            wire.flush()
            wire.finish()
            return nil
        }
        lastNumber += 1
        let client = BridgeClient(lastNumber, self, wire, payload: settings.payload)
        clients.append(client)
        subscriptionsChanged()
        client.greet()
        return client
    }

    func remove(_ client: BridgeClient) {
        guard let index = clients.firstIndex(where: { $0 === client }) else { return }
        clients.remove(at: index)
        client.reportLosses()
        if client.hasNeededMemory { memory.trim(soonAfter: loop) }
        subscriptionsChanged()
        if clients.isEmpty {
            emptied?.succeed()
            emptied = nil
        }
    }

    func subscriptionsChanged() {
        var wishes = Demand.Wishes(hasClients: !clients.isEmpty)
        for client in clients {
            wishes.streams.formUnion(client.subscription.streams)
            if client.subscription.streams.contains(.samples) { wishes.payloads.insert(PayloadSet(client.subscription.payload)) }
        }
        demand.set(wishes)
    }

    /// Bytes that may wait for each client.
    var byteLimit: Int { min(Outbox.byteCapacity, Self.byteCapacity / max(1, clients.count)) }

    func clientHasClosed() {
        if settings.exitsOnClose { endRun() }
    }

    /// Lets every client have what waits for it, for a while.
    func close(within grace: TimeAmount) -> EventLoopFuture<Void> {
        let promise = loop.makePromise(of: Void.self)
        if clients.isEmpty {
            promise.succeed()
        } else {
            emptied = promise
            let hub = NIOLoopBound(self, eventLoop: loop)
            loop.scheduleTask(in: grace) { hub.value.abandon() }
            forEachClient { $0.close() }
        }
        return promise.futureResult
    }

    /// Those that do not read are left.
    private func abandon() {
        while let client = clients.last {
            client.abandon()
            remove(client)
        }
    }

    /// Does something with every client. Whatever is written to one may show that it has gone, and it leaves the list at once: so
    /// nothing iterates over the list itself.
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
        due = nil
        beat = nil
        forEachClient { $0.greet() }
    }

    func deliver(_ parcel: Parcel) {
        time = parcel.time
        state.apply(parcel.state)
        if parcel.state.preset != nil { due = parcel.state.due }
        if parcel.state.losesDue { due = nil }
        if let beat = parcel.state.beat { self.beat = beat }
        if let device = parcel.state.device {
            self.device = device
            let line = status
            forEachClient { $0.deliver(status: line) }
        }
        forEachClient { $0.deliver(parcel) }
    }

    // MARK: - Lines

    /// What a client is greeted with; nil as long as nothing is heard.
    var hello: ByteBuffer? {
        guard let encoders else { return nil }
        var state = state
        state.nextIn = due.map { max(0, $0 - time) }
        return line { encoders.records.encodeHello(state, into: &$0) }
    }

    /// The record of that name, if it is selected.
    var header: ByteBuffer? {
        guard let encoders else { return nil }
        let bytes = line { encoders.records.encodeHeader(into: &$0) }
        return bytes.readableBytes > 0 ? bytes : nil
    }

    /// The state of the visualizer and the stream, as far as the records state it.
    var status: ByteBuffer {
        let tempo = beat.flatMap { abs($0.time - time) <= Self.tempoSeconds ? $0.beatsPerMinute : nil }
        return line { buffer in
            buffer.appendStatus(
                state, nextIn: due.map { max(0, $0 - time) }, tempo: tempo, source: encoders?.source, device: device)
        }
    }

    func dropped(client: String, _ lost: Outbox.Lost) -> ByteBuffer? {
        guard let encoders else { return nil }
        let event = Event(at: time, .dropped(Loss(sink: name, client: client, batches: lost.batches, events: lost.events)))
        return line { encoders.any.encode(event, batchEnd: time, into: &$0) }
    }

    func line(_ body: (inout JSONBuffer) -> Void) -> ByteBuffer {
        buffer.removeAll()
        body(&buffer)
        return buffer.bytes
    }
}

extension VisualizerState {
    /// A batch has passed. A show that can be toggled begins by cycling.
    mutating func apply(_ change: VisualizerChange) {
        if let preset = change.preset { self.preset = preset }
        if let speed = change.speed { self.speed = speed }
        if change.showsCycling { isCycling = true }
        for _ in 0..<change.cycleToggles { isCycling = !(isCycling ?? true) }
    }
}
