public import Hemiola
public import HemiolaVisualizer
internal import NIOCore
internal import NIOHTTP1

/// The page of a film: its files, what it is sent and when, and what it says. It has the messages of a page on a WebSocket, at times of the
/// film in place of those of a clock, and without a network.
///
/// A page controls nothing: its messages come in while a film is drawn, and the film must not depend on how fast that is. Only the names of
/// its presets reach the run, before the stream begins.
public final class FilmPage {
    /// A message to the page.
    public struct Message: Sendable {
        /// Seconds of stream time.
        public var time: Double
        /// The number of the page's connection.
        public var connection: Int
        /// A line of JSON; empty: the connection is open.
        public var line: String
    }

    /// A file of the page.
    public struct File: Sendable {
        /// The status of HTTP.
        public var status: Int
        /// The headers, in order.
        public var headers: [(name: String, value: String)]
        /// The content.
        public var bytes: [UInt8]
    }

    /// One of the page's connections, of which a page has one for each frame with the page script.
    private struct Connection {
        let number: Int
        var subscription = Subscription()
        var page: PageState
        var errorCount = 0
    }

    /// Seconds by which beats are sent before they sound, longer than live, so that the page can draw each on the nearest picture.
    public static let beatLead = 0.1
    /// The host of the page's address. A page of this machine may use what browsers restrict to secure pages.
    public static let host = "127.0.0.1"

    private let context: SinkContext
    private let site: WebSite
    /// The presets that the page has reported, for the sink's ``/HemiolaVisualizer/PageDirector``.
    public let presets: PagePresets
    private var encoder: BatchEncoder
    private var encoders: StreamEncoders?
    private var state = VisualizerState()
    private var connections: [Connection] = []
    /// What is to be sent, in order of time.
    private var waiting: [Message] = []
    /// When the last change of the preset that came too fast is sent, in seconds.
    private var nextCommandTime = Double.infinity
    /// Whether the stream has begun to play, and whether the user has named the preset to begin with.
    private var (hasBatches, hasFirstPreset) = (false, false)
    /// The presets that the page has named.
    public private(set) var presetNames: [String] = []

    /// A page without a stream.
    ///
    /// - Parameters:
    ///   - context: That of the sink that makes the film.
    ///   - folder: The user's page; nil: the built-in one.
    ///   - presets: The folder of the user's presets for the built-in page; nil: there is none.
    public init(_ context: SinkContext, folder: PageFolder?, presets: String?) {
        self.context = context
        site = WebSite(address: Self.host, port: 80, token: "", files: PageFiles.all, folder: folder, presets: presets)
        self.presets = .shared(by: context.run)
        encoder = BatchEncoder(context)
    }

    /// The file at an absolute path of the page's address, with its query. Blocks.
    public func file(at target: String) -> File {
        let response = WebRequest(target: target).map { WebServer.response(to: $0, of: site, state, host: Self.host) }
        guard let response else { return File(status: 400, headers: [], bytes: []) }
        var bytes = Array(response.body.bytes.readableBytesView)
        if response.body.rest != nil, let rest = response.body.read(at: bytes.count, limit: .max) { bytes += rest.readableBytesView }
        return File(status: Int(response.status.code), headers: response.headers.map { ($0.name, $0.value) }, bytes: bytes)
    }

    // MARK: - The stream

    /// Begins the stream.
    public func begin(_ stream: StreamHeader) {
        let encoders = encoder.begin(stream)
        self.encoders = encoders
        state.begin(stream)
        for connection in connections { greet(connection, at: 0) }
    }

    /// Adds a batch, which the page gets at its end; its beats ``beatLead`` seconds before they sound.
    public func add(_ batch: borrowing Batch) {
        guard let encoders else { return }
        let end = encoders.format.seconds(at: batch.endFrame)
        let encoded = encoder.encode(batch, subscribed) { event, end in
            Beat(event) == nil ? end : min(end, max(0, event.time - Self.beatLead))
        }
        // The first presets are there on the first picture.
        if let encoded { add(encoded, at: end, commandsAt: hasBatches ? end : encoders.format.seconds(at: batch.frame)) }
        hasBatches = true
    }

    /// Adds events outside a batch.
    public func add(_ events: [Event]) {
        if let encoded = encoder.encode(events, subscribed) { add(encoded, at: encoded.time) }
    }

    /// Ends the stream.
    public func end(_ summary: StreamSummary) {
        if let encoded = encoder.end(summary, subscribed) { add(encoded, at: encoded.time) }
    }

    /// Takes the messages that are due at a time of the film.
    public func messages(until time: Double) -> [Message] {
        if nextCommandTime <= time {
            let due = nextCommandTime
            nextCommandTime = .infinity
            for index in connections.indices {
                if let command = connections[index].page.takeWaiting() { send(command, to: index, at: due) }
            }
        }
        let due = waiting.prefix { $0.time <= time }
        waiting.removeFirst(due.count)
        return Array(due)
    }

    private var subscribed: SubscriptionUnion.Contents {
        var contents = SubscriptionUnion.Contents()
        for connection in connections {
            contents.streams.formUnion(connection.subscription.streams)
            if connection.subscription.streams.contains(StreamName.samples) { contents.payloads.insert(connection.subscription.payload) }
        }
        return contents
    }

