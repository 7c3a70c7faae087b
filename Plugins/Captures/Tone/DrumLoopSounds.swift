internal import HemiolaSignal

/// The sounds of the drums, computed once, two of each: one for even and one for odd channels, with different noise.
struct DrumKit {
    enum Drum: Int, CaseIterable {
        case kick, snare, closedHat, openHat, crash

        /// In seconds.
        fileprivate var length: Double {
            switch self {
            case .kick: 0.3
            case .snare: 0.25
            case .closedHat: 0.06
            case .openHat: 0.3
            case .crash: 1.5
            }
        }
    }

    /// By drum and side: kick left, kick right, snare left ….
    private let sounds: [[Float]]

    init(sampleRate: Int) {
        sounds = Drum.allCases.flatMap { drum in [0, 1].map { Self.sound(of: drum, side: $0, sampleRate: sampleRate) } }
    }

    func frameCount(of drum: Drum) -> Int { sounds[2 * drum.rawValue].count }

    func withSound<Result>(of drum: Drum, isRight: Bool, _ body: (UnsafeBufferPointer<Float>) -> Result) -> Result {
        sounds[2 * drum.rawValue + (isRight ? 1 : 0)].withUnsafeBufferPointer(body)
    }

    private static func sound(of drum: Drum, side: Int64, sampleRate: Int) -> [Float] {
        var noise = SplitMix64(seed: 0, stream: 2 * Int64(drum.rawValue) + side)
        // The last values of the noise, for its differences, which remove low frequencies.
        var (last, older) = (0.0, 0.0)
        let count = Int((drum.length * Double(sampleRate)).rounded())
        return (0..<count).map { index in
            let time = Double(index) / Double(sampleRate)
            let new = 2 * noise.fraction() - 1
            let (bright, brightest) = ((new - last) / 2, (new - 2 * last + older) / 4)
            (last, older) = (new, last)
            let sample =
                switch drum {
                case .kick: kick(time) + 0.3 * bright * decay(time, 0.002)
                case .snare:
                    0.8 * bright * decay(time, 0.045) + 0.45 * sine(190, time) * decay(time, 0.03)
                        + 0.25 * sine(330, time) * decay(time, 0.02)
                case .closedHat: 1.3 * brightest * decay(time, 0.012)
                case .openHat: 1.2 * brightest * decay(time, 0.07)
                case .crash: brightest * decay(time, 0.35) + 0.3 * bright * decay(time, 0.1)
                }
            return Float(sample * (1 - Double(index) / Double(count)))
        }
    }

    /// A sine that falls from 190 to 48 Hz.
    private static func kick(_ time: Double) -> Double {
        let (lowest, fall, halfLife) = (48.0, 142.0, 0.018)
        let periods = lowest * time + fall * halfLife / 0.693_147_180_559_945_3 * (1 - decay(time, halfLife))
        return PortableMath.sine(PortableMath.phase(periods: periods)) * decay(time, 0.07)
    }

    private static func sine(_ frequency: Double, _ time: Double) -> Double {
        PortableMath.sine(PortableMath.phase(periods: frequency * time))
    }

    /// - Parameter halfLife: In seconds, as `time`.
    private static func decay(_ time: Double, _ halfLife: Double) -> Double { PortableMath.powerOfTwo(-time / halfLife) }
}

/// Two detuned sawtooth waves of a few partials through a low-pass filter whose cutoff frequency rises and falls.
struct Bass {
    /// In hertz: E1.
    static let lowest = 41.203
    private static let partialCount = 20
    private static let gain = 0.25
    /// Frequency ratio of the second wave.
    private static let detuning = 1.007
    /// Periods per second of the cutoff frequency.
    private static let wobble = 2.9
    /// Attack and release in seconds, against clicks.
    private static let ramp = 0.006

    /// Semitones above E1.
    let roots: [Double] = [0, 3, 5, 7, 8]
    /// One bar each: first step, steps, semitones above the root.
    let rhythms: [[(Int64, Int64, Double)]] = [
        [(0, 6, 0), (6, 4, 0), (10, 6, 12)],
        [(0, 3, 0), (3, 3, 0), (6, 4, 7), (10, 4, 0), (14, 2, -2)],
        [(0, 10, 0), (10, 3, 12), (13, 3, 10)],
        [(0, 4, 0), (6, 2, 0), (8, 2, 3), (10, 6, 0)],
    ]
    private let sampleRate: Double

    init(sampleRate: Int) {
        self.sampleRate = Double(sampleRate)
    }

    /// - Parameters:
    ///   - frame: Frames since the beginning of the note.
    ///   - length: Length of the note in frames.
    func sample(at frame: Int64, of length: Int64, frequency: Double) -> Float {
        let time = Double(frame) / sampleRate
        let envelope = min(1, (time + 1 / sampleRate) / Self.ramp, Double(length - frame) / sampleRate / Self.ramp)
        // In partials.
        let cutoff = 5 - 3.5 * PortableMath.sine(PortableMath.phase(periods: Self.wobble * time + 0.25))
        let sum =
            sawtooth(frequency * time, partials: Self.partialCount, cutoff: cutoff)
            + sawtooth(frequency * Self.detuning * time, partials: Self.partialCount, cutoff: cutoff)
        return Float(Self.gain * envelope * sum)
    }
}

/// Three decaying sawtooth waves of a few partials.
struct Chord {
    private static let partialCount = 10
    private static let gain = 0.25
    /// In seconds.
    private static let (attack, halfLife) = (0.004, 0.08)

    /// First steps in a bar.
    let rhythms: [[Int64]] = [[6], [3, 6], [6, 11], [3, 6, 11]]
    private let sampleRate: Double

    init(sampleRate: Int) {
        self.sampleRate = Double(sampleRate)
    }

    /// - Parameters:
    ///   - frame: Frames since the beginning of the chord.
    ///   - length: Length of the chord in frames.
    ///   - third: In semitones.
    func sample(at frame: Int64, of length: Int64, frequency: Double, third: Double) -> Float {
        let time = Double(frame) / sampleRate
        let decay = PortableMath.powerOfTwo(-time / Self.halfLife) * Double(length - frame) / Double(length)
        let envelope = min(1, (time + 1 / sampleRate) / Self.attack) * decay
        // In partials. The higher ones decay first.
        let cutoff = 1.5 + 6 * decay
        let sum =
            sawtooth(frequency * time, partials: Self.partialCount, cutoff: cutoff)
            + sawtooth(frequency * PortableMath.powerOfTwo(third / 12) * time, partials: Self.partialCount, cutoff: cutoff)
            + sawtooth(frequency * PortableMath.powerOfTwo(7.0 / 12) * time, partials: Self.partialCount, cutoff: cutoff)
        return Float(Self.gain * envelope * sum)
    }
}

/// A band-limited sawtooth wave through a low-pass filter of fourth order.
///
/// - Parameters:
///   - periods: The phase.
///   - cutoff: In partials.
private func sawtooth(_ periods: Double, partials: Int, cutoff: Double) -> Double {
    let sine = PortableMath.sine(PortableMath.phase(periods: periods))
    let cosine = PortableMath.sine(PortableMath.phase(periods: periods + 0.25))
    var (previous, current) = (0.0, sine)
    var sum = 0.0
    for partial in 1...partials {
        let ratio = Double(partial) / cutoff
        sum += current / (Double(partial) * (1 + ratio * ratio * ratio * ratio))
        // sin((k + 1)x) = 2 · cos(x) · sin(kx) − sin((k − 1)x)
        (previous, current) = (current, 2 * cosine * current - previous)
    }
    return sum
}
