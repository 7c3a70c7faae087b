internal import Hemiola

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// Whose levels they are: which signal, which bands, which start.
///
/// Both profiles transform 1024 frames, multiply each magnitude by the same equaliser and sum runs of bins. Window and sizes
/// are frames of the stream at any rate, for that is what the originals take.
enum LevelProfile: String, CaseIterable, SettingChoice {
    /// The last 1024 frames of the mono mix without a window; bands by hertz (Butterchurn, `src/audio/audioLevels.js`).
    case butterchurn
    /// The last 576 frames of the left channel under a periodic Hann window, zeros after them; thirds of the lower half of
    /// the spectrum, 0…11 025 Hz at 44.1 kHz (MilkDrop 2, `DoCustomSoundAnalysis`).
    case milkdrop

    /// Frames in the transform.
    static let transformSize = 1024
    /// Bins that the equaliser knows: all but Nyquist.
    private static let binCount = transformSize / 2
    /// The originals see signed 8-bit samples. We scale to them and leave the rounding out.
    private static let fullScale = 128.0

    /// Frames of audio under the window.
    var windowFrames: Int {
        switch self {
        case .butterchurn: Self.transformSize
        case .milkdrop: 576
        }
    }

    /// The bins of bass, mid and treb. A band is empty where the sample rate leaves it no bin.
    func bands(at sampleRate: Int) -> [Range<Int>] {
        switch self {
        case .butterchurn:
            let binWidth = Double(sampleRate) / Double(Self.transformSize)
            let edges = [20.0, 320, 2800, 11_025].map { hertz in
                // JavaScript's Math.round: halves go up.
                min(max(Int((hertz / binWidth + 0.5).rounded(.down)) - 1, 0), Self.binCount - 1)
            }
            return zip(edges, edges.dropFirst()).map { $0..<$1 }
        case .milkdrop:
            return (0..<3).map { Self.binCount * $0 / 6..<Self.binCount * ($0 + 1) / 6 }
        }
    }

    /// What each bin's magnitude is multiplied by: full scale times the equaliser, −0.02·ln((512 − bin) / 512).
    static func weights() -> [Float] {
        (0..<binCount).map { bin in
            Float(fullScale * -0.02 * log(Double(binCount - bin) / Double(binCount)))
        }
    }

    /// Updates a second as the profile reckons with them.
    func framesPerSecond(_ updates: Double) -> Double {
        switch self {
        case .butterchurn: min(max(updates, 15), 144)
        case .milkdrop: updates
        }
    }

    /// Both averages before the first hop.
    var firstAverage: Double {
        switch self {
        case .butterchurn: 1
        case .milkdrop: 0
        }
    }
}
