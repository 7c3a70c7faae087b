#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// From onset strength, of whatever loudness and style, to 0…1: how much it stands out from its last seconds.
enum Activation {
    private static let least: Float = 0.001
    private static let most: Float = 0.95
    /// How much the evidence of a frame counts: less than all, for neighbouring frames tell the same.
    private static let trust: Float = 0.7
    /// Frames that are no beat, to one that is.
    private static let odds: Float = 15

    /// Follows the peaks.
    struct Level: Sendable {
        /// Strength below this is no onset, however silent it was before.
        private static let floor: Float = 0.03
        private static let decaySeconds: Float = 5
        private let keep: Float
        private var peak: Float = 0

        init(frameSeconds: Double) {
            keep = exp(-Float(frameSeconds) / Self.decaySeconds)
        }

        mutating func activation(_ strength: Float) -> Float {
            peak *= keep
            if strength > peak { peak += (strength - peak) * 0.5 }
            return min(Activation.most, max(Activation.least, strength / max(peak, Self.floor)))
        }
    }

    /// How much likelier an activation is at a beat than elsewhere, in nats.
    static func evidence(_ activation: Float) -> Float {
        trust * log(activation * odds / (1 - activation))
    }
}
