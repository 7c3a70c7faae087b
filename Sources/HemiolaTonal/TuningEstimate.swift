internal import Glibc

/// The tuning of the music: the mean deviation of its partials from the equal-tempered scale, on a circle of one semitone, over the
/// last seconds.
struct TuningEstimate {
    /// The time constant of the mean, in seconds.
    private static let timeConstant = 10.0
    /// The weight from which on there is an estimate: half a second of one steady tone.
    private static let seconds = 0.5
    /// The least concentration of the deviations: the length of their mean vector, 0…1. Below it the estimate stays as it is.
    private static let concentration: Float = 0.15
    /// Half-way between two keys, either of them is right, and an error of a cent would move all notes by a semitone: the estimate goes
    /// from one to the other when it is so many semitones nearer to it.
    private static let hysteresis: Float = 0.12

    /// The estimate, in semitones, −0.5…0.5, and up to `hysteresis` beyond if it came from there; 0 until there is one.
    private(set) var semitones: Float = 0
    /// Whether there is an estimate.
    private(set) var isKnown = false

    private let decay: Float
    private let least: Float
    // The cosine and sine of each deviation in cents, from −50 on.
    private let cosines: InlineArray<101, Float>
    private let sines: InlineArray<101, Float>
    private var real: Float = 0
    private var imaginary: Float = 0
    private var weight: Float = 0

    /// - Parameter frameSeconds: The time from one frame to the next.
    init(frameSeconds: Double) {
        decay = Float(exp(-frameSeconds / Self.timeConstant))
        least = Float(Self.seconds / frameSeconds)
        cosines = InlineArray { Float(cos(2 * .pi * Double($0 - 50) / 100)) }
        sines = InlineArray { Float(sin(2 * .pi * Double($0 - 50) / 100)) }
    }

    /// Starts a frame: what came before counts less.
    mutating func advance() {
        real *= decay
        imaginary *= decay
        weight *= decay
    }

    /// Adds a partial.
    ///
    /// - Parameters:
    ///   - place: Its pitch in semitones.
    ///   - share: Its magnitude relative to the largest of the frame, 0…1.
    mutating func add(_ place: Float, share: Float) {
        let cents = Int(((place - place.rounded()) * 100).rounded())
        real += share * cosines[cents + 50]
        imaginary += share * sines[cents + 50]
        weight += share
    }

    /// Ends a frame.
    mutating func update() {
        guard weight >= least, real * real + imaginary * imaginary >= Self.concentration * Self.concentration * weight * weight else {
            return
        }
        let nearest = atan2(imaginary, real) / (2 * .pi)
        // Whether the last estimate was on the other side of half-way, and both are close to it.
        let hasCrossed = nearest * semitones < 0 && min(abs(nearest), abs(semitones)) > 0.5 - Self.hysteresis
        semitones = hasCrossed ? nearest + (semitones > 0 ? 1 : -1) : nearest
        isKnown = true
    }

    /// Restores the state after `init`.
    mutating func reset() {
        (real, imaginary, weight, semitones, isKnown) = (0, 0, 0, 0, false)
    }
}
