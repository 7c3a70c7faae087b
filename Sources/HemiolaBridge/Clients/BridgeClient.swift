internal import Hemiola
internal import HemiolaSystem
internal import HemiolaVisualizer
internal import NIOCore

/// One client of a bridge: its subscription, what waits for it, and what it sends. Used only on the event loop.
final class BridgeClient {
    /// Maximum number of requests whose replies the client has not been sent.
    private static let requestLimit = 4096

    let name: String
    let hub: BridgeHub
    private(set) var subscription: Subscription
    private let connection: any ClientConnection
    private var queue = SendQueue()
    private var replies = ReplyQueue<ByteBuffer>()
    private var page: PageState
    /// Whether a window has connected for the page.
    private var isInWindow = false
    /// What a client may send. All clients share one event loop, which serves the others between two messages: one of 1 MiB takes it 4 to 18 ms.
    private var messages = RateLimit(4000, per: 1)
    private var bytes = RateLimit(64 << 20, per: 1)
    /// Whether the client's first `hello` is in the queue. Its other lines wait until then.
    private var hasSentHello = false
    private var isSendingQueue = false
    private var isClosing = false
    private var errorCount = 0

    init(_ number: Int, _ hub: BridgeHub, _ connection: any ClientConnection, payload: SamplePayload) {
        name = "\(number)"
        self.hub = hub
        self.connection = connection
        page = PageState("\(hub.name)/\(number)", hub.presets)
        subscription = Subscription(payload: payload)
    }

    /// Whether the client opens files by their paths: it is at a Unix socket.
    var isLocal: Bool { connection.user != nil }

    /// The client's name in `control` records.
    var origin: String { page.origin }

    // MARK: - Sending

    /// Sends the `hello`: when a stream begins, and when the client has connected during a stream.
    func sendHello() {
        guard !isClosing, !subscription.isBare, let hello = hub.hello else { return }
        var lines = [hello]
        if getsPageLines { lines.append(.resumeAudio) }
        if subscription.streams.contains(StreamName.header), let header = hub.header { lines.append(header) }
        if hasSentHello {
            for line in lines { queue.append(line) }
        } else {
            queue.prepend(lines)
            hasSentHello = true
        }
        sendQueue()
    }

    /// Sends a `status` line after a change of the device.
    func send(status: ByteBuffer) {
        if getsPageLines { send(status) }
    }

    func send(_ batch: EncodedBatch) {
        if isClosing { return }
        queue.append(batch.lines(for: subscription, client: name))
        sendQueue()
        if batch.resumesAudio, getsPageLines { send(.resumeAudio) }
        for command in batch.pageCommands { send(command) }
        reportDrops(at: batch.time)
    }

    private func send(_ line: ByteBuffer) {
        if isClosing || subscription.isBare { return }
        queue.append(line)
        sendQueue()
    }

    /// Sends a message of a call when no batch waits. It is only queued now: the connection can end while it sends, which ends calls.
    ///
    /// - Parameter number: The number of the line: it replaces an older line with this number that waits. nil: it replaces none.
    func send(call line: ByteBuffer, replacing number: Int? = nil) {
        if isClosing || subscription.isBare { return }
        queue.append(call: line, replacing: number)
        let client = NIOLoopBound(self, eventLoop: hub.loop)
        hub.loop.execute { client.value.sendQueue() }
    }

    /// Sends what waits while the connection is writable.
    func sendQueue() {
        if isSendingQueue { return }
        isSendingQueue = true
        let hasBegun = hasSentHello || subscription.isBare
        while hasBegun, connection.isWritable, let entry = queue.next() {
            write(entry)
            connection.flush()
        }
        isSendingQueue = false
        if isClosing {
            if queue.isEmpty || !hasBegun { connection.finish(.ended) }
        } else if queue.unreadBytes > SendQueue.unreadLimit {
            disconnect("more than \(SendQueue.unreadLimit >> 20) MiB of replies and other messages are unread")
        }
    }

    private func write(_ entry: SendQueue.Entry) {
        switch entry {
        case .line(let line): connection.write(line, .text)
        case .batch(let lines): lines.forEach(connection.write)
        case .dropped(let count):
            if !subscription.isBare, let line = hub.droppedLine(client: name, count) { connection.write(line, .text) }
        }
    }

    /// Reports dropped batches and events to the pipeline, as a record at most once per second of stream time.
    ///
    /// - Parameter time: Stream time in seconds; default: report now, because the client leaves.
    func reportDrops(at time: Double = .infinity) {
        guard let (drops, isOngoing) = queue.takeReport(at: time) else { return }
        hub.context.controls.report(
            DropReport(sink: hub.name, client: name, batches: drops.batches, events: drops.events, isOngoing: isOngoing))
    }

    /// Sends what waits, then closes the connection.
    func close() {
        isClosing = true
        sendQueue()
    }

    /// Closes the connection because the client costs more than it may. What waits for it is not sent, but the reason is.
    func disconnect(_ reason: String) {
        if isClosing { return }
        isClosing = true
        queue.removeAll()
        hub.pageErrors.report("disconnected: \(reason)", of: origin)
        if !subscription.isBare { connection.write(errorLine("disconnected: \(reason)"), .text) }
        connection.flush()
        connection.finish(.limit)
    }

    /// Closes the connection at once.
    func abort() {
        connection.abort()
    }

    /// Whether the client has named its streams and is not a page, as `hemiola send`.
    private var isControlClient: Bool { subscription.isExplicit && !page.isReady }

