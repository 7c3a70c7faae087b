internal import Hemiola
internal import HemiolaSignal
internal import HemiolaWire
internal import NIOCore

/// The way to one client: a channel, whatever its framing. Used on the event loop alone.
protocol ClientWire: AnyObject {
    /// Whether what is written now leaves at once.
    var isWritable: Bool { get }
    /// A line, with its newline.
    func write(_ line: ByteBuffer)
    func flush()
    /// Closes when all that was written has left.
    func finish()
    /// Closes at once.
    func abort()
    /// The client is not congested any more: what it sends is wanted again.
    func resume()
}

/// One client of a bridge. Used on the event loop alone.
final class BridgeClient {
    /// Lines for it alone, and answers that it waits for, before its own messages have to wait.
    private static let patience = 64

    let name: String
    private(set) var subscription: Subscription
    private let hub: BridgeHub
    private let wire: any ClientWire
    private var outbox = Outbox()
    private var replies = ReplyQueue<ByteBuffer?>()
    /// What must not come before the `hello`.
    private var held: [ByteBuffer] = []
    private var isGreeted = false
    /// Whether it is a page that can be driven.
    private var isReady = false
    private(set) var isClosing = false
    /// Whether it ever said how it wants the samples, or what it wants at all.
    private var hasSubscribed = false
    private var isPumping = false
    /// Whether the client was congested at the last check: the wire may have stopped reading it, and has to be resumed.
    private var wasCongested = false
    private var errorCount = 0
    private var reportedLosses = Outbox.Lost()
    private var lastReport = -Double.infinity

    init(_ number: Int, _ hub: BridgeHub, _ wire: any ClientWire, payload: SamplePayload) {
        name = "\(number)"
        self.hub = hub
        self.wire = wire
        subscription = Subscription(payload: payload)
    }

    /// Whether so much was read of it or waited for it that the memory is worth giving back.
    var hasNeededMemory: Bool { hasSentLongLine || outbox.largestByteCount > 256 << 10 }
    /// Whether a line came from it that takes long to read.
    var hasSentLongLine = false

    /// As `control` records name it.
    private var origin: String { "\(hub.name)/\(name)" }

    /// Whether it has to read before anything more is heard of it.
    var isCongested: Bool { held.count + outbox.count > Self.patience || replies.count > Self.patience }

    // MARK: - What it gets

    /// A stream begins, or it has just come.
    func greet() {
        guard !subscription.isBare, let hello = hub.hello else { return }
        isGreeted = true
        var lines = [hello]
        if getsPageLines { lines.append(PageLine.resumeAudio) }
        if subscription.streams.contains(.header), let header = hub.header { lines.append(header) }
        lines += held
        held = []
        send(lines)
        checkCongestion()
    }

    /// The device has changed, as this line says.
    func deliver(status: ByteBuffer) {
        if getsPageLines { send(status) }
    }

    func deliver(_ parcel: Parcel) {
        if isClosing { return }
        outbox.byteLimit = hub.byteLimit
        if outbox.isEmpty, wire.isWritable {
            var hasWritten = false
            parcel.write(subscription, client: name, isStripped: false) {
                wire.write($0)
                hasWritten = true
            }
            for cue in parcel.cues where wants(cue) {
                wire.write(cue.bytes)
                hasWritten = true
            }
            if hasWritten { wire.flush() }
        } else {
            outbox.add(parcel, for: subscription)
            for cue in parcel.cues where wants(cue) { outbox.add(cue.bytes) }
            pump()
        }
        reportLosses(at: parcel.time)
    }

    /// Writes what waits, as far as the client takes it.
    func pump() {
        if isPumping { return }
        isPumping = true
        while wire.isWritable, let slot = outbox.next() {
            switch slot {
            case .own(let line): wire.write(line)
            case .parcel(let parcel, let subscription, let isStripped):
                parcel.write(subscription, client: name, isStripped: isStripped) { wire.write($0) }
            case .hole(let lost):
                if !subscription.isBare, let line = hub.dropped(client: name, lost) { wire.write(line) }
            }
            wire.flush()
        }
        isPumping = false
        if isClosing, outbox.isEmpty { wire.finish() }
        checkCongestion()
    }

    /// Resumes the wire when the client was congested at an earlier call and is not any more. Called at the end of everything that
    /// changes how many lines or replies wait, because the wire may process further messages within the call.
    private func checkCongestion() {
        if isCongested {
            wasCongested = true
        } else if wasCongested {
            wasCongested = false
            wire.resume()
        }
    }

    /// What is left to be told of it, before it is forgotten.
    func reportLosses(at time: Double = .infinity) {
        let lost = outbox.lost - reportedLosses
        guard !lost.isEmpty else { return }
        // A new stream's clock starts anew.
        guard time - lastReport >= 1 || time < lastReport else { return }
        hub.controls.report(Loss(sink: hub.name, client: name, batches: lost.batches, events: lost.events))
        reportedLosses = outbox.lost
        lastReport = time
    }

