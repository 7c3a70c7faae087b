internal import Glibc
public import HemiolaRecords
public import HemiolaSignal

/// Magnitudes of notes, chroma and tuning, frame by frame.
///
/// The spectral peaks of a constant-Q transform with three bins per semitone are assigned to notes at the estimated tuning. The chroma
/// sums the logarithmically compressed magnitudes of the notes of each pitch class. Notes that coincide with the third, fifth, sixth or
/// seventh harmonic of lower notes, and high notes, have a smaller weight: ``Weighting``.
///
/// Each analyzer has its own extractor. Those with the same `hop` share the spectrum.
///
///     tonal = ChromaExtractor(sampleRate: stream.sampleRate, hopFrames: stream.hopFrames, outputs: &outputs)     // in prepare
///     for index in 0..<tonal.frameCount(in: hop) {                                                              // in process
///         tonal.update(from: hop, index)
///         let chroma = tonal.chroma
///     }
///
/// - Complexity: a transform of 4096 frames at 8 kHz per frame, shared, and about 5 µs; no allocation after `init`.
public final class ChromaExtractor {
    /// The standard interval of frames, in seconds.
    public static let frameSeconds = 0.05
    /// The lowest note, as a MIDI number: C2.
    public static let lowestNote = 36
    /// The number of notes: five octaves, up to B6.
    public static let noteCount = 60

    /// The window: 4096 frames at 8 kHz.
    private static let windowSeconds = 0.512
    /// Bins per semitone, and the number of bins: one more at either end, so that each bin of a note has two neighbours.
    private static let binsPerNote = 3
    private static let binCount = noteCount * binsPerNote + 2
    /// The distance of two semitones is the distance of the maximum of a window's spectrum to its first zero.
    private static let quality = 34.0
    /// The power of all notes below which a frame is silent: −80 dBFS.
    private static let silence: Float = 1e-8
    /// Peaks more than 60 dB below the highest are left out; in octaves of power.
    private static let range: Float = 20
    /// Peaks below −120 dBFS are left out; log₂ of their power.
    private static let leastLevel: Float = -40
    /// Peaks from this share of the largest magnitude on, from C3 on, count for the tuning.
    private static let tuningShare: Float = 0.1
    private static let lowestTuningNote: Float = 12
    /// The distance of a harmonic in semitones, and its assumed magnitude relative to the fundamental. Chosen on rendered music.
    private static let harmonics: [(distance: Int, weight: Float)] = [(19, 0.4), (28, 0.3), (31, 0.2), (34, 0.15)]
    /// The decay of the weight of a note in the bass, per semitone, and the number of notes there.
    private static let bassSlope = 0.06
    private static let bassCount = 24

    /// How the notes of a frame add up to its chroma.
    public struct Weighting: Sendable {
        /// The decay of the weight of a note per semitone.
        let slope: Double
        /// A factor of the assumed magnitudes of the harmonics.
        let harmonics: Float
        /// The compression log(1 + a·m/max).
        let compression: Float

        /// The chroma itself: the most similar one to the notes that sound, on rendered music.
        public static let standard = Weighting(slope: 0.02, harmonics: 1, compression: 3)
        /// For chords: the third of a chord counts although the bass is louder. On 200 rendered pieces, 1.3 % more of the time has the right
        /// major or minor chord than with `standard` (95 % interval 0.7 to 2.0), and 1.8 % more (1.1 to 2.5) where they are mixed with drums,
        /// distortion, speech and noise.
        public static let chords = Weighting(slope: 0.02, harmonics: 1, compression: 20)
        /// For the key, from the mean of many frames: harmonics add up over time, and bass drums are as loud as the bass. On 300 rendered
        /// pieces with drums, distortion, speech and noise, the score of the key of the whole piece is 0.028 higher than with `standard`
        /// (95 % interval 0.012 to 0.046), and 0.004 higher without (−0.005 to 0.011). Notes below C2 bring nothing there.
        public static let key = Weighting(slope: 0, harmonics: 2, compression: 5)
    }

    /// Frames of the stream from the centre of the windows to their end.
    public let latencyFrames: Int64
    /// The centre of the last frame's windows, in frames of the stream; negative at the start, where they reach back before the audio.
    public private(set) var center: Double = 0
    /// Whether the last frame has hardly any power: −80 dBFS. Its values are 0.
    public private(set) var isSilent = true
    /// The sum of the squares of the notes' magnitudes in the last frame.
    public private(set) var power: Float = 0
    /// The tuning: the distance from A4 = 440 Hz in cents, −50…50, over the last ten seconds; 0 until half a second of tones. At either
    /// limit, it may be up to 12 cents beyond it: the notes do not change to the next key for less.
    public var tuningCents: Float { min(max(tuning.semitones * 100, -50), 50) }
    /// Whether there is an estimate of the tuning.
    public var hasTuning: Bool { tuning.isKnown }

