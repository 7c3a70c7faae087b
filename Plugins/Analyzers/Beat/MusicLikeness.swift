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
        turns.fade(by: keep)
        if change.level > Self.pause {
            turns.hear(low: log2(change.lowLevel + Self.softest), high: log2(change.highLevel + Self.softest))
        }
    }

    /// 0…1.
    var value: Float {
        guard rise > 0, weight > 0 else { return 0 }
        let (symmetry, suppression) = (fall / rise, rise / unsuppressed)
        let (spread, correlation) = (turns.spread, turns.correlation)
        let alternation = min(1, max(0, spread - 1.5)) + min(1, max(0, (0.4 - correlation) / 0.6))
        let glide = min((suppression - 0.36) / 0.08, (0.74 - suppression) / 0.08)
        // The more high and low take turns, the less has to fall; where they do so widely, nothing need glide.
        let speech = min((symmetry - 0.88 + 0.09 * alternation) / 0.08, max(glide, (spread - 2.2) / 0.4))
        let noise = (activation / weight - 0.40) / 0.08
        return (1 - min(1, max(0, speech))) * (1 - min(1, max(0, noise)))
    }
}

/// How high and low go together, in octaves of amplitude: sums over the last seconds.
private struct Turns: Sendable {
    private var weight: Float = 0
    private var low: Float = 0
    private var high: Float = 0
    private var lowSquare: Float = 0
    private var highSquare: Float = 0
    private var product: Float = 0

    mutating func fade(by keep: Float) {
        weight *= keep
        low *= keep
        high *= keep
        lowSquare *= keep
        highSquare *= keep
        product *= keep
    }

    mutating func hear(low: Float, high: Float) {
        weight += 1
        self.low += low
        self.high += high
        lowSquare += low * low
        highSquare += high * high
        product += low * high
    }

    private var variances: (low: Float, high: Float, common: Float) {
        guard weight > 0 else { return (0, 0, 0) }
        let (low, high) = (low / weight, high / weight)
        return (
            max(0, lowSquare / weight - low * low), max(0, highSquare / weight - high * high), product / weight - low * high
        )
    }

    /// The standard deviation of their ratio, in octaves.
    var spread: Float {
        let (low, high, common) = variances
        return max(0, low + high - 2 * common).squareRoot()
    }

    /// −1…1; 1 where one of them does not change, for it takes no turns.
    var correlation: Float {
        let (low, high, common) = variances
        let scale = (low * high).squareRoot()
        return scale > 1e-3 ? common / scale : 1
    }
}
