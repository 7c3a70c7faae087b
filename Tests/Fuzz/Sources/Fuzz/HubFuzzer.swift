import Hemiola
import HemiolaPlugins
import HemiolaVisualizer
import NIOCore
import NIOEmbedded
import Synchronization

@testable import HemiolaBridge
@testable import HemiolaRecords

extension Fuzzer {
    /// Several clients of one hub. The input is a script with one step per line: `0` to `3` and the bytes that this client sends, with a
    /// newline; `R`, the client and the bytes it sends without a newline; `J` and `L`, a client connects and disconnects; `W`, a client
    /// stops or continues reading; `B`, a batch with all submitted controls; `S`, a stream begins.
    ///
    /// Every line to a client is JSON, the first one `hello`. Submitted controls are within the limits. The calls of a page have
    /// increasing numbers.
    func tryHub(_ bytes: [UInt8]) {
        let fixture = HubFixture()
        for step in bytes.split(separator: UInt8(ascii: "\n")).prefix(400) { fixture.run(step) }
        fixture.finish()
    }
}

/// A hub with an event loop that the test advances, and a replacement of the engine.
private final class HubFixture {
    /// A client with its channel.
    private final class Client {
        let channel: EmbeddedChannel
        var lineCount = 0
        var isBare = false
        var lastCall = 0

        init(_ hub: BridgeHub, _ loop: EmbeddedEventLoop) {
            channel = EmbeddedChannel(loop: loop)
            try! channel.pipeline.syncOperations.addHandler(LineHandler(hub, user: 0, refusal: nil))
            channel.pipeline.fireChannelActive()
        }
    }

    /// The controls that clients have submitted since the last batch.
    private final class Inbox: Sendable {
        typealias Entry = (control: Control, origin: String, reply: ControlPort.Reply?)
        private let entries = Mutex<[Entry]>([])

        func append(_ entry: Entry) { entries.withLock { $0.append(entry) } }
        func take() -> [Entry] {
            entries.withLock { entries in
                defer { entries = [] }
                return entries
            }
        }
    }

    private let loop = EmbeddedEventLoop()
    private let inbox = Inbox()
    private let hub: BridgeHub
    private let subscriptions = SubscriptionUnion()
    private let catalog = PluginRegistry.standard.catalog
    private let encoder: Mutex<BatchEncoder>
    private var clients: [Int: Client] = [:]
    private var hasStream = false
    private var batchNumber: Int64 = 0
    private let format = StreamFormat(sampleRate: 44_100, channelCount: 1)

    init() {
        let inbox = inbox
        let context = SinkContext(
            name: "socket", records: RecordChoice(catalog: catalog), timing: SinkTiming(isLive: true),
            controls: ControlPort(
                submit: { control, origin, reply in inbox.append((control, origin, reply)) }, report: { _ in }))
        encoder = Mutex(BatchEncoder(context))
        hub = BridgeHub(context, BridgeSettings(clientLimit: 3), subscriptions, on: loop)
    }

    func run(_ step: ArraySlice<UInt8>) {
        guard let kind = step.first else { return }
        let rest = Array(step.dropFirst())
        switch kind {
        case UInt8(ascii: "0")...UInt8(ascii: "3"): receive(rest + [10], Int(kind & 3))
        case UInt8(ascii: "R"): receive(Array(rest.dropFirst()), Int((rest.first ?? 0) & 3))
        case UInt8(ascii: "J"): join(Int((rest.first ?? 0) & 3))
        case UInt8(ascii: "L"): leave(Int((rest.first ?? 0) & 3))
        case UInt8(ascii: "W"):
            guard let client = clients[Int((rest.first ?? 0) & 3)] else { return }
            client.channel.isWritable.toggle()
            client.channel.pipeline.fireChannelWritabilityChanged()
        case UInt8(ascii: "S"): begin()
        case UInt8(ascii: "B"): sendBatch(flag: rest.first ?? 0)
        default: receive(Array(step), 0)
        }
        advance()
    }

    /// Every client reads again, and every control gets its reply.
    func finish() {
        if !hasStream { begin() }
        for client in clients.values where !client.channel.isWritable {
            client.channel.isWritable = true
            client.channel.pipeline.fireChannelWritabilityChanged()
        }
        for _ in 0..<20 { sendBatch(flag: 0) }
        advance()
        for number in clients.keys.sorted() { leave(number) }
        advance()
        // What they have sent last refers to them.
        for post in inbox.take() { post.reply?(.done) }
        _ = try? loop.syncShutdownGracefully()
    }

