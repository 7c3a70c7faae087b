#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Whether what is heard can have a beat at all.
///
/// Notes and strokes begin at once and die away slowly: with vibrato suppressed, more rises than falls. Of speech as much falls as
/// rises, and more of it than from the sliding strings and organs for which that is true as well. Noise rises all the time.
struct MusicLikeness: Sendable {
    private static let seconds: Float = 5
    private let keep: Float
    private var rise: Float = 0
    private var fall: Float = 0
    private var unsuppressed: Float = 0
    private var activation: Float = 0
    private var weight: Float = 0

    init(frameSeconds: Double) {
        keep = Float(exp(-frameSeconds / Double(Self.seconds)))
    }

    mutating func reset() {
        (rise, fall, unsuppressed, activation, weight) = (0, 0, 0, 0, 0)
    }

    mutating func hear(_ change: SpectralChange, activation: Float) {
        rise = rise * keep + change.rise
        fall = fall * keep + change.fall
        unsuppressed = unsuppressed * keep + change.unsuppressedRise
        self.activation = self.activation * keep + activation
        weight = weight * keep + 1
    }

    /// 0…1.
    var value: Float {
        guard rise > 0, weight > 0 else { return 0 }
        let symmetry = fall / rise
        let speech = min((symmetry - 0.80) / 0.08, (rise / unsuppressed - 0.36) / 0.08, (0.74 - rise / unsuppressed) / 0.08)
        let noise = (activation / weight - 0.40) / 0.08
        return (1 - min(1, max(0, speech))) * (1 - min(1, max(0, noise)))
    }
}