    private let transform: ConstantQTransform
    private let bins: Int
    private let weighting: Weighting
    private var tuning: TuningEstimate
    // Unsafe pointers: the buffers of the hot path, allocated once, indexed without exclusivity checks.
    /// log₂ of each bin's power, up to a whole number of vectors.
    private let levels: UnsafeMutablePointer<Float>
    private let noteValues: UnsafeMutablePointer<Float>
    /// The deviation of the peak of each note from its centre, in semitones.
    private let deviations: UnsafeMutablePointer<Float>
    /// The weighted and compressed magnitudes of the notes.
    private let salience: UnsafeMutablePointer<Float>
    private let slopes: UnsafeMutablePointer<Float>
    private let bassWeights: UnsafeMutablePointer<Float>
    private let chromaValues: UnsafeMutablePointer<Float>
    private let bassValues: UnsafeMutablePointer<Float>

    /// Makes the tables and requests the spectrum.
    ///
    /// - Parameters:
    ///   - sampleRate: The rate of the stream, in hertz.
    ///   - hopFrames: Frames per hop of the stream.
    ///   - hop: How often a frame is computed.
    ///   - binsPerOctave: The bins of the chroma: 12, 24 or 36.
    ///   - weighting: How the notes add up to the chroma.
    ///   - outputs: The outputs of the analyzer, to which the request is added.
    public init(
        sampleRate: Int, hopFrames: Int, hop: SpectrumHop = .seconds(ChromaExtractor.frameSeconds), binsPerOctave: Int = 12,
        weighting: Weighting = .standard, outputs: inout AnalyzerOutputs
    ) {
        precondition([12, 24, 36].contains(binsPerOctave), "chroma has 12, 24 or 36 bins")
        bins = binsPerOctave
        self.weighting = weighting
        let lowest = 440 * exp2((Double(Self.lowestNote - 69) * Double(Self.binsPerNote) - 2) / (12 * Double(Self.binsPerNote)))
        let layout = ConstantQLayout(
            lowest: lowest, binsPerOctave: 12 * Self.binsPerNote, count: Self.binCount, quality: Self.quality,
            longestWindow: Self.windowSeconds, alignment: .centered)
        transform = ConstantQTransform(layout, sampleRate: sampleRate, hop: hop, outputs: &outputs)
        latencyFrames = Int64((Self.windowSeconds / 2 * Double(sampleRate)).rounded())
        let seconds =
            switch hop {
            case .everyHop: Double(hopFrames) / Double(sampleRate)
            case .seconds(let seconds): seconds
            }
        tuning = TuningEstimate(frameSeconds: seconds)
        func buffer(_ count: Int, _ value: (Int) -> Float = { _ in 0 }) -> UnsafeMutablePointer<Float> {
            let pointer = UnsafeMutablePointer<Float>.allocate(capacity: count)
            for index in 0..<count { (pointer + index).initialize(to: value(index)) }
            return pointer
        }
        levels = buffer((Self.binCount + 7) / 8 * 8)
        noteValues = buffer(Self.vectorCount)
        deviations = buffer(Self.vectorCount)
        salience = buffer(Self.vectorCount)
        slopes = buffer(Self.vectorCount) { Float(exp(-weighting.slope * Double($0))) }
        bassWeights = buffer(Self.bassCount) { Float(exp(-Self.bassSlope * Double($0))) }
        chromaValues = buffer(binsPerOctave)
        bassValues = buffer(12)
    }

    /// The number of notes, up to a whole number of vectors.
    private static let vectorCount = (noteCount + 7) / 8 * 8

    deinit {
        for pointer in [levels, noteValues, deviations, salience, slopes, bassWeights, chromaValues, bassValues] { pointer.deallocate() }
    }

    /// The magnitude of each note in the last frame, from `lowestNote` on: a full-scale sine reads 1.
    public var notes: Span<Float> {
        @_lifetime(borrow self)
        get { unsafe _overrideLifetime(UnsafeBufferPointer(start: noteValues, count: Self.noteCount).span, borrowing: self) }
    }

    /// The chroma of the last frame from C on, 0…1, the largest 1; all 0 in silence.
    public var chroma: Span<Float> {
        @_lifetime(borrow self)
        get { unsafe _overrideLifetime(UnsafeBufferPointer(start: chromaValues, count: bins).span, borrowing: self) }
    }

    /// The 12 pitch classes of the two lowest octaves in the last frame from C on, 0…1, the largest 1, lower notes with more weight; all
    /// 0 where there is no bass.
    public var bass: Span<Float> {
        @_lifetime(borrow self)
        get { unsafe _overrideLifetime(UnsafeBufferPointer(start: bassValues, count: 12).span, borrowing: self) }
    }