    private func join(_ number: Int) {
        if clients[number] == nil { clients[number] = Client(hub, loop) }
    }

    private func leave(_ number: Int) {
        guard let client = clients.removeValue(forKey: number) else { return }
        read(client)
        _ = try? client.channel.finish(acceptAlreadyClosed: true)
    }

    private func receive(_ bytes: [UInt8], _ number: Int) {
        join(number)
        guard let client = clients[number], client.channel.isActive || client.lineCount == 0 else { return }
        _ = try? client.channel.writeInbound(ByteBuffer(bytes: bytes))
    }

    private func begin() {
        hasStream = true
        batchNumber = 0
        let header = StreamHeader(
            source: StreamSource(format: format, kind: "fuzz", name: "fuzz"), isLive: true, batching: .standard, seed: 0, analyzers: [],
            catalog: catalog)
        hub.begin(encoder.withLock { $0.begin(header) })
    }

    /// Sends a batch with the submitted controls as events, then the replies.
    private func sendBatch(flag: UInt8) {
        let taken = inbox.take()
        guard hasStream else {
            for post in taken { post.reply?(.busy) }
            return
        }
        batchNumber += 1
        let time = Double(batchNumber) / 43
        var events: [Event] = []
        for post in taken {
            check(post.control)
            events.append(Event(at: time, StampedControl(post.control, at: batchNumber * 1024, from: post.origin)))
            switch post.control.type {
            case .loadPreset:
                let name = post.control["name"].string ?? ""
                events.append(Event(at: time, PresetChange(name: name, cut: .soft, blend: 1, reason: .request)))
            case .setSpeed:
                if let speed = post.control["speed"].number, speed.isFinite { events.append(Event(at: time, SpeedChange(speed))) }
            default: break
            }
        }
        if flag & 1 == 1 {
            let state = DeviceEvent.State.allCases[Int(flag >> 1) % DeviceEvent.State.allCases.count]
            events.append(Event(at: time, DeviceEvent(name: "d", summary: "D", state: state, format: format)))
        }
        if let batch = encoder.withLock({ $0.encode(events, subscriptions.current) }) { hub.send(batch) }
        for (index, post) in taken.enumerated() {
            post.reply?(index % 3 == 0 ? .done : index % 3 == 1 ? .busy : .refused("no \"way\""))
        }
    }

    private func check(_ control: Control) {
        for value in control.values {
            let items = value.items ?? [value]
            require(items.count <= ClientMessage.longestList, "a list of \(items.count)")
            require(items.allSatisfy { ($0.string?.utf8.count ?? 0) <= ClientMessage.longestText }, "a text is too long")
        }
    }

    /// Advances the event loop's clock by two seconds, and reads what was sent.
    private func advance() {
        loop.advanceTime(by: .seconds(2))
        for number in clients.keys.sorted() { read(clients[number]!) }
    }

    private func read(_ client: Client) {
        while let buffer = try? client.channel.readOutbound(as: ByteBuffer.self) {
            let bytes = Array(buffer.readableBytesView)
            if bytes.isEmpty { continue }
            require(bytes.last == 10 && bytes.dropLast().allSatisfy { $0 != 10 }, "not one line: \(String(decoding: bytes, as: UTF8.self))")
            require((try? JSONValue(message: Array(bytes.dropLast()))) != nil, "invalid JSON: \(String(decoding: bytes, as: UTF8.self))")
            let text = String(decoding: bytes, as: UTF8.self)
            if client.lineCount == 0 {
                require(
                    text.hasPrefix(#"{"type":"hello""#) || text.contains("client limit") || text.contains("disconnected")
                        || text.hasPrefix("["),
                    "the first line is \(text)")
            }
            if let number = text.wholeMatch(of: /\{"type":"(?:call|import)","call":([0-9]+),.*\n/).flatMap({ Int($0.1) }) {
                require(number > client.lastCall, "call \(number) after call \(client.lastCall)")
                client.lastCall = number
            }
            client.lineCount += 1
        }
    }
}
