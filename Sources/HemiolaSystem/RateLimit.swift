/// How much is accepted within a period: messages, bytes or lines.
public struct RateLimit: Sendable {
    /// How much is accepted.
    public let limit: Int
    /// The length of a period in seconds.
    public let seconds: Double
    /// How often something was refused in the current period.
    public private(set) var refusals = 0
    private var end = -Double.infinity
    private var amount = 0

    /// A limit for each period of so many seconds.
    public init(_ limit: Int, per seconds: Double) {
        self.limit = limit
        self.seconds = seconds
    }

    /// Counts an amount. A period begins with the first one after the end of the last.
    ///
    /// - Parameters:
    ///   - amount: What is to be accepted.
    ///   - time: Seconds on a monotonic clock.
    /// - Returns: Whether it is accepted.
    public mutating func admit(_ amount: Int = 1, at time: Double) -> Bool {
        if time >= end { (end, self.amount, refusals) = (time + seconds, 0, 0) }
        self.amount += amount
        if self.amount <= limit { return true }
        refusals += 1
        return false
    }
}
