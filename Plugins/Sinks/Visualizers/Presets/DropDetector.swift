internal import Glibc

/// Detects the end of a quieter passage: compares the mean power of the last 0.2 s with that of the last 3 s.
struct DropDetector: Sendable {
    private static let fastSeconds = 0.2
    private static let slowSeconds = 3.0
    /// Lower limit of the power: −90 dBFS, so that changes below it are no rise.
    private static let silencePower = 1e-9
    /// The detector is re-armed when the rise falls below this share of the threshold, in decibels.
    private static let rearmingShare = 0.5

    private let decibels: Double
    private var fast = silencePower
    private var slow = silencePower
    private var elapsed = 0.0
    private var isArmed = false

    /// - Parameter decibels: Threshold of the rise.
    init(decibels: Double) {
        self.decibels = decibels
    }

    /// Processes one measurement.
    ///
    /// - Parameters:
    ///   - level: RMS level in dBFS over the last `seconds`. NaN and infinities are ignored.
    ///   - seconds: Time since the last update.
    /// - Returns: Whether this measurement is a drop.
    mutating func update(level: Double, seconds: Double) -> Bool {
        guard level.isFinite else { return false }
        elapsed += seconds
        let power = max(Self.silencePower, pow(10, level / 10))
        // Arithmetic means until an average's time has elapsed, so that the start of a stream is no rise.
        fast += (power - fast) * max(1 - exp(-seconds / Self.fastSeconds), min(1, seconds / elapsed))
        slow += (power - slow) * max(1 - exp(-seconds / Self.slowSeconds), min(1, seconds / elapsed))
        let rise = 10 * log10(fast / slow)
        if rise < decibels * Self.rearmingShare { isArmed = true }
        guard isArmed, rise >= decibels else { return false }
        isArmed = false
        return true
    }
}
