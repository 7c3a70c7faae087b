internal import Glibc

/// Automatic gain and motion of the bars: a bar rises at once, falls with constant acceleration ("gravity"), and is smoothed.
///
/// While a bar exceeds 1, the gain decreases, by half in 0.5 s. Otherwise it increases, by a factor of two in 10 s, and much faster
/// until a bar has reached 1 for the first time. In silence it is constant.
///
/// - Complexity: O(bars) per hop, no allocation.
/// - Note: The constants are those of cava's cavacore.c (K. Stavestrand), which are per frame at about 66 frames per second. Here
///   they are converted to the hop duration, so that the motion does not depend on the hop size. Other differences: gain and bar
///   height are limited, a falling bar stays above the current value, and smoothing does not change the height of a constant bar.
public struct BarMotion: Sendable {
    /// Smoothing by default, in percent.
    public static let defaultNoiseReduction = 77
    /// Mean square below which a hop is silence: −90 dBFS, so that dither is silence.
    private static let silence: Float = 1e-9
    /// Frame rate of cava's constants, in frames per second.
    private static let reference = 66.0
    /// Upper limit of the height before the gain control. A bar decreases the gain until it has fallen back to 1, also after the
    /// sound has ended: 0.3 s from a height of 2, twice as long from 100. Without a limit one extreme sample would reduce the gain
    /// for more than ten seconds.
    private static let maximumHeight: Float = 2
    /// Upper limit of the gain: 96 dB above the initial gain, the dynamic range of 16 bits.
    private static let maximumGain = 0x1p16

    /// Factors of the gain per hop: while a bar exceeds 1, while none does, and until the first one did.
    private let overshootFactor: Double
    private let growthFactor: Double
    private let startFactor: Double
    private let fall: Fall

    private(set) var gain = 1.0
    private var isStarting = true
    /// The bars in groups of eight.
    private var groups: [BarGroup]

    /// Parameters of the motion, the same for all bars. They are a separate value, so that the groups are mutated in place.
    private struct Fall {
        /// Smoothing factor: the part of the smoothed height that remains after one hop.
        var smoothing: Float
        /// Part of the peak height by which a bar has fallen one second after the peak.
        var gravity: Float
        var hopSeconds: Float
    }

    /// Eight bars: the last peaks, the seconds since then, and the heights before and after smoothing.
    private struct BarGroup {
        var peaks = Lanes.zero
        var fallSeconds = Lanes.zero
        var heights = Lanes.zero
        var smoothed = Lanes.zero

        /// Updates the bars and returns the smoothed heights.
        @inline(__always)
        mutating func update(_ raw: Lanes, _ fall: Fall) -> Lanes {
            // In this order NaN becomes the maximum height.
            let now = Lanes(repeating: maximumHeight).replacing(with: raw, where: raw .< maximumHeight)
            let falls = now .< heights
            let seconds = Lanes.zero.replacing(with: fallSeconds + fall.hopSeconds, where: falls)
            let fallen = peaks * (1 - fall.gravity * seconds * seconds)
            fallSeconds = seconds
            peaks = now.replacing(with: peaks, where: falls)
            heights = now.replacing(with: fallen, where: falls .& (fallen .> now))
            smoothed = smoothed * fall.smoothing + heights * (1 - fall.smoothing)
            return smoothed
        }
    }

    /// The motion of bars that begin at 0.
    ///
    /// - Parameters:
    ///   - count: The number of bars.
    ///   - noiseReduction: 0…0.99: the part of the smoothed height that remains after 15 ms. 0 is without smoothing.
    ///   - hopSeconds: The time from one hop to the next, in seconds.
    public init(count: Int, noiseReduction: Double, hopSeconds: Double) {
        let frames = hopSeconds * Self.reference
        overshootFactor = pow(0.98, frames)
        growthFactor = pow(1.001, frames)
        startFactor = pow(1.1, frames)
        let speed = 0.028 * Self.reference
        fall = Fall(
            smoothing: noiseReduction == 0 ? 0 : Float(pow(noiseReduction, frames)),
            // Without noise reduction a bar falls at once.
            gravity: noiseReduction <= 0.1 ? .infinity : Float(speed * speed * 2 / noiseReduction),
            hopSeconds: Float(hopSeconds))
        groups = Array(repeating: BarGroup(), count: (count + 7) / 8)
    }

    /// Whether a hop is silence: at most −90 dBFS, without the constant offset that a microphone may have. O(n).
    ///
    /// - Parameters:
    ///   - samples: A channel or the mono mix.
    ///   - frameCount: The frames of the hop, without zeros behind them.
    public static func isSilent(_ samples: Span<Float>, frameCount: Int) -> Bool {
        samples.isQuiet(within: Float(frameCount) * silence)
    }

    /// Converts the values of a hop's bars to heights of 0…1, in place.
    ///
    /// - Parameters:
    ///   - bars: The values, such as those of a ``BarSpectrum``; as many each time.
    ///   - isSilent: Whether the hop is silence, in which the gain is constant: ``isSilent(_:frameCount:)``.
    public mutating func update(_ bars: inout MutableSpan<Float>, isSilent: Bool) {
        precondition(bars.count <= 8 * groups.count, "the number of bars is fixed")
        let (gain, fall) = (Float(self.gain), fall)
        var exceeds = false
        for index in groups.indices {
            let values = groups[index].update(bars.eight(from: 8 * index) * gain, fall)
            let over = values .> 1
            exceeds = exceeds || any(over)
            bars.store(values.replacing(with: 1, where: over), from: 8 * index)
        }
        adjustGain(exceeds: exceeds, isSilent: isSilent)
    }

    private mutating func adjustGain(exceeds: Bool, isSilent: Bool) {
        if exceeds {
            gain *= overshootFactor
            isStarting = false
        } else if !isSilent {
            gain *= growthFactor
            if isStarting { gain *= startFactor }
            gain = min(gain, Self.maximumGain)
        }
    }
}
