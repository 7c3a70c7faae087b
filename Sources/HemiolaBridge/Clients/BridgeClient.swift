internal import Hemiola
internal import HemiolaRecords
internal import HemiolaSystem
internal import NIOCore

/// The connection to one client, independent of its framing. Used only on the event loop.
protocol ClientConnection: AnyObject {
    /// Whether the next write is sent at once.
    var isWritable: Bool { get }
    /// Whether the framing has binary messages.
    var acceptsBinaryMessages: Bool { get }
    /// Whether the client is a process on this computer that may open the socket's file, not a page of a browser.
    var isLocal: Bool { get }
    /// Writes a message. A text includes its newline.
    func write(_ message: ByteBuffer, _ kind: MessageKind)
    func flush()
    /// Closes after everything that was written has been sent.
    func finish()
    /// Closes at once.
    func abort()
    /// Continues to read from the client, because it is no longer congested.
    func resume()
}

extension ClientConnection {
    /// Writes a line that includes its newline.
    func write(_ line: ByteBuffer) { write(line, .text) }
}

/// Whether a message to a client is text or binary. The payload `binary` has binary messages; everything else is text.
enum MessageKind: Sendable {
    case text, binary
}

/// One client of a bridge. Used only on the event loop.
final class BridgeClient {
    /// Number of waiting lines, or of waiting replies, above which no further messages of the client are read.
    private static let congestionThreshold = 64
    /// Minimum time between two changes of a page's preset, whatever their cause: cuts that follow each other faster are flashes, which
    /// can cause seizures (WCAG 2.3.1 allows three in a second).
    private static let presetInterval = TimeAmount.seconds(1)

    let name: String
    private(set) var subscription: Subscription
    let hub: BridgeHub
    private let connection: any ClientConnection
    private var queue = SendQueue()
    private var replies = ReplyQueue<ByteBuffer?>()
    private var callLines = CallLineQueue()
    /// Lines that must follow the `hello`, which has not been sent yet.
    private var linesAfterHello: [ByteBuffer] = []
    private var hasSentHello = false
    /// Whether the client is a page that has sent `ready`.
    private var isReady = false
    private(set) var isClosing = false
    /// Whether the client has ever sent a valid `subscribe`.
    private var hasSubscribed = false
    private var isSendingQueue = false
    /// Whether the client was congested at the last check: the connection may have stopped reading and must be resumed.
    private var wasCongested = false
    private var importedBytes = 0
    /// The presets that the page has, as far as it has reported them; nil: not known.
    private var presets: Set<String>?
    /// When the next change of the preset may be sent.
    private var nextPresetTime = NIODeadline.distantPast
    /// The last change of the preset that waits for this time.
    private var waitingPreset: ByteBuffer?
    /// Whether a window has connected for a page of its own.
    private var isPageConnection = false
    /// Whether the client sends a file faster than the page receives it.
    private(set) var isReadingHeld = false
    private var errorCount = 0
    private var reportedDrops = SendQueue.DropCount()
    /// Stream time of the last report of drops, in seconds.
    private var lastReportTime = -Double.infinity

    init(_ number: Int, _ hub: BridgeHub, _ connection: any ClientConnection, payload: SamplePayload) {
        name = "\(number)"
        self.hub = hub
        self.connection = connection
        subscription = Subscription(payload: payload)
    }

    /// Whether the client needed so much memory that it is worth returning it to the system.
    var hasUsedMuchMemory: Bool { hasSentLongLine || queue.largestByteCount > 256 << 10 }
    /// Whether the client has sent a line that was parsed on the background thread.
    var hasSentLongLine = false

    /// The client's name in `control` records.
    var origin: String { "\(hub.name)/\(name)" }

    /// Whether the client has to read what waits for it, or a page has to receive the client's file, before its next message is read.
    var isCongested: Bool {
        linesAfterHello.count + queue.count > Self.congestionThreshold || replies.count > Self.congestionThreshold
            || callLines.count > 2 * Self.congestionThreshold || isReadingHeld
    }

    // MARK: - Sending

    /// Sends the `hello`: when a stream begins, and when the client has connected during a stream.
    func sendHello() {
        guard !subscription.isBare, let hello = hub.hello else { return }
        hasSentHello = true
        var lines = [hello]
        if getsPageLines { lines.append(PageCommand.resumeAudioLine) }
        if subscription.streams.contains(.header), let header = hub.header { lines.append(header) }
        lines += linesAfterHello
        linesAfterHello = []
        send(lines)
        checkCongestion()
    }

