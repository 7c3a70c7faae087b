internal import Glibc
internal import HemiolaSignal

/// Levels of bands, their increases, and their mean increase as onset strength (SuperFlux: S. Böck and G. Widmer, "Maximum Filter
/// Vibrato Suppression for Onset Detection", DAFx 2013): the earlier levels are maximum-filtered over three bands, so that vibrato does
/// not count as an increase. The gain of the audio has no influence above −90 dBFS.
///
/// Differences from the paper: amplitudes are relative to the decaying maximum of the loudest band, and the result is the mean over
/// the bands instead of their sum.
struct BandFilter: Sendable {
    /// The constants of a use.
    struct Settings: Sendable {
        var bandsPerOctave: Double
        /// Bands above this frequency, in hertz, are left out.
        var top = TriangularFilterBank.frequencyRange.upperBound
        /// Factor of the logarithmic compression, log(1 + factor · relative amplitude).
        var compression: Float
        /// Levels are in nats if this is ln 2, and in octaves if it is 1.
        var octave: Float
        /// Increases are over this number of frames, 1 or 2.
        var lag: Int
        /// Time constant of the decaying maximum, in seconds.
        var decaySeconds: Double

        /// The input of `BeatNetwork`. `Training/FEATURES.md` defines all values and constants: the network is trained with them.
        static let network = Settings(bandsPerOctave: 12, compression: 100, octave: Float(M_LN2), lag: 2, decaySeconds: 5)

        /// The onset detection function, for a stream whose highest frequency is `nyquist`, in hertz.
        static func onsets(nyquist: Double) -> Settings {
            Settings(bandsPerOctave: 24, top: 0.98 * nyquist, compression: 30, octave: 1, lag: 1, decaySeconds: 8)
        }
    }

    /// Number of bands of the network's input.
    static let bandCount = 73
    /// The spectra: window length in frames, and sample rate and hop in hertz and seconds.
    static let size = 2048
    static let sampleRate = 44_100
    static let hopSeconds = 0.01
    /// Index of the first band in `levels` and `increases`, which have zeros before and after the bands.
    static let firstIndex = 8

    /// Lower limit of the peak, −90 dBFS: the resolution of 16-bit samples.
    private static let silenceLevel: Float = 3e-5
    private static let leastOnset: Float = 0.2
    private static let highestOnset: Float = 0.95

    private let settings: Settings
    private let bank: TriangularFilterBank
    /// Factors per frame of the decaying maxima of the band amplitudes and of the onset strength.
    private let peakDecay: Float
    private let onsetDecay = Float(exp(-hopSeconds / 15))
    /// log(1 + compression · amplitude / peak) of each band, 0…4.62 for the network; from index `firstIndex` on.
    private(set) var levels: [Float]
    /// Increases of the levels over `lag` frames, at least 0; from index `firstIndex` on.
    private(set) var increases: [Float]
    /// Onset strength: the mean increase over the maximum of three bands, in the unit of the levels. 0 for the first frame.
    private(set) var strength: Float = 0
    /// Onset activation: the strength relative to its decaying maximum, 0…0.95.
    private(set) var onset: Float = 0
    /// What the onset strength of the frame is after silence: the mean of the levels.
    var strengthAfterSilence: Float { levels.reduce(0, +) / Float(max(1, bank.count)) }
    /// The centre of each band, in hertz.
    var centers: [Double] { bank.centers }
    /// The largest amplitude of a band in the frame.
    private(set) var largest: Float = 0
    /// Whether every band of the frame is below −90 dBFS.
    var isSilent: Bool { largest < Self.silenceLevel }
    /// The centre of the power of the frame, in bands; of the network's input. O(bands).
    var centroid: Float {
        var (sum, moment): (Float, Float) = (0, 0)
        for band in 0..<bank.count {
            let amplitude = exp(levels[Self.firstIndex + band]) - 1
            sum += amplitude * amplitude
            moment += amplitude * amplitude * Float(band)
        }
        return sum > 0 ? moment / sum : 0
    }
    /// The levels one and two frames earlier.
    private var previous: [Float]
    private var beforePrevious: [Float]
    private var frameCount = 0
    private var peak = Self.silenceLevel
    private var onsetMaximum = Self.leastOnset

    init(_ settings: Settings = .network) {
        self.settings = settings
        bank = TriangularFilterBank(
            bandsPerOctave: settings.bandsPerOctave, size: Self.size, sampleRate: Double(Self.sampleRate), top: settings.top)
        peakDecay = Float(exp(-Self.hopSeconds / settings.decaySeconds))
        levels = Array(repeating: 0, count: 2 * Self.firstIndex + (bank.count + 7) & ~7)
        (increases, previous, beforePrevious) = (levels, levels, levels)
    }

    /// Returns to the initial state: at the start, and after a gap.
    mutating func reset() {
        frameCount = 0
        (peak, onsetMaximum) = (Self.silenceLevel, Self.leastOnset)
    }

    /// Processes the next magnitude spectrum, which has 1025 bins and is not normalized. O(bins), no allocation.
    mutating func advance(_ magnitudes: Span<Float>) {
        precondition(magnitudes.count == Self.size / 2 + 1)
        bank.apply(magnitudes, to: &increases, from: Self.firstIndex)
        compress()
    }

    /// Processes the next frame, given its band amplitudes. No allocation.
    mutating func advance(amplitudes: Span<Float>) {
        precondition(amplitudes.count == bank.count)
        for band in amplitudes.indices { increases[Self.firstIndex + band] = amplitudes[band] }
        compress()
    }

    /// Processes a frame of silence. No allocation.
    mutating func advanceInSilence() {
        for index in increases.indices { increases[index] = 0 }
        compress()
    }

    /// Replaces the amplitudes, which are in `increases`, and updates the other values.
    private mutating func compress() {
        swap(&beforePrevious, &previous)
        swap(&previous, &levels)
        let vectors = stride(from: Self.firstIndex, to: levels.count - 8, by: 8)
        var largest = Lanes.zero
        increases.withUnsafeBufferPointer { amplitudes in
            for index in vectors { largest = largest.maximum(with: amplitudes.lanes(index)) }
        }
        self.largest = largest.max()
        peak = max(self.largest, peak * peakDecay, Self.silenceLevel)
        let factor = Lanes(repeating: settings.compression / peak)
        // The first frame also stands for the frames before it, because a stream may be cut within a sound; see `StreamStart`.
        let change = Lanes(repeating: frameCount == 0 ? 0 : 1)
        let reference = frameCount == 1 || settings.lag == 1 ? previous : beforePrevious
        let octave = settings.octave
        frameCount += 1
        var sum = Lanes.zero
        levels.withUnsafeMutableBufferPointer { levels in
            increases.withUnsafeMutableBufferPointer { increases in
                reference.withUnsafeBufferPointer { old in
                    for index in vectors {
                        let level = (increases.lanes(index) * factor + 1).approximateLog2 * octave
                        levels.store(level, index)
                        increases.store((level - old.lanes(index)).maximum(with: .zero) * change, index)
                        // The zeros around the bands do not change the maximum of three bands: levels are not negative.
                        let highest = old.lanes(index).maximum(with: old.lanes(index - 1)).maximum(with: old.lanes(index + 1))
                        sum += (level - highest).maximum(with: .zero) * change
                    }
                }
            }
        }
        strength = sum.sum() / Float(max(1, bank.count))
        onsetMaximum = max(strength, onsetMaximum * onsetDecay, Self.leastOnset)
        onset = Self.highestOnset * strength / onsetMaximum
    }
}
