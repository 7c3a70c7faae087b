/// A drum and bass loop: kick, snare, hats, crash, chords and a bass line. Beat k begins at frame round(k · 60 / bpm · rate).
///
/// The kick is on the first beat of each bar and the snare on the second and fourth; the other hits and the notes are chosen from the seed.
/// The sum goes through a soft clipper, so that its peak stays below the level.
struct DrumLoop {
    /// Sixteenth notes of a bar of four beats.
    static let stepsPerBar: Int64 = 16
    /// Bars from crash to crash; the last one ends with a fill.
    private static let phraseLength: Int64 = 8
    /// Bars on one root note.
    private static let rootLength: Int64 = 2
    /// Gain before the soft clipper.
    private static let drive: Float = 1.2

    private let framesPerStep: (numerator: Double, denominator: Double)
    private let seed: UInt64
    private let amplitude: Float
    private let channelCount: Int
    private let kit: DrumKit
    private let bass: Bass
    private let chord: Chord

    /// The hits that still sound, in the order of their beginnings: a sample is their sum in this order, for every buffer size.
    private var hits: [Hit] = []
    /// The notes of the current bar.
    private var notes: [Note] = []
    private var nextBar: Int64 = 0
    /// The frame at which the next bar begins.
    private var barEnd: Int64 = 0

    private struct Hit {
        var start: Int64
        var drum: DrumKit.Drum
        var gain: Float
        /// −1 (left) … 1 (right).
        var pan: Float = 0
    }

    private struct Note {
        var start: Int64
        var end: Int64
        /// In hertz.
        var frequency: Double
        /// The third of the chord in semitones; nil: a note of the bass line.
        var third: Double?
    }

    init(tempo: Double, seed: UInt64, amplitude: Double, sampleRate: Int, channelCount: Int) {
        framesPerStep = (15 * Double(sampleRate), tempo)
        self.seed = seed
        self.amplitude = Float(amplitude)
        self.channelCount = channelCount
        kit = DrumKit(sampleRate: sampleRate)
        bass = Bass(sampleRate: sampleRate)
        chord = Chord(sampleRate: sampleRate)
        hits.reserveCapacity(256)
        notes.reserveCapacity(16)
    }

    /// Restores the state before frame 0.
    mutating func reset() {
        hits.removeAll(keepingCapacity: true)
        notes.removeAll(keepingCapacity: true)
        (nextBar, barEnd) = (0, 0)
    }

    /// Writes `count` frames from `frame` on. Frames must be written in order.
    mutating func write(_ count: Int, from frame: Int64, to samples: UnsafeMutablePointer<Float>) {
        var done = 0
        while done < count {
            let start = frame + Int64(done)
            if start >= barEnd { beginBar(at: start) }
            let length = Int(min(Int64(count - done), barEnd - start))
            mix(length, from: start, to: samples + done * channelCount)
            done += length
        }
    }

    /// The frame at which a sixteenth note begins.
    private func position(of step: Int64) -> Int64 {
        Int64((Double(step) * framesPerStep.numerator / framesPerStep.denominator).rounded())
    }

    // MARK: - Samples

    private func mix(_ count: Int, from frame: Int64, to samples: UnsafeMutablePointer<Float>) {
        samples.update(repeating: 0, count: count * channelCount)
        for hit in hits {
            for channel in 0..<channelCount {
                let isRight = !channel.isMultiple(of: 2)
                let gain = hit.gain * (1 + (isRight ? hit.pan : -hit.pan))
                kit.withSound(of: hit.drum, isRight: isRight) { sound in
                    let first = Int(max(0, hit.start - frame))
                    let end = Int(min(Int64(count), hit.start + Int64(sound.count) - frame))
                    guard first < end else { return }
                    let offset = Int(frame - hit.start)
                    for index in first..<end { samples[index * channelCount + channel] += gain * sound[index + offset] }
                }
            }
        }
        for note in notes {
            let end = Int(min(Int64(count), note.end - frame))
            for index in stride(from: Int(max(0, note.start - frame)), to: end, by: 1) {
                let position = frame + Int64(index)
                let (offset, length) = (position - note.start, note.end - note.start)
                let sample =
                    note.third.map { chord.sample(at: offset, of: length, frequency: note.frequency, third: $0) }
                    ?? bass.sample(at: offset, of: length, frequency: note.frequency)
                for channel in 0..<channelCount { samples[index * channelCount + channel] += sample }
            }
        }
        for index in 0..<(count * channelCount) {
            // A rational approximation of tanh, exactly 1 at 3.
            let x = min(max(samples[index] * Self.drive, -3), 3)
            samples[index] = amplitude * x * (27 + x * x) / (27 + 9 * x * x)
        }
    }

