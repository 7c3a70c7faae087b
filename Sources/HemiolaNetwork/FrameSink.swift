public import Hemiola

/// What a ``FrameSink`` shows: takes batches and events, and makes the messages of a frame. All times are in seconds of the monotonic clock.
public protocol FrameSource: Sendable {
    /// A stream begins.
    mutating func begin(_ stream: StreamHeader) throws(Problem)
    /// Takes a batch, without its events. What would be missed between two frames, such as a peak, is kept for the next one.
    mutating func add(_ batch: borrowing Batch, at now: Double)
    /// Takes an event, which may occur later.
    mutating func add(_ event: Event)
    /// When the next event that changes the frame occurs; infinite: none is known.
    var nextEvent: Double { get }
    /// The messages of a frame, with the numbers of their receivers.
    ///
    /// - Parameters:
    ///   - now: The time at which the frame is sent.
    ///   - gain: The share of the brightness, 0…1; 0: dark.
    mutating func messages(at now: Double, gain: Float) -> [(receiver: Int, bytes: [UInt8])]
    /// The messages after the last frame, which is dark.
    mutating func lastMessages() -> [(receiver: Int, bytes: [UInt8])]
}

extension FrameSource {
    public mutating func lastMessages() -> [(receiver: Int, bytes: [UInt8])] { [] }
}

/// A sink that sends frames to lights: with each batch, at the times of events, and again while the source pauses. Handles the control
/// `blackout`. The last frame is dark.
public final class FrameSink<Source: FrameSource>: DirectingSink {
    private let receivers: [NetworkTarget]
    private let interface: String?
    private let rate: Double
    private let delay: Double
    private let makeSource: @Sendable (SinkContext) throws(Problem) -> Source
    private var sender: FrameSender<Source>?

    /// A sink.
    ///
    /// - Parameters:
    ///   - receivers: The receivers of the messages.
    ///   - interface: The network interface for a multicast group; nil: that of the system's routes.
    ///   - rate: Frames a second at most; 0: a frame with each batch.
    ///   - delay: Seconds by which everything is sent later.
    ///   - makeSource: Makes the source when the sink is opened.
    public init(
        to receivers: [NetworkTarget], interface: String?, rate: Double, delay: Double,
        showing makeSource: @escaping @Sendable (SinkContext) throws(Problem) -> Source
    ) {
        self.receivers = receivers
        self.interface = interface
        self.rate = rate
        self.delay = delay
        self.makeSource = makeSource
    }

    public func makeDirector() throws(Problem) -> sending any Director {
        BlackoutDirector { [sender] in sender?.setDark($0) }
    }

    public func open(_ context: SinkContext) throws(Problem) {
        let source = try makeSource(context)
        var outputs: [MessageSender] = []
        do {
            for receiver in receivers { outputs.append(try MessageSender(to: receiver, interface: interface, context)) }
            sender = FrameSender(source, to: outputs, FrameTiming(rate: rate), delay: delay, by: context.timing.clock)
        } catch {
            for output in outputs { try? output.close(within: 0) }
            throw error
        }
    }

    public func begin(_ stream: StreamHeader) throws(Problem) { try sender?.begin(stream) }

    public func write(_ batches: BatchBlock) throws(Problem) { sender?.add(batches) }

    public func write(_ events: [Event]) throws(Problem) { sender?.add(events) }

    public func end(_ summary: StreamSummary) throws(Problem) {}

    public func close() throws(Problem) {
        defer { sender = nil }
        try sender?.close()
    }
}
