/// Limits how often messages are sent: at most so many in any second. Reads no clock; all times are in seconds.
///
/// A message may leave earlier than evenly spaced messages would, by `tolerance`. So batches at 43.07 a second, which arrive with some
/// jitter, pass a limit of 44 without a delay or a loss. The spacing is longer in return, so that the limit holds in every second, also with
/// some jitter of the network.
public struct RateLimit: Sendable {
    private static let tolerance = 0.01
    private static let jitter = 0.005

    /// The time from one message to the next, on average; 0: no limit.
    let interval: Double
    /// When the next message would be sent if all were evenly spaced.
    private var next = -Double.infinity

    /// A limit.
    ///
    /// - Parameter rate: Messages a second; 0: no limit.
    public init(_ rate: Double) {
        interval = rate > 0 ? (1 + Self.tolerance + Self.jitter) / rate : 0
    }

    /// The earliest time of the next message.
    public var earliest: Double { next - Self.tolerance }

    /// The earliest time of the message after one that is sent at a time.
    func earliest(after time: Double) -> Double { max(next, time) + interval - Self.tolerance }

    /// Counts a message.
    public mutating func add(at now: Double) { next = max(next, now) + interval }
}
