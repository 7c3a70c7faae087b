/// The pauses between attempts to connect: they double up to a limit.
public struct ReconnectDelay: Sendable {
    private let first: Double
    private let last: Double
    private var pause: Double

    /// Pauses that begin with the first one.
    ///
    /// - Parameters:
    ///   - first: The first pause, in seconds.
    ///   - last: The longest pause, in seconds.
    public init(first: Double = 0.25, last: Double) {
        self.first = first
        self.last = last
        pause = first
    }

    /// The pause before the next attempt, in seconds.
    public mutating func next() -> Double {
        defer { pause = min(pause * 2, last) }
        return pause
    }

    /// Begins with the first pause again, after a success.
    public mutating func reset() {
        pause = first
    }
}
