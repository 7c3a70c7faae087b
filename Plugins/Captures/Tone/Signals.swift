internal import HemiolaSignal

/// A sine at a fixed frequency.
///
/// The phase of a frame is its number times a 64-bit step, modulo one period, so that rounding errors do not accumulate. The step has the
/// precision of a `Double`: at 440 Hz the error is 2e-10 periods after an hour.
struct Sine {
    private let step: UInt64
    private let amplitude: Double

    init(frequency: Double, amplitude: Double, sampleRate: Int) {
        step = PortableMath.phase(periods: frequency / Double(sampleRate))
        self.amplitude = amplitude
    }

    func sample(at frame: Int64) -> Float {
        Float(amplitude * PortableMath.sine(UInt64(bitPattern: frame) &* step))
    }
}

/// A sine whose frequency rises or falls exponentially: by a constant number of octaves per second.
struct Sweep {
    private let octavesPerFrame: Double
    /// Periods of the same sweep from 0 Hz to its start frequency.
    private let periods: Double
    private let fixed: Sine?
    private let amplitude: Double

    /// - Parameter frameCount: Length in frames. The sweep reaches `highest` at this frame, the one after its last.
    init(from lowest: Double, to highest: Double, frameCount: Int64, amplitude: Double, sampleRate: Int) {
        let octaves = highest == lowest ? 0 : PortableMath.logarithm(highest / lowest)
        octavesPerFrame = octaves / Double(max(1, frameCount))
        // ∫ f·2^(ot) dt = f / (o·ln 2) · 2^(ot), with o in octaves per frame and f in periods per frame.
        periods = octaves == 0 ? 0 : lowest / Double(sampleRate) / (octavesPerFrame * 0.693_147_180_559_945_3)
        fixed = octaves == 0 ? Sine(frequency: lowest, amplitude: amplitude, sampleRate: sampleRate) : nil
        self.amplitude = amplitude
    }

    func sample(at frame: Int64) -> Float {
        if let fixed { return fixed.sample(at: frame) }
        let elapsed = periods * (PortableMath.powerOfTwo(octavesPerFrame * Double(frame)) - 1)
        return Float(amplitude * PortableMath.sine(PortableMath.phase(periods: elapsed)))
    }
}

/// Clicks at a tempo: short bursts that begin at their peak.
///
/// Click k begins at frame round(k · 60 / bpm · rate), computed for each click, so that rounding errors do not accumulate. An accented
/// click has the given level and a frequency of 1500 Hz; the others are 6 dB lower, at 1000 Hz.
struct Clicks {
    /// Duration of a click in seconds; shorter than the interval at the highest tempo, 0.06 s at 1000 BPM.
    static let length = 0.02
    /// Decay time of a click to 1/e, in seconds.
    private static let decay = 0.003

    private let framesPerClick: (numerator: Double, denominator: Double)
    private let beatsPerBar: Int64
    private let accented: [Float]
    private let plain: [Float]

    init(tempo: Double, beatsPerBar: Int, amplitude: Double, sampleRate: Int) {
        framesPerClick = (60 * Double(sampleRate), tempo)
        self.beatsPerBar = Int64(beatsPerBar)
        accented = Self.burst(frequency: 1_500, amplitude: amplitude, sampleRate: sampleRate)
        plain = Self.burst(frequency: 1_000, amplitude: amplitude / 2, sampleRate: sampleRate)
    }

    /// The frame at which a click begins.
    func position(of click: Int64) -> Int64 {
        Int64((Double(click) * framesPerClick.numerator / framesPerClick.denominator).rounded())
    }

    /// The last click that has begun at a frame.
    func click(at frame: Int64) -> Int64 {
        let guess = Int64(Double(frame) * framesPerClick.denominator / framesPerClick.numerator)
        if position(of: guess + 1) <= frame { return guess + 1 }
        return position(of: guess) <= frame ? guess : guess - 1
    }

