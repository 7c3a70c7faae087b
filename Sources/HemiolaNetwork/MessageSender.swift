public import Hemiola
package import NIOCore
internal import NIOPosix

/// Sends messages to one receiver at their times, and counts and reports those that are lost.
///
/// A name is resolved, and a connection made, again and again until the receiver is reached. Messages wait for the result of the first attempt;
/// those that are due after a failure are lost. A message is sent whole or not at all.
///
/// Thread-safe. No call blocks, except ``close(within:)``. `@unchecked Sendable`: all variables belong to the event loop.
public final class MessageSender: @unchecked Sendable {
    /// The most messages that wait for their time: more than a minute of events, or ten seconds of batches.
    static let capacity = 1000
    /// The latest time of a message: 30 years after the start of the computer.
    private static let latestTime = 1e9
    /// The longest pause between two attempts, in seconds.
    private static let longestPause = 2.0

    private enum Connection {
        /// The first attempt has no result yet.
        case connecting
        case open(any Channel)
        /// There is none, for this reason.
        case failed(String)
    }

    private struct Message {
        var due: Double
        var bytes: [UInt8]
    }

    private let target: NetworkTarget
    private let loop: MessageLoop
    /// The sink and the receiver, at the beginning of messages.
    private let title: String
    private let spacing: Double
    /// The number of the network interface for a multicast group; 0: that of the system's routes.
    private let interface: UInt32
    private var connection = Connection.connecting
    private var retry = RetryDelay(first: 0.2, longest: longestPause)
    /// In order of time; those of one time in the order in which they were added.
    private var messages: [Message] = []
    /// Messages that the channel has not written yet.
    private var unwritten = 0
    /// The earliest time of the next message.
    private var earliest = -Double.infinity
    /// When the event loop looks for messages that are due.
    private var timer: LoopTimer
    /// What is wrong with the channel.
    private var fault: String?
    private var losses: LossReport
    private var isClosed = false
    /// Gets the number of messages when the sender is closed, if the receiver was never reached; else nil.
    private var closing: EventLoopPromise<Int?>?

    /// Starts a sender.
    ///
    /// - Parameters:
    ///   - target: The receiver.
    ///   - interface: The name of the network interface for a multicast group; nil: that of the system's routes.
    ///   - spacing: The shortest time between two messages, in seconds.
    ///   - sendsEvents: Whether each message is that of an event, not of a batch, for `dropped` records.
    ///   - context: The context of the sink, which gets warnings and `dropped` records.
    /// - Throws: The configuration is impossible on this computer. A receiver that is not available is no error.
    public init(
        to target: NetworkTarget, interface: String? = nil, spacing: Double = 0, sendsEvents: Bool = false,
        _ context: SinkContext
    ) throws(Problem) {
        self.target = target
        loop = MessageLoop(context.timing.clock)
        timer = LoopTimer(on: loop)
        title = "\(context.name): \(target)"
        self.spacing = spacing
        self.interface = interface.flatMap { InternetAddress.interfaceNumber($0) } ?? 0
        losses = LossReport(context, receiver: target.description, countsEvents: sendsEvents)
        if let interface, self.interface == 0 {
            throw Problem("\(title): there is no network interface \"\(interface)\"; see: ip link")
        }
        guard target.transport == .udp, target.endpoint.address != nil else {
            loop.events.execute { self.connect() }
            return
        }
        // A datagram socket is connected at once, without a message to the receiver: an error is one of this computer.
        do {
            let channel = try loop.result(of: loop.events.flatSubmit { self.openChannel() })
            loop.events.execute { self.begin(channel) }
        } catch {
            throw Problem("\(title): \(Self.text(of: error))")
        }
    }

    /// Sends a message, or counts it as lost.
    ///
    /// - Parameters:
    ///   - bytes: The message.
    ///   - time: When it is sent, in monotonic seconds; a time in the past: now.
    public func send(_ bytes: [UInt8], at time: Double) {
        // A recording may have events at any time.
        let due = min(max(0, time), Self.latestTime)
        loop.events.execute { self.add(Message(due: due, bytes: bytes)) }
    }

