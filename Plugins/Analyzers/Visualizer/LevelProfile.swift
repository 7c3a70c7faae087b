internal import Hemiola

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// The program whose levels are computed. It determines signal, window, bands and initial averages.
///
/// Both profiles use a transform of 1024 frames, multiply each magnitude by the same equalizer and sum over ranges of bins. As in the
/// original programs the window lengths are in frames and do not depend on the sample rate.
enum LevelProfile: String, CaseIterable, SettingChoice {
    /// The last 1024 frames of the mono mix, without a window; bands in hertz (Butterchurn, `src/audio/audioLevels.js`).
    case butterchurn
    /// The last 576 frames of the left channel under a periodic Hann window, zero-padded; bands are thirds of the lower half of
    /// the spectrum, 0…11 025 Hz at 44.1 kHz (MilkDrop 2, `DoCustomSoundAnalysis`).
    case milkdrop

    /// Length of the transform, in frames.
    static let transformSize = 1024
    /// Number of bins with a weight: all but Nyquist.
    private static let binCount = transformSize / 2
    /// The original programs process signed 8-bit samples. Samples are scaled to that range, but not rounded.
    private static let fullScale = 128.0

    /// Length of the window, in frames.
    var windowFrames: Int {
        switch self {
        case .butterchurn: Self.transformSize
        case .milkdrop: 576
        }
    }

    /// The bins of bass, mid and treb. A band is empty if the sample rate is so high that it contains no bin.
    func bands(at sampleRate: Int) -> [Range<Int>] {
        switch self {
        case .butterchurn:
            let binWidth = Double(sampleRate) / Double(Self.transformSize)
            let edges = [20.0, 320, 2800, 11_025].map { hertz in
                // As JavaScript's Math.round: halves are rounded up.
                min(max(Int((hertz / binWidth + 0.5).rounded(.down)) - 1, 0), Self.binCount - 1)
            }
            return zip(edges, edges.dropFirst()).map { $0..<$1 }
        case .milkdrop:
            return (0..<3).map { Self.binCount * $0 / 6..<Self.binCount * ($0 + 1) / 6 }
        }
    }

    /// The weight of each bin's magnitude: full scale times the equalizer, −0.02·ln((512 − bin) / 512).
    static func weights() -> [Float] {
        (0..<binCount).map { bin in
            Float(fullScale * -0.02 * log(Double(binCount - bin) / Double(binCount)))
        }
    }

    /// The update rate used for the smoothing, in updates per second: Butterchurn clamps it to 15…144.
    func framesPerSecond(_ updates: Double) -> Double {
        switch self {
        case .butterchurn: min(max(updates, 15), 144)
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