    /// Sends a `status` line after a change of the device.
    func send(status: ByteBuffer) {
        if getsPageLines { send(status) }
    }

    func send(_ batch: EncodedBatch) {
        if isClosing { return }
        queue.byteLimit = hub.byteLimit
        if queue.isEmpty, connection.isWritable {
            var hasWritten = false
            batch.forEachLine(for: subscription, client: name, eventsOnly: false) {
                connection.write($0, $1)
                hasWritten = true
            }
            if hasWritten { connection.flush() }
        } else {
            queue.append(batch, for: subscription)
            sendQueue()
        }
        for command in batch.pageCommands where gets(command) {
            if command.preset == nil { send(command.bytes) } else { send(preset: command.bytes) }
        }
        reportDrops(at: batch.time)
    }

    /// Sends the lines in the queue while the connection is writable.
    func sendQueue() {
        if isSendingQueue { return }
        isSendingQueue = true
        while connection.isWritable, let entry = queue.next() {
            switch entry {
            case .line(let line): connection.write(line)
            case .batch(let batch, let subscription, let eventsOnly):
                batch.forEachLine(for: subscription, client: name, eventsOnly: eventsOnly) { connection.write($0, $1) }
            case .dropped(let count):
                if !subscription.isBare, let line = hub.droppedLine(client: name, count) { connection.write(line) }
            }
            connection.flush()
        }
        // Samples have precedence over calls and their answers.
        while hasSentHello, connection.isWritable, queue.isEmpty, let line = callLines.next() {
            connection.write(line)
            connection.flush()
        }
        isSendingQueue = false
        if isClosing, queue.isEmpty, callLines.isEmpty || !hasSentHello { connection.finish() }
        checkCongestion()
    }

    /// Resumes the connection if the client was congested at an earlier call and no longer is. Called at the end of everything that
    /// changes how many lines or replies wait, because the connection may process further messages within the call.
    private func checkCongestion() {
        if isCongested {
            wasCongested = true
        } else if wasCongested {
            wasCongested = false
            connection.resume()
        }
    }

    /// Reports dropped lines to the pipeline, at most once per second of stream time.
    ///
    /// - Parameter time: Stream time in seconds; default: report now, because the client leaves.
    func reportDrops(at time: Double = .infinity) {
        let drops = queue.dropped - reportedDrops
        guard !drops.isZero else { return }
        // The time of a new stream begins at 0.
        guard time - lastReportTime >= 1 || time < lastReportTime else { return }
        hub.controls.report(DropReport(sink: hub.name, client: name, batches: drops.batches, events: drops.events))
        reportedDrops = queue.dropped
        lastReportTime = time
    }

    /// Sends the waiting lines, then closes the connection.
    func close() {
        isClosing = true
        sendQueue()
    }

    /// Closes the connection at once.
    func abort() {
        connection.abort()
    }

    /// Whether the client gets messages that only pages use: it has not named streams, or it has sent `ready`.
    private var getsPageLines: Bool { !subscription.isBare && (!subscription.isExplicit || isReady) }

    /// Whether the client has named its streams and is not a page, as `hemiola send`.
    private var isControlClient: Bool { subscription.isExplicit && !isReady }

    private func gets(_ command: PageCommand) -> Bool {
        guard !subscription.isBare, isReady || !command.requiresReady && !subscription.isExplicit else { return false }
        if let page = command.page, page != origin { return false }
        if let preset = command.preset, !has(preset) { return false }
        return command.excludedOrigin != origin
    }

    // MARK: - Presets

    /// Whether the page has a preset, as far as it is known.
    private func has(_ preset: String) -> Bool { presets?.contains(preset) != false }

    /// Sends a change of the preset, or the last one of those that come too soon after another.
    private func send(preset line: ByteBuffer) {
        let now = hub.loop.now
        if now >= nextPresetTime {
            nextPresetTime = now + Self.presetInterval
            return send(line)
        }
        let isScheduled = waitingPreset != nil
        waitingPreset = line
        if isScheduled { return }
        let client = NIOLoopBound(self, eventLoop: hub.loop)
        hub.loop.scheduleTask(deadline: nextPresetTime) { client.value.sendWaitingPreset() }
    }

    private func sendWaitingPreset() {
        guard let line = waitingPreset else { return }
        waitingPreset = nil
        send(preset: line)
    }