    // MARK: - Pattern

    private mutating func beginBar(at frame: Int64) {
        hits.removeAll { $0.start + Int64(kit.frameCount(of: $0.drum)) <= frame }
        addHits(of: nextBar)
        setNotes(of: nextBar)
        nextBar += 1
        barEnd = position(of: nextBar * Self.stepsPerBar)
    }

    private mutating func addHits(of bar: Int64) {
        var random = SplitMix64(seed: seed, stream: bar)
        let isFill = bar % Self.phraseLength == Self.phraseLength - 1
        func add(_ step: Int64, _ drum: DrumKit.Drum, _ gain: Float, pan: Float = 0) {
            hits.append(Hit(start: position(of: bar * Self.stepsPerBar + step), drum: drum, gain: gain, pan: pan))
        }
        if bar % Self.phraseLength == 0 { add(0, .crash, 0.35) }
        let secondKick: Int64 = random.next() < 0.75 ? 10 : 11
        for step in 0..<Self.stepsPerBar {
            let chance = random.next()
            switch step {
            case 0: add(step, .kick, 1)
            case 4, 12: add(step, .snare, 0.85)
            case secondKick: add(step, .kick, 0.85)
            case 13...15 where isFill: add(step, .snare, 0.25 + 0.15 * Float(step - 13))
            case 7, 9, 15: if chance < 0.4 { add(step, .snare, 0.18) }
            default: break
            }
            let accent = random.next()
            if step == 14, accent < 0.5 {
                add(step, .openHat, 0.3, pan: 0.2)
            } else if step.isMultiple(of: 2) {
                add(step, .closedHat, step.isMultiple(of: 4) ? 0.6 : 0.3, pan: 0.2)
            } else if accent < 0.35 {
                add(step, .closedHat, 0.14, pan: -0.3)
            }
        }
    }

    private mutating func setNotes(of bar: Int64) {
        var random = SplitMix64(seed: seed, stream: -1 - bar / Self.rootLength)
        let root = bar / Self.rootLength % 4 == 0 ? 0 : bass.roots.element(random.next())
        let frequency = Bass.lowest * PortableMath.powerOfTwo(root / 12)
        // The chords of E minor: G and C are major.
        let third = root == 3 || root == 8 ? 4.0 : 3
        notes.removeAll(keepingCapacity: true)
        func add(_ start: Int64, _ length: Int64, _ frequency: Double, third: Double? = nil) {
            let step = bar * Self.stepsPerBar + start
            notes.append(Note(start: position(of: step), end: position(of: step + length), frequency: frequency, third: third))
        }
        for (start, length, interval) in bass.rhythms.element(random.next()) {
            add(start, length, frequency * PortableMath.powerOfTwo(interval / 12))
        }
        for start in chord.rhythms.element(random.next()) { add(start, 4, 8 * frequency, third: third) }
    }
}

/// The recorded sounds of the drums, two of each: one for even and one for odd channels, with different noise.
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
            let new = 2 * noise.next() - 1
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

/// Random numbers: SplitMix64 (G. Steele, D. Lea, C. Flood, 2014).
struct SplitMix64 {
    private var state: UInt64

    /// - Parameter stream: Streams of the same seed are independent.
    init(seed: UInt64, stream: Int64) {
        state = Self.mixed(Self.mixed(seed &+ 0x9e37_79b9_7f4a_7c15) &+ UInt64(bitPattern: stream) &* 0xd1b5_4a32_d192_ed03)
    }

    /// A number in 0..<1, a multiple of 2⁻³².
    mutating func next() -> Double {
        state &+= 0x9e37_79b9_7f4a_7c15
        return Double(Self.mixed(state) >> 32) * 0x1p-32
    }

    static func mixed(_ state: UInt64) -> UInt64 {
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

extension Array {
    /// The element at a part of the array's length, 0..<1.
    fileprivate func element(_ part: Double) -> Element { self[Int(part * Double(count))] }
}
