internal import HemiolaSystem
internal import NIOCore
internal import NIOPosix
internal import Synchronization

/// Where messages wait for their time, and how their receivers are reached: the loop of the process, or one of a test, whose time passes
/// when the test says so, and which keeps what is sent. The senders of a sink use the one that is the clock of its context, else that of
/// the process.
struct MessageLoop: MonotonicClock {
    /// Makes a connected channel to a receiver.
    ///
    /// - Parameters:
    ///   - target: The receiver.
    ///   - interface: The number of the network interface for a multicast group; 0: that of the system's routes.
    ///   - prepare: Prepares the channel before it is connected.
    typealias Opening =
        @Sendable (
            _ target: NetworkTarget, _ interface: UInt32, _ prepare: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
        ) -> EventLoopFuture<any Channel>

    /// The loop of the process. Its thread starts with the first sender.
    static let process: MessageLoop = {
        let events: any EventLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        return MessageLoop(events) { channel(to: $0, interface: $1, on: events, $2) }
    }()

    /// The most bytes that wait for a slow receiver: several seconds of all features.
    private static let bufferSize = 1 << 20
    /// Seconds after which an attempt to connect has failed.
    static let connectTime = 5

    let events: any EventLoop
    let open: Opening
    /// Lets time pass, on the thread that waits; nil: it passes by itself. The first time in a wait, only what is due is done.
    private let pass: (@Sendable (_ isFirst: Bool) -> Void)?

    init(_ events: any EventLoop, pass: (@Sendable (_ isFirst: Bool) -> Void)? = nil, open: @escaping Opening) {
        self.events = events
        self.open = open
        self.pass = pass
    }

    /// The loop of a clock, if it is one; else that of the process.
    init(_ clock: any MonotonicClock) { self = clock as? MessageLoop ?? .process }

    var now: Double { Double(events.now.uptimeNanoseconds) * 1e-9 }

    func sleep(until time: Double) {
        try? result(of: run(at: time) {}.futureResult)
    }

    /// Waits for the result of a future.
    func result<Value: Sendable>(of future: EventLoopFuture<Value>) throws -> Value {
        guard let pass else { return try future.wait() }
        let outcome = Outcome<Value>()
        future.whenComplete { result in outcome.result.withLock { $0 = result } }
        pass(true)
        while true {
            if let result = outcome.result.withLock(\.self) { return try result.get() }
            pass(false)
        }
    }

    private final class Outcome<Value: Sendable>: Sendable {
        let result = Mutex<Result<Value, any Error>?>(nil)
    }

    /// Runs a function on the loop at a time.
    @discardableResult
    func run(at time: Double, _ body: @escaping @Sendable () -> Void) -> Scheduled<Void> {
        events.scheduleTask(deadline: .uptimeNanoseconds(UInt64((max(0, time) * 1e9).rounded(.up))), body)
    }

    // MARK: - Real channels

    private static func channel(
        to target: NetworkTarget, interface: UInt32, on events: any EventLoop,
        _ prepare: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel> {
        let (host, port) = (target.endpoint.host, target.endpoint.port)
        switch target.transport {
        case .udp:
            if let address = target.endpoint.address { return channel(to: address, interface, on: events, prepare) }
            return NIOThreadPool.singleton.runIfActive(eventLoop: events) {
                try SocketAddress.makeAddressResolvingHost(host, port: port)
            }.flatMap { channel(to: $0, interface, on: events, prepare) }
        case .tcp:
            return ClientBootstrap(group: events).connectTimeout(.seconds(Int64(connectTime)))
                .channelOption(.tcpOption(.tcp_nodelay), value: 1)
                .channelOption(.writeBufferWaterMark, value: .init(low: bufferSize, high: bufferSize))
                .channelInitializer(prepare)
                .connect(host: host, port: port)
        }
    }

    private static func channel(
        to address: SocketAddress, _ interface: UInt32, on events: any EventLoop,
        _ prepare: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
    ) -> EventLoopFuture<any Channel> {
        DatagramBootstrap(group: events)
            .channelOption(.socketOption(.so_broadcast), value: 1)
            // Answers are not read.
            .channelOption(.autoRead, value: false)
            .channelInitializer { channel in
                guard interface > 0, address.isMulticast, let options = channel as? any SocketOptionProvider else {
                    return prepare(channel)
                }
                if case .v6 = address { return options.setIPv6MulticastIF(interface).flatMap { prepare(channel) } }
                // Safe: the system's `ip_mreqn` has this layout.
                let request = (group: UInt32(0), address: UInt32(0), interface: Int32(interface))
                return options.unsafeSetSocketOption(level: .ip, name: .ip_multicast_if, value: request).flatMap { prepare(channel) }
            }
            .connect(to: address)
    }
}

extension NetworkEndpoint {
    /// The address; nil: a name, which has to be resolved.
    var address: SocketAddress? { try? SocketAddress(ipAddress: host, port: port) }
}

/// Calls a function on the message loop at the earliest of the times that were set.
struct LoopTimer {
    private let loop: MessageLoop
    private var time = Double.infinity
    private var task: Scheduled<Void>?

    init(on loop: MessageLoop) {
        self.loop = loop
    }

    /// Sets a monotonic time, unless an earlier one is set.
    mutating func set(_ time: Double, _ body: @escaping @Sendable () -> Void) {
        if time >= self.time { return }
        task?.cancel()
        (self.time, task) = (time, loop.run(at: time, body))
    }

    /// Notes that the function was called.
    ///
    /// - Returns: Whether the time has come; false: another time was set while the call began.
    mutating func end(at now: Double) -> Bool {
        guard now >= time else { return false }
        (time, task) = (.infinity, nil)
        return true
    }

    func cancel() { task?.cancel() }
}