    /// Keeps what a page reports of its presets.
    private func follow(_ control: Control) {
        switch control.type {
        case .ready: setPresets(control["presets"])
        case .presetNames: setPresets(control["names"])
        case .presetRefused: presets?.remove(control["name"].string ?? "")
        case .presetHandler:
            // The page's own change is newer than one that waits.
            waitingPreset = nil
            if let name = control["name"].string, let count = presets?.count, count < ClientMessage.longestList { presets?.insert(name) }
        default: break
        }
    }

    private func setPresets(_ value: ParameterValue) {
        let names = value.items?.compactMap(\.string) ?? []
        presets = names.isEmpty ? nil : Set(names)
    }

    private func send(_ line: ByteBuffer) {
        send(CollectionOfOne(line))
    }

    /// Sends several lines without other lines between them, even if the connection is resumed meanwhile.
    private func send(_ lines: some Sequence<ByteBuffer>) {
        if isClosing || subscription.isBare { return }
        guard hasSentHello else {
            linesAfterHello += lines
            return checkCongestion()
        }
        queue.byteLimit = hub.byteLimit
        for line in lines { queue.append(line) }
        sendQueue()
    }

    /// The number of bytes of calls and answers that the client has not read.
    var waitingCallBytes: Int { callLines.byteCount }

    /// Sends a message of a call. It is not dropped, and sent when no batch waits.
    ///
    /// - Parameter number: The number of the line: it replaces an older line with this number that waits. nil: it replaces none.
    func send(callLine line: ByteBuffer, replacing number: Int?) {
        if isClosing || subscription.isBare { return }
        callLines.append(line, replacing: number)
        sendQueue()
    }

    /// Stops or continues to read messages of the client, because a page does not receive its file as fast.
    func holdReading(_ isHeld: Bool) {
        isReadingHeld = isHeld
        checkCongestion()
    }

    // MARK: - Receiving

    /// The number of bytes of files in the messages since the last call of this method. These messages do not count for the rate limit:
    /// the page limits their rate.
    func takeImportedBytes() -> Int {
        defer { importedBytes = 0 }
        return importedBytes
    }

    func receive(_ message: ClientMessage) {
        if isClosing { return }
        switch message.body {
        case .subscribe(let streams, let payload):
            reply(to: message.id, error: subscribe(streams, payload))
        case .clock(let sent):
            send(hub.line { $0.appendClock(sent: sent, now: MonotonicTime.milliseconds) })
            reply(to: message.id, error: nil)
        case .status:
            send(hub.status)
            reply(to: message.id, error: nil)
        case .request(let request):
            if case .window = request.task, let refusal = windowRefusal { return reply(to: message.id, error: refusal) }
            hub.calls.add(request, id: message.id, from: self)
        case .pageConnection:
            isPageConnection = true
            reply(to: message.id, error: nil)
        case .windowReady:
            if let refusal = windowRefusal { return reply(to: message.id, error: refusal) }
            reply(to: message.id, error: nil)
            hub.calls.add(window: self)
        case .tabs(let tabs):
            if let refusal = windowRefusal { return reply(to: message.id, error: refusal) }
            hub.calls.set(tabs, id: message.id, from: self)
        case .importData(let data):
            if hub.calls.add(data, id: message.id, from: self) { importedBytes += data.base64.utf8.count }
        case .answer(let answer, let call):
            let isExpected = hub.calls.receive(answer, call: call, from: self)
            reply(to: message.id, error: isExpected ? nil : "call \(call) does not wait for an answer of this client")
        case .pageError(let error):
            hub.pageErrors.report(error, of: origin)
            reply(to: message.id, error: nil)
        case .close:
            if isControlClient, !hub.exitsOnClose {
                return reply(
                    to: message.id,
                    error: hub.calls.pageCount == 0
                        ? "no page is connected" : "closeViz closes the page that sends it; with exit_on_close=true it also ends the run")
            }
            reply(to: message.id, error: nil)
            close()
            hub.clientDidClose()
        case .control(let control):
            follow(control)
            if control.type == .ready { becomeReady(requestsPresetNames: control["presets"].items?.isEmpty != false) }
            submit(control, id: message.id)
        case .invalid(let reason):
            reply(to: message.id, error: reject(reason))
        }
    }

    /// Why the client cannot be a window and not control one; nil: it can. A window opens any path of the user that the message names.
    private var windowRefusal: String? {
        if !connection.isLocal { return "messages of windows are accepted on the sink socket only" }
        return isPageConnection ? "messages of windows are not accepted from pages" : nil
    }

