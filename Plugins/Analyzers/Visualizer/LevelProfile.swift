internal import Glibc
internal import Hemiola

/// The program whose levels are computed. It determines signal, window, bands and initial averages.
///
/// All profiles use a transform of 1024 frames, multiply each magnitude by the same equalizer and sum over ranges of bins. As in the
/// original programs the window lengths are in frames, which were those of a sound card at 44.1 or 48 kHz: at the multiples of these
/// rates they are multiples, so that the bins are as narrow, and the bands contain the same sound.
enum LevelProfile: String, CaseIterable {
    /// The last 1024 frames of the mono mix, without a window; bands in hertz (Butterchurn, `src/audio/audioLevels.js`).
    case butterchurn
    /// The last 576 frames of the left channel under a periodic Hann window, zero-padded; bands are thirds of the lower half of
    /// the spectrum, 0…11 025 Hz at 44.1 kHz (MilkDrop 2, `DoCustomSoundAnalysis`).
    case milkdrop

    /// Length of the transform, in frames of 44.1 or 48 kHz.
    static let transformSize = 1024
    /// Number of bins with a weight: all but Nyquist.
    private static let binCount = transformSize / 2
    /// The original programs process signed 8-bit samples. Samples are scaled to that range, but not rounded.
    private static let fullScale = 128.0

    /// The factor of all lengths in frames: the power of two that is nearest to the ratio of the rate to 44.1 and 48 kHz, at least 1.
    /// The limits are halfway between the usual sample rates.
    static func factor(at sampleRate: Int) -> Int {
        switch sampleRate {
        case ...75_000: 1
        case ...150_000: 2
        case ...300_000: 4
        default: 8
        }
    }

    /// Length of the window, in frames of 44.1 or 48 kHz.
    var windowFrames: Int {
        switch self {
        case .butterchurn: Self.transformSize
        case .milkdrop: 576
        }
    }

    /// The bins of bass, mid and treb; none is empty from 8 to 384 kHz.
    func bands(at sampleRate: Int) -> [Range<Int>] {
        switch self {
        case .butterchurn:
            let binWidth = Double(sampleRate) / Double(Self.transformSize * Self.factor(at: sampleRate))
            let edges = [20.0, 320, 2800, 11_025].map { hertz in
                // As JavaScript's Math.round: halves are rounded up.
                min(max(Int((hertz / binWidth + 0.5).rounded(.down)) - 1, 0), Self.binCount - 1)
            }
            return zip(edges, edges.dropFirst()).map { $0..<$1 }
        case .milkdrop:
            return (0..<3).map { Self.binCount * $0 / 6..<Self.binCount * ($0 + 1) / 6 }
        }
    }

    /// The weight of each bin's magnitude: full scale times the equalizer, −0.02·ln((512 − bin) / 512), relative to the length of the
    /// transform.
    static func weights(at sampleRate: Int) -> [Float] {
        (0..<binCount).map { bin in
            Float(fullScale * -0.02 * log(Double(binCount - bin) / Double(binCount)) / Double(factor(at: sampleRate)))
        }
    }

    /// The update rate used for the smoothing, in updates per second: Butterchurn clamps it to 15…144. Batches of as many frames are
    /// shorter at high sample rates, and the upper limit is higher.
    func framesPerSecond(_ updates: Double, sampleRate: Int) -> Double {
        switch self {
        case .butterchurn: min(max(updates, 15), 144 * Double(Self.factor(at: sampleRate)))
        case .milkdrop: updates
        }
    }

    /// Initial value of both averages.
    var initialAverage: Double {
        switch self {
        case .butterchurn: 1
        case .milkdrop: 0
        }
    }
}