    /// The number of frames that came with a hop.
    public func frameCount(in hop: borrowing Hop) -> Int {
        transform.frameCount(in: hop)
    }

    /// Computes a frame of those that came with a hop; call it for each, in order.
    public func update(from hop: borrowing Hop, _ index: Int) {
        center = transform.center(in: hop, index)
        transform.update(from: hop, index)
        findNotes()
        sumPitchClasses()
        sumBass()
    }

    /// Audio was lost: the values of the last frame are discarded, the tuning stays.
    public func skip() {
        clear()
    }

    /// Restores the state after `init`.
    public func reset() {
        clear()
        tuning.reset()
    }

    private func clear() {
        (center, isSilent, power) = (0, true, 0)
        noteValues.update(repeating: 0, count: Self.vectorCount)
        chromaValues.update(repeating: 0, count: bins)
        bassValues.update(repeating: 0, count: 12)
    }
}

// MARK: - Notes

extension ChromaExtractor {
    /// Assigns each spectral peak to the nearest note at the tuning so far, and updates the tuning.
    private func findNotes() {
        noteValues.update(repeating: 0, count: Self.vectorCount)
        let highest = measureLevels()
        let lowest = max(highest - Self.range, Self.leastLevel)
        let offset = tuning.semitones
        tuning.advance()
        var sum: Float = 0
        for bin in 1...Self.noteCount * Self.binsPerNote {
            let (low, level, high) = (levels[bin - 1], levels[bin], levels[bin + 1])
            guard level > lowest, level >= low, level > high else { continue }
            // A parabola through the levels of three bins.
            let shift = 0.5 * (low - high) / (low - 2 * level + high)
            let magnitude = exp2f(0.5 * (level - 0.25 * (low - high) * shift))
            // Bin 2 is the centre of note 0.
            let place = (Float(bin - 2) + shift) / Float(Self.binsPerNote)
            let share = magnitude * exp2f(-0.5 * highest)
            if share > Self.tuningShare, place > Self.lowestTuningNote { tuning.add(place, share: min(1, share)) }
            let note = min(max(0, Int((place - offset).rounded())), Self.noteCount - 1)
            if magnitude > noteValues[note] {
                noteValues[note] = magnitude
                deviations[note] = place - offset - Float(note)
            }
        }
        tuning.update()
        for note in 0..<Self.noteCount { sum += noteValues[note] * noteValues[note] }
        power = sum
        isSilent = sum < Self.silence
        if isSilent { noteValues.update(repeating: 0, count: Self.vectorCount) }
    }

    /// Writes log₂ of the power of each bin, at least −60, and returns the highest.
    private func measureLevels() -> Float {
        let least = Lanes(repeating: exp2f(-60))
        let powers = transform.values
        var highest = Lanes(repeating: -60)
        for index in stride(from: 0, to: Self.binCount, by: 8) {
            let logs = powers.lanes(index).maximum(with: least).approximateLog2
            levels.store(logs, index)
            highest = highest.maximum(with: logs)
        }
        return highest.max()
    }
}

// MARK: - Pitch classes

extension ChromaExtractor {
    private func sumPitchClasses() {
        chromaValues.update(repeating: 0, count: bins)
        guard !isSilent else { return }
        var largest: Float = 0
        for note in 0..<Self.noteCount {
            let value = noteValues[note]
            guard value > 0 else {
                salience[note] = 0
                continue
            }
            var harmonic: Float = 0
            for (distance, weight) in Self.harmonics where note >= distance { harmonic += weight * noteValues[note - distance] }
            salience[note] = value * value / (value + weighting.harmonics * harmonic) * slopes[note]
            largest = max(largest, salience[note])
        }
        let scale = weighting.compression / largest
        for index in stride(from: 0, to: Self.vectorCount, by: 8) {
            salience.store((salience.lanes(index) * scale + 1).approximateLog2, index)
        }
        let perNote = bins / 12
        for note in 0..<Self.noteCount where noteValues[note] > 0 {
            let place = (Float(note) + deviations[note]) * Float(perNote)
            let bin = perNote == 1 ? note : Int(place.rounded())
            chromaValues[(bin + bins) % bins] += salience[note]
        }
        Self.normalize(chromaValues, count: bins)
    }

    private func sumBass() {
        bassValues.update(repeating: 0, count: 12)
        guard !isSilent else { return }
        for note in 0..<Self.bassCount { bassValues[note % 12] += noteValues[note] * bassWeights[note] }
        Self.normalize(bassValues, count: 12)
    }

    private static func normalize(_ values: UnsafeMutablePointer<Float>, count: Int) {
        var largest: Float = 0
        for index in 0..<count { largest = max(largest, values[index]) }
        guard largest > 0 else { return }
        for index in 0..<count { values[index] /= largest }
    }
}