    private func add(_ batch: EncodedBatch, at time: Double, commandsAt commandTime: Double? = nil) {
        state = batch.state
        let commands = batch.pageCommands.filter { !hasFirstPreset || hasBatches || $0.preset == nil }
        for index in connections.indices {
            let (number, subscription) = (connections[index].number, connections[index].subscription)
            let lines = batch.lines(for: subscription, client: "\(number)")
            if let line = lines.batch { send(line, to: number, at: time) }
            for event in batch.eventLines where subscription.streams.contains(event.stream) {
                send(event.bytes, to: number, at: event.time)
            }
            for line in lines.samples { send(line, to: number, at: time) }
            for command in commands { send(command, to: index, at: commandTime ?? time) }
        }
    }

    private func send(_ line: ByteBuffer, to connection: Int, at time: Double) {
        // Of the same time, in this order.
        let place = waiting.lastIndex { $0.time <= time }.map { $0 + 1 } ?? 0
        waiting.insert(Message(time: time, connection: connection, line: String(buffer: line)), at: place)
    }

    private func send(_ command: PageCommand, to index: Int, at time: Double) {
        switch connections[index].page.step(to: command, at: UInt64(max(0, time) * 1e9)) {
        case .send: send(ByteBuffer(string: command.line), to: connections[index].number, at: time)
        case .wait(let until): nextCommandTime = min(nextCommandTime, Double(until) / 1e9)
        case .none: break
        }
    }

    private func greet(_ connection: Connection, at time: Double) {
        guard let encoders else { return }
        send(encoders.hello(state, at: time), to: connection.number, at: time)
        if connection.subscription.streams.contains(StreamName.header), let header = encoders.header {
            send(header, to: connection.number, at: time)
        }
        send(.resumeAudio, to: connection.number, at: time)
    }

    // MARK: - What the page says

    /// Takes what the page has sent: its kind, the number of the connection, and a line for most kinds.
    ///
    /// - Parameters:
    ///   - values: As the page script sends them to a window, or the film's script.
    ///   - time: The time of the film, in seconds.
    /// - Throws: The page has failed, and its words.
    public func receive(_ values: [JSONValue], at time: Double) throws(Problem) {
        let kind = values.first?.string
        if kind == "undriven", let name = values.last?.string {
            return context.messages.warn("\(context.name): the page uses \(name), which does not follow the clock of the film")
        }
        guard values.count > 1, let number = values[1].integer else { return }
        let index = connections.firstIndex { $0.number == number }
        switch (kind, index) {
        case ("open", nil):
            connections.append(Connection(number: number, page: PageState("\(context.name)/\(number)", presets)))
            send(ByteBuffer(), to: number, at: time)
            if let connection = connections.last { greet(connection, at: time) }
        case ("close", let index?): connections.remove(at: index)
        case ("subscribe", let index?), ("line", let index?):
            // A subscription has other forms of itself behind it, for a window that is hidden.
            let line = values.count > 2 ? values[2].string : nil
            try receive(ClientMessage(Array((line ?? "").utf8), catalog), of: index, at: time)
        default: break
        }
    }

    private var catalog: RecordCatalog { context.records.catalog }

    private func receive(_ message: ClientMessage, of index: Int, at time: Double) throws(Problem) {
        let number = connections[index].number
        var error: String?
        switch message.body {
        case .pageError(let text): throw Problem("the page has failed: \(text)")
        case .subscribe(let streams, let payload):
            do {
                try connections[index].subscription.change(streams, payload, catalog, acceptsBinaryMessages: false)
            } catch let fault {
                error = fault.message
            }
        case .clock(let sent): send(.clock(sent: sent, now: time), to: number, at: time)
        case .status:
            send(ByteBuffer(string: state.status(at: time, source: encoders?.source, pages: 1).line), to: number, at: time)
        case .control(let control):
            connections[index].page.follow(control)
            let names = control.type == .ready ? control["presets"] : control.type == .presetNames ? control["names"] : nil
            if let names = names?.items?.compactMap(\.string), !names.isEmpty { presetNames = names }
            if control.type == .ready { for command in state.commands(for: control) { send(command, to: index, at: time) } }
            if encoders == nil, [.ready, .presetNames].contains(control.type) {
                context.controls.submit(control, from: connections[index].page.origin)
            } else {
                error = "a film takes no controls"
            }
        case .close: break
        case .invalid(let reason):
            error = reason
            connections[index].errorCount += 1
            send(.error(reason, count: connections[index].errorCount), to: number, at: time)
        default: error = "a film has no other clients"
        }
        if let id = message.id { send(.reply(to: id, error.map { .error($0) } ?? .done), to: number, at: time) }
    }

    /// Shows a preset first, as `--preset` names it, in place of the first one of a schedule.
    public func load(preset: String) {
        hasFirstPreset = true
        let line = JSONValue.object([.init("type", .text("loadPresetByName")), .init("name", .text(preset)), .init("blend_s", .integer(0))])
            .line
        for connection in connections { send(ByteBuffer(string: line), to: connection.number, at: 0) }
    }
}
