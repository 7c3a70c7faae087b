internal import HemiolaSignal

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// How the bars move: a gain that finds its own level, a quick rise, a fall under gravity.
///
/// Whenever a bar would pass 1, the gain falls, by half in half a second; otherwise it grows, twofold in ten seconds, and very
/// fast until a bar has reached 1 for the first time. In silence it stays as it is.
///
/// - Complexity: O(bars) per hop, no allocation.
/// - Note: Constants of cava's cavacore.c (K. Stavestrand), which are per frame at about 66 a second; here they are per second,
///   so that the bars move alike at every hop. Unlike there the gain and the bars have a ceiling, a falling bar never drops below
///   the sound that is there, and the damping leaves the height as it is.
struct BarMotion {
    /// cava's frames per second, in which its constants are given.
    private static let reference = 66.0
    /// No bar is taken to be higher than this. A bar lowers the gain for as long as it takes to fall back to 1, also when the
    /// sound has gone: from here 0.3 s, from 100 twice that, and one mad sample would take ten seconds and more to make good.
    private static let ceiling: Float = 2
    /// 96 dB over the gain at the start: what 16 bits can need.
    private static let highestGain = 0x1p16

    /// The gain's factors per hop: while a bar is over the top, while none is, and until one was for the first time.
    private let overshootFactor: Double
    private let growthFactor: Double
    private let startFactor: Double
    private let fall: Fall

    private(set) var gain = 1.0
    private var isStarting = true
    /// Eight bars each.
    private var motions: [Eight]

    /// How all bars fall. Apart from them, so that they are changed where they are and not in a copy.
    private struct Fall {
        /// Share of the damped height that a hop keeps.
        var keep: Float
        /// Share of its height that a bar has lost a second after its top.
        var gravity: Float
        var hopSeconds: Float
    }

    /// Eight bars: their last tops, the seconds since, the heights before damping and after.
    private struct Eight {
        var tops = Lanes.zero
        var fallSeconds = Lanes.zero
        var heights = Lanes.zero
        var damped = Lanes.zero

        /// Returns the heights after damping.
        @inline(__always)
        mutating func move(_ raw: Lanes, _ fall: Fall) -> Lanes {
            // In this order what is no number ends at the ceiling.
            let now = Lanes(repeating: ceiling).replacing(with: raw, where: raw .< ceiling)
            let falls = now .< heights
            let seconds = Lanes.zero.replacing(with: fallSeconds + fall.hopSeconds, where: falls)
            let fallen = tops * (1 - fall.gravity * seconds * seconds)
            fallSeconds = seconds
            tops = now.replacing(with: tops, where: falls)
            heights = now.replacing(with: fallen, where: falls .& (fallen .> now))
            damped = damped * fall.keep + heights * (1 - fall.keep)
            return damped
        }
    }

    /// - Parameter noiseReduction: 0…0.99: the share of the height that stands for 15 ms. 0 leaves the bars undamped.
    init(count: Int, noiseReduction: Double, hopSeconds: Double) {
        let frames = hopSeconds * Self.reference
        overshootFactor = pow(0.98, frames)
        growthFactor = pow(1.001, frames)
        startFactor = pow(1.1, frames)
        let speed = 0.028 * Self.reference
        fall = Fall(
            keep: noiseReduction == 0 ? 0 : Float(pow(noiseReduction, frames)),
            // Without noise reduction nothing holds a bar up.
            gravity: noiseReduction <= 0.1 ? .infinity : Float(speed * speed * 2 / noiseReduction),
            hopSeconds: Float(hopSeconds))
        motions = Array(repeating: Eight(), count: (count + 7) / 8)
    }

    /// Turns raw heights into bars of 0…1, in place.
    mutating func move(_ bars: inout MutableSpan<Float>, isSilent: Bool) {
        precondition(bars.count <= 8 * motions.count, "no more bars than at the start")
        let (gain, fall) = (Float(self.gain), fall)
        var isOver = false
        for index in motions.indices {
            let values = motions[index].move(bars.eight(from: 8 * index) * gain, fall)
            let over = values .> 1
            isOver = isOver || any(over)
            bars.put(values.replacing(with: 1, where: over), from: 8 * index)
        }
        adjust(isOver: isOver, isSilent: isSilent)
    }

    private mutating func adjust(isOver: Bool, isSilent: Bool) {
        if isOver {
            gain *= overshootFactor
            isStarting = false
        } else if !isSilent {
            gain *= growthFactor
            if isStarting { gain *= startFactor }
            gain = min(gain, Self.highestGain)
        }
    }
}
