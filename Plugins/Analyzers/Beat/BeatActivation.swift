#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Beat activation: onset strength scaled to 0…1, and its likelihood under the observation model of the HMM.
enum BeatActivation {
    private static let minimum: Float = 0.001
    private static let maximum: Float = 0.95
    /// Weight of the log-likelihood ratio of a frame. It is below 1 because neighbouring frames are correlated.
    private static let frameWeight: Float = 0.7
    /// Prior odds that a frame does not contain a beat.
    private static let priorOdds: Float = 15

    /// Divides the onset strength by its decaying peak, which removes the effect of gain and style.
    struct PeakNormalizer: Sendable {
        /// Lower limit of the divisor, in octaves of amplitude: faint sounds after silence do not reach activation 1.
        private static let minimumPeak: Float = 0.03
        /// Time constant of the decay, in seconds.
        private static let decaySeconds: Float = 5
        private let decayPerFrame: Float
        private var peak: Float = 0

        init(frameSeconds: Double) {
            decayPerFrame = exp(-Float(frameSeconds) / Self.decaySeconds)
        }

        /// Updates the peak with the onset strength of the next frame and returns the activation of that frame.
        mutating func activation(_ onsetStrength: Float) -> Float {
            peak *= decayPerFrame
            if onsetStrength > peak { peak += (onsetStrength - peak) * 0.5 }
            return min(BeatActivation.maximum, max(BeatActivation.minimum, onsetStrength / max(peak, Self.minimumPeak)))
        }
    }

    /// The log-likelihood ratio of an activation, "beat" against "no beat", in nats.
    static func logLikelihoodRatio(_ activation: Float) -> Float {
        frameWeight * log(activation * priorOdds / (1 - activation))
    }
}