    /// Waits for the messages that are due within so many seconds, and ends. Reports losses.
    ///
    /// - Throws: Not one message could be sent, because there was no connection.
    public func close(within seconds: Double) throws(Problem) {
        let end = loop.now + seconds
        let closing = loop.events.makePromise(of: Int?.self)
        loop.events.execute { self.beginClosing(closing, end) }
        guard let lost = try? loop.result(of: closing.futureResult) else { return }
        throw Problem("\(title): not one of \(lost) messages could be sent")
    }

    // MARK: - Messages

    private func add(_ message: Message) {
        if isClosed { return }
        if messages.count == Self.capacity {
            messages.removeFirst()
            losses.lose(1, because: "too many messages wait for their time", at: loop.now)
        }
        let place = messages.lastIndex { $0.due <= message.due }.map { $0 + 1 } ?? 0
        messages.insert(message, at: place)
        if place == 0 { sendDueMessages() }
    }

    private func sendDueMessages() {
        let now = loop.now
        while let next = messages.first {
            let time = max(next.due, earliest)
            guard time <= now else { return timer.set(time) { self.handleTimer() } }
            switch connection {
            case .connecting: return
            case .failed(let reason):
                messages.removeFirst()
                losses.lose(1, because: reason, at: now)
            case .open(let channel):
                messages.removeFirst()
                if !channel.isWritable {
                    losses.lose(1, because: Self.slow, at: now)
                } else {
                    write(next.bytes, to: channel)
                    earliest = now + spacing
                }
            }
        }
        closeIfDone()
    }

    private func handleTimer() {
        if timer.end(at: loop.now) { sendDueMessages() }
    }

    private func write(_ bytes: [UInt8], to channel: any Channel) {
        unwritten += 1
        channel.writeAndFlush(ByteBuffer(bytes: bytes)).whenComplete { [self] result in
            unwritten -= 1
            switch result {
            case .success: losses.send(at: loop.now)
            case .failure(let error):
                fault = Self.text(of: error)
                // Of a datagram the system reports that the one before it was refused.
                let code = (error as? IOError).flatMap { SystemCallError(number: $0.errnoCode).code }
                let isRefused = target.transport == .udp && code == .connectionRefused
                losses.lose(isRefused ? 2 : 1, because: isClosed ? Self.slow : fault, at: loop.now)
            }
            closeIfDone()
        }
    }

    private func beginClosing(_ closing: EventLoopPromise<Int?>, _ end: Double) {
        self.closing = closing
        let count = messages.count
        messages.removeAll { $0.due > end }
        losses.lose(count - messages.count, because: nil, at: loop.now)
        loop.run(at: end) { self.finish() }
        sendDueMessages()
        closeIfDone()
    }

    private func closeIfDone() {
        if case .failed = connection { return finish() }
        if messages.isEmpty, unwritten == 0 { finish() }
    }

    private func finish() {
        guard let closing else { return }
        (self.closing, isClosed) = (nil, true)
        timer.cancel()
        // Whether a datagram has arrived is not known.
        var isReached = target.transport == .udp || losses.hasSent
        if case .open(let channel) = connection {
            isReached = true
            // The messages that it has not written fail.
            channel.close(promise: nil)
        }
        losses.lose(messages.count, because: nil, at: loop.now)
        messages = []
        let lost = isReached || losses.lost == 0 ? nil : losses.lost
        losses.close(warns: lost == nil, at: loop.now)
        closing.succeed(lost)
    }

    // MARK: - Connection

    private func connect() {
        if isClosed { return }
        openChannel().whenComplete { [self] result in
            switch result {
            case .success(let channel): begin(channel)
            case .failure(let error): reconnect(because: Self.text(of: error))
            }
        }
    }

    private func openChannel() -> EventLoopFuture<any Channel> {
        loop.open(target, interface) { [self] channel in observe(channel) }
    }

