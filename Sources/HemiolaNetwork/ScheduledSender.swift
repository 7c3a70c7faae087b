public import Hemiola
internal import HemiolaRecords
public import HemiolaSystem

/// The output of a sink to one receiver: sends messages at their times, and counts and reports those that are lost.
///
/// Thread-safe. No call blocks, except ``close(within:)``.
public struct ScheduledSender: Sendable {
    private let sender: any PacketSender
    private let schedule: SendSchedule
    /// The receiver in messages.
    private let receiver: String

    /// The setting `delay_ms` of a sink that sends to the network.
    ///
    /// - Returns: Seconds.
    public static func delay() -> Double {
        Setting.milliseconds("delay_ms", default: 0, in: 0...10_000, "Time by which everything is sent later.")
    }

    /// The setting `interface` of a sink that can send to a multicast group.
    public static func interface() -> String? {
        Setting.text("interface", example: "eth0", "Network interface of a multicast group. Default: that of the routes.")
    }

    /// Starts a sender.
    ///
    /// - Parameters:
    ///   - target: The receiver.
    ///   - interface: The network interface for a multicast group; nil: that of the system's routes.
    ///   - context: The context of the sink, which gets warnings and `dropped` records.
    ///   - frame: Completes a message for the transport, for example with its length on a connection.
    /// - Throws: The configuration is impossible on this computer. A receiver that is not available is no error.
    public init(
        _ target: NetworkTarget, interface: String? = nil, _ context: SinkContext,
        framing frame: @escaping @Sendable ([UInt8]) -> [UInt8] = { $0 }
    ) throws(Problem) {
        receiver = target.description
        let losses = LossReport(context, receiver: receiver)
        do throws(Problem) {
            let sender = try target.makeSender(options: DatagramSender.Options(interface: interface), losses: losses)
            try sender.start()
            self.sender = sender
            schedule = SendSchedule(
                send: { sender.send(frame($0)) }, overflow: { losses.lose(1, because: "too many messages wait for their time") })
        } catch {
            throw Problem("\(target): \(error.message)")
        }
    }

    /// Sends a message.
    ///
    /// - Parameters:
    ///   - packet: The message.
    ///   - time: When it is sent, in monotonic seconds; a time in the past: now.
    public func add(_ packet: [UInt8], at time: Double) {
        schedule.add(packet, at: time)
    }

    /// Waits for the messages whose time is to come, at most so many seconds, and ends. Reports losses.
    ///
    /// - Throws: Not one message could be sent, where that is known: on a connection.
    public func close(within seconds: Double) throws(Problem) {
        schedule.close(within: seconds)
        if let fault = sender.close() { throw Problem("\(receiver): \(fault)") }
    }
}