    /// - Returns: The error; nil if the subscription has changed.
    private func subscribe(_ names: [String]?, _ payload: String?) -> String? {
        var new = subscription
        // `payload=bare` of the sink applies only to clients that never subscribe.
        if !hasSubscribed, new.isBare { new.payload = .json }
        if let payload {
            guard let payload = SamplePayload(rawValue: payload) else {
                return reject("unknown payload \"\(payload.prefix(64))\"; expected json, base64, bare or binary")
            }
            if payload == .binary, !connection.acceptsBinaryMessages {
                return reject("the payload binary requires a WebSocket; use json, base64 or bare on this socket")
            }
            new.payload = payload
        }
        if let names {
            new.streams = []
            new.isExplicit = true
            for name in names {
                guard let stream = hub.catalog.stream(named: name) else {
                    return reject("unknown stream \"\(name.prefix(64))\"; expected one of: \(hub.catalog.names.joined(separator: ", "))")
                }
                new.streams.formUnion(stream)
            }
        }
        // A bare client gets arrays of samples and nothing else.
        if new.isBare { new.streams.formIntersection(.samples) }
        hasSubscribed = true
        let hadHeader = subscription.streams.contains(.header)
        subscription = new
        hub.updateSubscriptions()
        if !hasSentHello {
            sendHello()
        } else if !hadHeader, new.streams.contains(.header), let header = hub.header {
            send(header)
        }
        return nil
    }

    /// Sends an error line for an invalid message or subscription, with or without an id.
    private func reject(_ text: String) -> String {
        errorCount += 1
        send(hub.line { $0.appendError(text, count: errorCount) })
        return text
    }

    private func becomeReady(requestsPresetNames: Bool) {
        isReady = true
        hub.calls.add(page: self)
        if requestsPresetNames { send(PageCommand.getPresetNamesLine) }
        if let speed = hub.state.speed { send(hub.line { $0.appendSetSpeed(speed) }) }
        if let preset = hub.state.preset, has(preset) { send(preset: hub.line { $0.appendLoadPreset(preset, blend: 0) }) }
    }

    /// Reports that the page has disconnected, again while the run accepts no further control.
    func reportClosing() {
        guard isReady else { return }
        isReady = false
        submitClosing()
    }

    private func submitClosing() {
        let client = NIOLoopBound(self, eventLoop: hub.loop)
        let loop = hub.loop
        hub.controls.submit(Control(.pageClosed), from: origin) { reply, _ in
            guard reply == .busy else { return }
            loop.scheduleTask(in: .milliseconds(100)) { client.value.submitClosing() }
        }
    }

    private func submit(_ control: Control, id: ClientMessage.ID?) {
        guard let id else { return hub.controls.submit(control, from: origin) }
        let number = replies.reserve()
        // The reply arrives on another thread.
        let client = NIOLoopBound(self, eventLoop: hub.loop)
        let loop = hub.loop
        hub.controls.submit(control, from: origin) { reply, effect in
            loop.execute {
                client.value.hub.reply(after: effect) { client.value.resolve(number, id, Self.error(reply)) }
            }
        }
    }

    private static func error(_ reply: ControlReply) -> String? {
        switch reply {
        case .done, .switched: nil
        case .refused(let reason): reason
        case .busy: "busy: too many controls at once; try again"
        }
    }

    private func reply(to id: ClientMessage.ID?, error: String?) {
        guard let id else { return }
        resolve(replies.reserve(), id, error)
    }

    private func resolve(_ number: Int, _ id: ClientMessage.ID, _ error: String?) {
        send(replies.resolve(number, hub.line { $0.appendReply(to: id, error: error) }).compactMap(\.self))
        checkCongestion()
    }
}

/// Returns replies in the order of the requests, independent of the order in which they become available.
struct ReplyQueue<Reply: Sendable>: Sendable {
    private var replies: [Reply?] = []
    /// The number of the first request in `replies`.
    private var first = 0

    /// The number of requests whose reply has not been returned.
    var count: Int { replies.count }

    /// Adds a request.
    ///
    /// - Returns: Its number, for `resolve`.
    mutating func reserve() -> Int {
        replies.append(nil)
        return first + replies.count - 1
    }

    /// Sets the reply of a request.
    ///
    /// - Returns: The replies that can be sent now, in order.
    mutating func resolve(_ number: Int, _ reply: Reply) -> [Reply] {
        guard replies.indices.contains(number - first) else { return [] }
        replies[number - first] = reply
        let available = replies.prefix { $0 != nil }
        replies.removeFirst(available.count)
        first += available.count
        return available.map { $0! }
    }
}