    /// - Parameters:
    ///   - click: The last click that has begun.
    ///   - offset: Frames since its beginning.
    func sample(of click: Int64, at offset: Int) -> Float {
        guard offset < accented.count else { return 0 }
        return click.isMultiple(of: beatsPerBar) ? accented[offset] : plain[offset]
    }

    /// A cosine, so that the first frame is the peak, times an exponential decay, times a linear ramp to 0.
    private static func burst(frequency: Double, amplitude: Double, sampleRate: Int) -> [Float] {
        let count = Int((length * Double(sampleRate)).rounded())
        return (0..<count).map { index in
            let time = Double(index) / Double(sampleRate)
            let envelope = PortableMath.powerOfTwo(-time / (decay * 0.693_147_180_559_945_3)) * (1 - Double(index) / Double(count))
            return Float(amplitude * envelope * PortableMath.sine(PortableMath.phase(periods: frequency * time + 0.25)))
        }
    }
}

/// Seeded noise; each channel has its own.
///
/// White noise is uniformly distributed up to the level: its RMS is 4.8 dB below its peak. Pink noise is the mean of sixteen such
/// generators, each updated half as often as the one before, and a white one. It falls by 3 dB per octave, and its peaks stay well below
/// the level.
///
/// - Note: Pink noise by the method of R. F. Voss, with J. McCartney's order of updates (one generator per frame): 3 ± 1 dB per octave.
struct Noise {
    private static let generatorCount = 16

    private let color: NoiseColor
    private let seed: UInt64
    private let channelCount: Int
    private let scale: Double
    /// The generators of each channel and their sums; integers, so that the running sums are exact.
    private var generators: [Int64]
    private var sums: [Int64]

    init(_ color: NoiseColor, seed: UInt64, amplitude: Double, channelCount: Int) {
        self.color = color
        self.seed = seed
        self.channelCount = channelCount
        scale = amplitude * 0x1p-31 / (color == .white ? 1 : Double(Self.generatorCount + 1))
        generators = Array(repeating: 0, count: channelCount * Self.generatorCount)
        sums = Array(repeating: 0, count: channelCount)
        reset()
    }

    /// Restores the state before frame 0.
    mutating func reset() {
        for channel in 0..<channelCount {
            sums[channel] = 0
            for generator in 0..<Self.generatorCount {
                let index = channel * Self.generatorCount + generator
                // Negative frames are not used for anything else.
                generators[index] = color == .white ? 0 : value(at: -1 - Int64(generator), channel)
                sums[channel] += generators[index]
            }
        }
    }

    /// Writes `count` frames from `frame` on. Frames must be written in order.
    mutating func write(_ count: Int, from frame: Int64, to samples: UnsafeMutablePointer<Float>) {
        for index in 0..<count {
            for channel in 0..<channelCount {
                samples[index * channelCount + channel] = sample(at: frame + Int64(index), channel)
            }
        }
    }

    private mutating func sample(at frame: Int64, _ channel: Int) -> Float {
        let white = value(at: 2 * frame, channel)
        if color == .white { return Float(Double(white) * scale) }
        let generator = frame.trailingZeroBitCount
        if generator < Self.generatorCount {
            let index = channel * Self.generatorCount + generator
            let value = value(at: 2 * frame + 1, channel)
            sums[channel] += value - generators[index]
            generators[index] = value
        }
        return Float(Double(sums[channel] + white) * scale)
    }

    /// A number in −2³¹…2³¹ that depends on seed, channel and index only: SplitMix64 (G. Steele, D. Lea, C. Flood, 2014), which allows random
    /// access.
    private func value(at index: Int64, _ channel: Int) -> Int64 {
        let stream = SplitMix64.number(at: 0, ofSeed: seed &+ UInt64(channel) &* 0xd1b5_4a32_d192_ed03)
        let bits = SplitMix64.number(at: index &- 1, ofSeed: stream)
        return Int64(Int32(truncatingIfNeeded: Int64(bitPattern: bits) >> 32))
    }
}
