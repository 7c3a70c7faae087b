#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Whether what is heard can have a beat at all.
///
/// Notes and strokes begin at once and die away slowly: with vibrato suppressed, more rises than falls. Of speech as much falls as
/// rises, and more of it than from the sliding strings and organs for which that is true as well. And in speech high and low take
/// turns, consonants and vowels, where in music they come together. Noise rises all the time.
struct MusicLikeness: Sendable {
    private static let seconds: Float = 5
    /// Relative to the loudest band of the last seconds: what is softer is a pause.
    private static let pause: Float = 0.03
    /// The same for high and low: softer is not told from nothing.
    private static let softest: Float = 1e-4
    private let keep: Float
    private var rise: Float = 0
    private var fall: Float = 0
    private var unsuppressed: Float = 0
    private var activation: Float = 0
    private var weight: Float = 0
    private var turns = Turns()

    init(frameSeconds: Double) {
        keep = Float(exp(-frameSeconds / Double(Self.seconds)))
    }

    mutating func reset() {
        (rise, fall, unsuppressed, activation, weight) = (0, 0, 0, 0, 0)
        turns = Turns()
    }

    mutating func hear(_ change: SpectralChange, activation: Float) {
        rise = rise * keep + change.rise
        fall = fall * keep + change.fall
        unsuppressed = unsuppressed * keep + change.unsuppressedRise
        self.activation = self.activation * keep + activation
        weight = weight * keep + 1
        turns.fade(by: Double(keep))
        if change.level > Self.pause {
            turns.hear(low: Double(log2(change.lowLevel + Self.softest)), high: Double(log2(change.highLevel + Self.softest)))
        }
    }

    /// 0…1.
    var value: Float {
        guard rise > 0, weight > 0 else { return 0 }
        let (symmetry, suppression) = (fall / rise, rise / unsuppressed)
        let (spread, correlation) = (Float(turns.spread), Float(turns.correlation))
        let alternation = min(1, max(0, spread - 1.5)) + min(1, max(0, (0.4 - correlation) / 0.6))
        let glide = min((suppression - 0.36) / 0.08, (0.74 - suppression) / 0.08)
        // The more high and low take turns, the less has to fall; where they do so widely, nothing need glide.
        let speech = min((symmetry - 0.88 + 0.09 * alternation) / 0.08, max(glide, (spread - 2.2) / 0.4))
        let noise = (activation / weight - 0.40) / 0.08
        return (1 - min(1, max(0, speech))) * (1 - min(1, max(0, noise)))
    }
}

/// How high and low go together, in octaves of amplitude: sums over the last seconds, in double precision because what does not
/// change is a difference of large numbers.
private struct Turns: Sendable {
    /// What varies less does not change, in octaves squared.
    private static let least = 1e-3
    private var weight: Double = 0
    private var low: Double = 0
    private var high: Double = 0
    private var lowSquare: Double = 0
    private var highSquare: Double = 0
    private var product: Double = 0

    mutating func fade(by keep: Double) {
        weight *= keep
        low *= keep
        high *= keep
        lowSquare *= keep
        highSquare *= keep
        product *= keep
    }

    mutating func hear(low: Double, high: Double) {
        weight += 1
        self.low += low
        self.high += high
        lowSquare += low * low
        highSquare += high * high
        product += low * high
    }

    private var variances: (low: Double, high: Double, common: Double) {
        guard weight > 0 else { return (0, 0, 0) }
        let (low, high) = (low / weight, high / weight)
        return (
            max(0, lowSquare / weight - low * low), max(0, highSquare / weight - high * high), product / weight - low * high
        )
    }

    /// The standard deviation of their ratio, in octaves.
    var spread: Double {
        let (low, high, common) = variances
        return max(0, low + high - 2 * common).squareRoot()
    }

    /// −1…1; 1 where one of them does not change, for it takes no turns.
    var correlation: Double {
        let (low, high, common) = variances
        return low > Self.least && high > Self.least ? common / (low * high).squareRoot() : 1
    }
}