    private func observe(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(FaultHandler { self.note($0) }) }
    }

    private func begin(_ channel: any Channel) {
        if isClosed { return channel.close(promise: nil) }
        fault = nil
        connection = .open(channel)
        retry.noteStart(at: loop.now)
        channel.closeFuture.whenComplete { [self] _ in reconnect(because: fault ?? "the receiver closed the connection") }
        sendDueMessages()
    }

    private func reconnect(because reason: String) {
        if isClosed { return }
        connection = .failed(reason)
        losses.lose(0, because: reason, at: loop.now)
        retry.noteFailure(at: loop.now)
        loop.run(at: retry.nextAttempt) { self.connect() }
        sendDueMessages()
    }

    /// Notes an error of the channel outside a message. That of a datagram is an answer of the receiver's system to an earlier one.
    private func note(_ error: any Error) {
        fault = Self.text(of: error)
        if target.transport == .udp { losses.lose(1, because: fault, at: loop.now) }
    }

    private static let slow = "the receiver is too slow"

    private static func text(of error: any Error) -> String {
        switch error {
        case let error as IOError: text(of: SystemCallError(number: error.errnoCode))
        case let error as SocketAddressError.UnknownHost: "cannot resolve the name: \(error.errorDescription)"
        case let error as NIOConnectionError:
            (error.connectionErrors.last?.error ?? error.dnsAError ?? error.dnsAAAAError).map { text(of: $0) } ?? "no address"
        case ChannelError.connectTimeout: "no answer within \(MessageLoop.connectTime) s"
        case ChannelError.writeMessageTooLarge: "the message is too long for a datagram"
        case ChannelError.writeHostUnreachable: text(of: SystemCallError(.hostUnreachable))
        default: "the receiver closed the connection"
        }
    }

    private static func text(of error: SystemCallError) -> String {
        let remedy =
            switch error.code {
            case .connectionRefused: "; start the program that receives there"
            case .networkUnreachable, .hostUnreachable, .networkDown: "; check the network"
            case .permissionDenied: "; a broadcast address needs the address of its network"
            default: ""
            }
        return "\(error)\(remedy)"
    }
}

extension MessageSender {
    /// A clock for tests: senders whose context has it wait on an event loop of the test, and send to channels that the test makes.
    ///
    /// - Parameters:
    ///   - events: The loop, whose time is that of the clock.
    ///   - pass: Lets time pass, on the thread that waits. The first time in a wait, only what is due is done.
    ///   - open: Makes a connected channel to a receiver, through the network interface of a number (0: that of the system's routes), and
    ///     lets the last argument prepare it before.
    package static func clock(
        of events: any EventLoop, pass: @escaping @Sendable (_ isFirst: Bool) -> Void,
        open:
            @escaping @Sendable (
                _ target: NetworkTarget, _ interface: UInt32, _ prepare: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
            ) -> EventLoopFuture<any Channel>
    ) -> any MonotonicClock {
        MessageLoop(events, pass: pass, open: open)
    }
}

/// Passes on the errors of a channel. What arrives is discarded at the end of the pipeline.
private final class FaultHandler: ChannelInboundHandler {
    typealias InboundIn = Never

    private let note: (any Error) -> Void

    init(_ note: @escaping (any Error) -> Void) {
        self.note = note
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { note(error) }
}

extension SettingReader {
    /// The setting `delay_ms` of a sink that sends to the network.
    ///
    /// - Returns: Seconds.
    public mutating func networkDelay() -> Double {
        milliseconds("delay_ms", default: 0, in: 0...10_000, "Time by which everything is sent later.")
    }

    /// The setting `interface` of a sink that can send to a multicast group.
    public mutating func networkInterface() -> String? {
        text("interface", example: "eth0", "Network interface of a multicast group. Default: that of the routes.")
    }

    /// The setting `rate_hz` of a sink that sends frames to lights.
    public mutating func frameRate() -> Double {
        hertz("rate_hz", default: 44, in: 0...1000, "Most frames in a second, as DMX permits; 0: a frame with each batch.")
    }
}