    /// Whether the client gets messages that only pages use.
    private var getsPageLines: Bool { !subscription.isBare && !isControlClient }

    private func send(_ command: PageCommand) {
        switch page.step(to: command, at: hub.loop.now.uptimeNanoseconds) {
        case .send: send(ByteBuffer(string: command.line))
        case .none: break
        case .wait(let time):
            let client = NIOLoopBound(self, eventLoop: hub.loop)
            hub.loop.scheduleTask(deadline: .uptimeNanoseconds(time)) {
                let client = client.value
                if let command = client.page.takeWaiting() { client.send(command) }
            }
        }
    }

    // MARK: - Receiving

    /// Handles a message.
    ///
    /// - Parameter line: Without its newline.
    func receive(_ line: [UInt8]) {
        if isClosing { return }
        let now = Double(hub.loop.now.uptimeNanoseconds) / 1e9
        guard messages.admit(at: now), bytes.admit(line.count, at: now) else {
            return disconnect("more than \(messages.limit) messages or \(bytes.limit >> 20) MiB were sent within a second")
        }
        guard replies.count < Self.requestLimit else {
            return disconnect("more than \(Self.requestLimit) requests wait for their replies")
        }
        let message = ClientMessage(line, hub.context.records.catalog)
        if let refusal = message.body.refusal(of: connection.user, isPage: isInWindow, owner: CurrentProcess.user) {
            return reply(to: message.id, error: refusal)
        }
        switch message.body {
        case .control(let control):
            page.follow(control)
            if control.type == .ready {
                hub.calls.add(page: self)
                for command in hub.state.commands(for: control) { send(command) }
            }
            submit(control, id: message.id)
        case .subscribe(let streams, let payload): reply(to: message.id, error: subscribe(streams, payload))
        case .clock(let sent):
            send(.clock(sent: sent, now: hub.context.timing.clock.now))
            reply(to: message.id)
        case .status:
            send(hub.status)
            reply(to: message.id)
        case .wait: hub.calls.waitForPage(id: message.id, self)
        case .request(let request): hub.calls.add(request, id: message.id, from: self)
        case .answer(let answer, let call):
            let isExpected = hub.calls.receive(answer, call: call, from: self)
            reply(to: message.id, error: isExpected ? nil : "call \(call) does not wait for an answer of this client")
        case .pageConnection:
            isInWindow = true
            reply(to: message.id)
        case .windowReady:
            reply(to: message.id)
            hub.calls.add(window: self)
        case .tabs(let members): hub.calls.set(tabs: members, id: message.id, from: self)
        case .pageError(let error):
            hub.pageErrors.report("error in the page: \(error)", of: origin)
            reply(to: message.id)
        case .close:
            if isControlClient, !hub.settings.exitsOnClose { return reply(to: message.id, error: hub.calls.closeRefusal) }
            reply(to: message.id)
            close()
            if hub.settings.exitsOnClose { hub.context.run.end() }
        case .invalid(let reason): reply(to: message.id, error: reject(reason))
        }
    }

    /// - Returns: The error; nil if the subscription has changed.
    private func subscribe(_ streams: [String]?, _ payload: String?) -> String? {
        let hadHeader = subscription.streams.contains(StreamName.header)
        do {
            try subscription.change(streams, payload, hub.context.records.catalog, acceptsBinaryMessages: connection.acceptsBinaryMessages)
        } catch {
            return reject(error.message)
        }
        hub.updateSubscriptions()
        if !hasSentHello {
            sendHello()
        } else if !hadHeader, subscription.streams.contains(StreamName.header), let header = hub.header {
            send(header)
        }
        return nil
    }

    /// Sends an error line for an invalid message or subscription, with or without an id.
    private func reject(_ text: String) -> String {
        send(errorLine(text))
        return text
    }

    private func errorLine(_ text: String) -> ByteBuffer {
        errorCount += 1
        return .error(text, count: errorCount)
    }

    /// Reports that the page has disconnected, again while the run accepts no further control.
    func reportClosing() {
        let wasReady = page.isReady
        page.follow(Control(.pageClosed))
        if wasReady { submitClosing() }
    }

    private func submitClosing() {
        let client = NIOLoopBound(self, eventLoop: hub.loop)
        let loop = hub.loop
        hub.context.controls.submit(Control(.pageClosed), from: origin) { reply in
            guard reply == .busy else { return }
            loop.scheduleTask(in: .milliseconds(100)) { client.value.submitClosing() }
        }
    }

    private func submit(_ control: Control, id: String?) {
        guard let id else { return hub.context.controls.submit(control, from: origin) }
        let number = replies.reserve()
        // The reply arrives on another thread.
        let client = NIOLoopBound(self, eventLoop: hub.loop)
        let loop = hub.loop
        hub.context.controls.submit(control, from: origin) { reply in
            loop.execute { client.value.resolve(number, id, Self.error(reply)) }
        }
    }

    private static func error(_ reply: ControlReply) -> String? {
        switch reply {
        case .done, .switched: nil
        case .refused(let reason): reason
        case .busy: "busy: too many controls at once; try again"
        }
    }

    private func reply(to id: String?, error: String? = nil) {
        guard let id else { return }
        resolve(replies.reserve(), id, error)
    }

    private func resolve(_ number: Int, _ id: String, _ error: String?) {
        for line in replies.resolve(number, .reply(to: id, error.map { .error($0) } ?? .done)) { send(line) }
    }
}
