public import HemiolaSystem

/// Sends messages to one receiver. Thread-safe; no call blocks, except that ``close()`` may wait a second for what is queued.
public protocol PacketSender: Sendable {
    /// Begins. Called once, before the first message.
    ///
    /// - Throws: The configuration is impossible on this computer. A receiver that is not available is no error.
    func start() throws(Problem)
    /// Sends a message, or counts it as lost.
    func send(_ packet: [UInt8])
    /// Ends: nothing is sent after that. Reports losses.
    ///
    /// - Returns: What is wrong where not one message was sent, and that is known; else nil.
    @discardableResult
    func close() -> String?
}

extension NetworkTarget {
    /// Makes the sender of this target's transport.
    ///
    /// - Parameters:
    ///   - options: For datagrams.
    ///   - losses: Counts the messages that are lost.
    /// - Throws: No file descriptor is left.
    public func makeSender(
        options: DatagramSender.Options = DatagramSender.Options(), losses: LossReport
    ) throws(Problem) -> any PacketSender {
        switch transport {
        case .udp: DatagramSender(self, options: options, losses: losses)
        case .tcp: try StreamSender(self, losses: losses)
        }
    }
}
