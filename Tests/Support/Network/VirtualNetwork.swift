import Glibc
public import Hemiola
import HemiolaNetwork
import NIOCore
import NIOEmbedded
import Synchronization

/// A network in virtual time, for sinks that send messages: what they send is kept with its time, and receivers behave as the test says.
/// No socket, no thread, no real clock. Everything happens on the thread of the test, while it lets time pass.
///
///     let network = VirtualNetwork()
///     let sink = try SinkPlugin.osc.make(settings: "192.0.2.1:9000")
///     try sink.open(network.context("osc"))
///     network.advance(by: 60)
///     #expect(network.packets == …)
public final class VirtualNetwork {
    /// Bytes that a receiver gets, at a time.
    public struct Packet: Hashable, Sendable, CustomStringConvertible {
        /// Seconds since the network was made.
        public var time: Double
        /// HOST:PORT, over TCP with `tcp://` before it.
        public var receiver: String
        public var bytes: [UInt8]

        public var description: String { "\(time) s \(receiver) \(bytes)" }
    }

    /// What a receiver does.
    public enum Receiver: Sendable {
        /// Takes everything at once.
        case reads
        /// Takes connections, and reads nothing.
        case stalls
        /// There is no program that receives.
        case refuses
    }

    /// Seconds on the clock when the network is made: a computer does not start with the first message.
    private static let start = 1000.0
    /// Seconds by which time passes at once while something waits for a message or a result. Messages have their own times all the same.
    private static let step = 0.01

    private let events = EmbeddedEventLoop()
    private let state = State()
    private let warnings = Lines()

    public init() {
        events.advanceTime(to: .uptimeNanoseconds(UInt64(Self.start * 1e9)))
    }

    /// The clock that the sink is given: its messages go to this network.
    public var clock: any MonotonicClock {
        MessageSender.clock(
            of: events, pass: { [events] isFirst in events.advanceTime(by: Self.duration(isFirst ? 0 : Self.step)) },
            open: { [state, events] target, _, prepare in state.open(target.description, on: events, prepare) })
    }

    /// A context of a sink in this network.
    public func context(_ name: String, lead: Double = 0, selection: Selection = .all) -> SinkContext {
        SinkContext(
            name: name, records: RecordChoice(selection: selection), timing: SinkTiming(isLive: true, clock: clock, lead: lead),
            controls: ControlPort(submit: { _, _, _ in }, report: { [state] drop in state.drops.withLock { $0.append(drop) } }),
            messages: SinkMessages(warn: { [warnings] in warnings.append($0) }))
    }

    /// Seconds since the network was made.
    public var now: Double { Self.seconds(events.now) }

    /// Lets time pass.
    public func advance(by seconds: Double) { events.advanceTime(by: Self.duration(seconds)) }

    /// Lets time pass until so many seconds after the network was made.
    public func advance(to time: Double) { advance(by: max(0, time - now)) }

    /// What was sent so far, in order.
    public var packets: [Packet] {
        events.run()
        return state.packets.withLock(\.self)
    }

    /// What the sinks have warned of.
    public var lines: [String] {
        events.run()
        return warnings.lines
    }

    /// The records of losses.
    public var drops: [DropReport] {
        events.run()
        return state.drops.withLock(\.self)
    }

    /// How all receivers behave from now on. Connections that exist stay.
    public func set(_ receiver: Receiver) {
        state.receiver.withLock { $0 = receiver }
    }

    /// Closes the connections, as a receiver that ends.
    public func closeConnections() {
        for channel in state.channels.withLock({ channels in
            defer { channels = [] }
            return channels
        }) { channel.close(promise: nil) }
        events.run()
    }

    fileprivate static func seconds(_ time: NIODeadline) -> Double {
        // Whole microseconds: times that are computed differ in their last bits.
        ((Double(time.uptimeNanoseconds) * 1e-9 - start) * 1e6).rounded() / 1e6
    }

    private static func duration(_ seconds: Double) -> TimeAmount { .nanoseconds(Int64((seconds * 1e9).rounded())) }

    private final class Lines: Sendable {
        private let text = Mutex<[String]>([])
        var lines: [String] { text.withLock(\.self) }
        func append(_ line: String) { text.withLock { $0.append(line) } }
    }

    fileprivate final class State: Sendable {
        let packets = Mutex<[Packet]>([])
        let drops = Mutex<[DropReport]>([])
        let receiver = Mutex(Receiver.reads)
        let channels = Mutex<[EmbeddedChannel]>([])

        func open(
            _ name: String, on events: EmbeddedEventLoop, _ prepare: @Sendable (any Channel) -> EventLoopFuture<Void>
        ) -> EventLoopFuture<any Channel> {
            // A datagram is refused when it is sent.
            if case .refuses = receiver.withLock(\.self), name.hasPrefix("tcp:") {
                return events.makeFailedFuture(IOError(errnoCode: ECONNREFUSED, reason: "connect"))
            }
            let channel = EmbeddedChannel(handler: Recorder(name, self), loop: events)
            channels.withLock { $0.append(channel) }
            return prepare(channel).map { channel }
        }
    }

    /// Keeps what is written to a channel, and says when it is written.
    private final class Recorder: ChannelOutboundHandler {
        typealias OutboundIn = ByteBuffer

        private let name: String
        private let state: State
        /// Bytes that a receiver which reads nothing takes until its buffers are full.
        private static let bufferSize = 1 << 20
        private var unread: [(bytes: Int, promise: EventLoopPromise<Void>?)] = []

        init(_ name: String, _ state: State) {
            self.name = name
            self.state = state
        }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            let bytes = Array(unwrapOutboundIn(data).readableBytesView)
            switch state.receiver.withLock(\.self) {
            case .reads:
                let packet = Packet(time: VirtualNetwork.seconds(context.eventLoop.now), receiver: name, bytes: bytes)
                state.packets.withLock { $0.append(packet) }
                promise?.succeed()
            case .stalls:
                unread.append((bytes.count, promise))
                if unread.reduce(0, { $0 + $1.bytes }) > Self.bufferSize { (context.channel as? EmbeddedChannel)?.isWritable = false }
            case .refuses:
                promise?.fail(IOError(errnoCode: ECONNREFUSED, reason: "write"))
            }
        }

        func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            for message in unread { message.promise?.fail(ChannelError.alreadyClosed) }
            unread = []
            context.close(mode: mode, promise: promise)
        }
    }
}
