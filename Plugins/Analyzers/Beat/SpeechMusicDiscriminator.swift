#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Speech/music discriminator: the probability that the signal of the last seconds is music, not speech or noise.
///
/// Features, means over an exponential window of five seconds:
/// - Decay symmetry: decrease divided by increase of the log spectrum. Notes and percussion have a fast attack and a slow decay, so
///   the maximum-filtered increase is larger than the decrease. In speech they are about equal.
/// - Suppression: increase with the maximum filter divided by the increase without it. The gliding pitch of speech gives 0.36…0.74.
///   Sliding strings and organs, whose decay symmetry is that of speech, give less; sounds without glides give more.
/// - Band alternation: in speech the levels of low and high bands alternate (vowels and fricatives), in music they are correlated.
/// - Mean activation: in noise the onset strength is high in all frames.
struct SpeechMusicDiscriminator: Sendable {
    /// Time constant of the exponential window, in seconds.
    private static let decaySeconds: Float = 5
    /// Frames whose level is below this, relative to the loudest band of the last seconds, are pauses: they are left out of the band
    /// alternation.
    private static let pauseLevel: Float = 0.03
    /// Lower limit of the low and high levels.
    private static let minimumLevel: Float = 1e-4
    private let decayPerFrame: Float
    private var increase: Float = 0
    private var decrease: Float = 0
    private var unfilteredIncrease: Float = 0
    private var activation: Float = 0
    private var weight: Float = 0
    private var alternation = BandAlternation()

    init(frameSeconds: Double) {
        decayPerFrame = Float(exp(-frameSeconds / Double(Self.decaySeconds)))
    }

    /// Returns to the initial state.
    mutating func reset() {
        (increase, decrease, unfilteredIncrease, activation, weight) = (0, 0, 0, 0, 0)
        alternation = BandAlternation()
    }

    /// Adds a frame.
    mutating func add(_ difference: SpectralDifference, activation: Float) {
        increase = increase * decayPerFrame + difference.onsetStrength
        decrease = decrease * decayPerFrame + difference.decrease
        unfilteredIncrease = unfilteredIncrease * decayPerFrame + difference.unfilteredIncrease
        self.activation = self.activation * decayPerFrame + activation
        weight = weight * decayPerFrame + 1
        alternation.decay(by: Double(decayPerFrame))
        if difference.level > Self.pauseLevel {
            alternation.add(
                low: Double(log2(difference.lowLevel + Self.minimumLevel)), high: Double(log2(difference.highLevel + Self.minimumLevel)))
        }
    }

    /// The music score: 0 is speech or noise, 1 is music.
    var musicScore: Float {
        guard increase > 0, weight > 0 else { return 0 }
        let (symmetry, suppression) = (decrease / increase, increase / unfilteredIncrease)
        let (spread, correlation) = (Float(alternation.spread), Float(alternation.correlation))
        let alternationScore = min(1, max(0, spread - 1.5)) + min(1, max(0, (0.4 - correlation) / 0.6))
        let glide = min((suppression - 0.36) / 0.08, (0.74 - suppression) / 0.08)
        // Stronger alternation between high and low bands (typical of speech) lowers the threshold of the decay symmetry. With a
        // large spread of the level ratio the suppression may have any value.
        let speech = min((symmetry - 0.88 + 0.09 * alternationScore) / 0.08, max(glide, (spread - 2.2) / 0.4))
        let noise = (activation / weight - 0.40) / 0.08
        return (1 - min(1, max(0, speech))) * (1 - min(1, max(0, noise)))
    }
}

/// Running covariance of the log levels of the low and high bands, in octaves of amplitude, over an exponential window.
///
/// Sums are in double precision, because a small variance is the difference of two large numbers.
private struct BandAlternation: Sendable {
    /// A level with a smaller variance counts as constant, in octaves squared.
    private static let minimumVariance = 1e-3
    private var weight: Double = 0
    private var low: Double = 0
    private var high: Double = 0
    private var lowSquare: Double = 0
    private var highSquare: Double = 0
    private var product: Double = 0

    mutating func decay(by factor: Double) {
        weight *= factor
        low *= factor
        high *= factor
        lowSquare *= factor
        highSquare *= factor
        product *= factor
    }

    mutating func add(low: Double, high: Double) {
        weight += 1
        self.low += low
        self.high += high
        lowSquare += low * low
        highSquare += high * high
        product += low * high
    }

    private var variances: (low: Double, high: Double, covariance: Double) {
        guard weight > 0 else { return (0, 0, 0) }
        let (low, high) = (low / weight, high / weight)
        return (
            max(0, lowSquare / weight - low * low), max(0, highSquare / weight - high * high), product / weight - low * high
        )
    }

    /// Standard deviation of the level ratio, in octaves.
    var spread: Double {
        let (low, high, covariance) = variances
        return max(0, low + high - 2 * covariance).squareRoot()
    }

    /// Correlation coefficient, −1…1; 1 if one of the levels is constant, because then they do not alternate.
    var correlation: Double {
        let (low, high, covariance) = variances
        return low > Self.minimumVariance && high > Self.minimumVariance ? covariance / (low * high).squareRoot() : 1
    }
}

/// Combines the evidence that detected beats are beats of music.
enum BeatGate {
    /// The score of the confidence gate, 0…1: the music score, or the score of a machine-like regular pulse if that is higher.
    ///
    /// A regular pulse passes without being classified as music (metronome, synthetic drums): its agreement must be above 0.60
    /// (full score at 0.75) and its prediction error below 30 ms (full score at 15 ms).
    ///
    /// - Parameters:
    ///   - musicScore: Output of the speech/music discriminator, 0…1.
    ///   - agreement: Beat-onset agreement above chance, 0…1.
    ///   - predictionError: Mean distance between predicted beats and their onsets, in seconds.
    static func score(musicScore: Float, agreement: Double, predictionError: Double) -> Double {
        let agreementScore = min(1, max(0, (agreement - 0.60) / 0.15))
        let regularityScore = min(1, max(0, (0.03 - predictionError) / 0.015))
        return max(Double(musicScore), agreementScore * regularityScore)
    }
}