    /// Lets it have what waits, then ends it.
    func close() {
        isClosing = true
        pump()
    }

    /// Ends it, whatever waits.
    func abandon() {
        wire.abort()
    }

    /// Whether it gets what only pages understand: without having chosen otherwise, or because it is one.
    private var getsPageLines: Bool { !subscription.isBare && (!subscription.isChosen || isReady) }

    private func wants(_ cue: Parcel.Cue) -> Bool {
        guard !subscription.isBare, isReady || !cue.needsReady && !subscription.isChosen else { return false }
        return cue.except != origin
    }

    private func send(_ line: ByteBuffer) {
        send(CollectionOfOne(line))
    }

    /// Sends several lines. None that a resumed wire causes comes between them.
    private func send(_ lines: some Sequence<ByteBuffer>) {
        if isClosing || subscription.isBare { return }
        guard isGreeted else {
            held += lines
            return checkCongestion()
        }
        outbox.byteLimit = hub.byteLimit
        for line in lines { outbox.add(line) }
        pump()
    }

    // MARK: - What it says

    func receive(_ message: ClientMessage) {
        if isClosing { return }
        switch message.body {
        case .subscribe(let streams, let payload):
            answer(message.id, subscribe(streams, payload))
        case .status:
            send(hub.status)
            answer(message.id, nil)
        case .close:
            answer(message.id, nil)
            close()
            hub.clientHasClosed()
        case .control(let control):
            if case .ready(let presets) = control { becomeReady(asksForPresets: presets.isEmpty) }
            post(control, id: message.id)
        }
    }

    func receive(_ fault: ClientMessage.Fault) {
        if isClosing { return }
        errorCount += 1
        send(hub.line { $0.appendError(fault.text, count: errorCount) })
        answer(fault.id, fault.text)
    }

    private func subscribe(_ names: [String]?, _ payload: String?) -> String? {
        var wish = subscription
        // Bare by default are those that only read.
        if !hasSubscribed, wish.isBare { wish.payload = .json }
        if let payload {
            guard let payload = SamplePayload(rawValue: payload) else {
                return refuse("there is no payload \"\(payload.prefix(64))\"; there are: json, base64, bare")
            }
            wish.payload = payload
        }
        if let names {
            wish.streams = []
            wish.isChosen = true
            for name in names {
                guard let stream = StreamSet(named: name) else {
                    return refuse(
                        "there is no stream \"\(name.prefix(64))\"; there are: \(StreamSet.names.joined(separator: ", "))")
                }
                wish.streams.formUnion(stream)
            }
        }
        // Arrays, and nothing else.
        if wish.isBare { wish.streams.formIntersection(.samples) }
        hasSubscribed = true
        let hadHeader = subscription.streams.contains(.header)
        subscription = wish
        hub.subscriptionsChanged()
        if !isGreeted {
            greet()
        } else if !hadHeader, wish.streams.contains(.header), let header = hub.header {
            send(header)
        }
        return nil
    }

    /// A wish that cannot be had counts as an error, whether or not it has an id.
    private func refuse(_ text: String) -> String {
        errorCount += 1
        send(hub.line { $0.appendError(text, count: errorCount) })
        return text
    }

    private func becomeReady(asksForPresets: Bool) {
        isReady = true
        if asksForPresets { send(PageLine.getPresetNames) }
        if let speed = hub.state.speed { send(hub.line { $0.appendSetSpeed(speed) }) }
        if let preset = hub.state.preset { send(hub.line { $0.appendLoadPreset(preset, blend: 0) }) }
    }

    private func post(_ control: Control, id: ClientMessage.ID?) {
        guard let id else { return hub.controls.post(control, from: origin) }
        let number = replies.expect()
        // What comes back is on another thread.
        let client = NIOLoopBound(self, eventLoop: hub.loop)
        let loop = hub.loop
        hub.controls.post(control, from: origin) { reply in
            loop.execute { client.value.resolve(number, id, Self.fault(reply)) }
        }
    }

    private static func fault(_ reply: ControlReply) -> String? {
        switch reply {
        case .done: nil
        case .refused(let reason): reason
        case .busy: "busy: too many controls at once; try again"
        }
    }

    private func answer(_ id: ClientMessage.ID?, _ fault: String?) {
        guard let id else { return }
        resolve(replies.expect(), id, fault)
    }

    private func resolve(_ number: Int, _ id: ClientMessage.ID, _ fault: String?) {
        send(replies.resolve(number, hub.line { $0.appendReply(to: id, fault: fault) }).compactMap(\.self))
        checkCongestion()
    }
}
