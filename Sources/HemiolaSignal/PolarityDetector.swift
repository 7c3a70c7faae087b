/// Decides from the levels of a stereo stream, hop by hop, which mono mix is analysed: half the sum of the channels, or half their
/// difference when they have opposite polarity.
///
/// The polarity is opposite when the sum has been more than 20 dB below the channels for a second, and normal again when it has been less
/// than 10 dB below them for a second. Between these limits it stays as it is. The levels are means over about 0.2 s; silence is no
/// evidence. Constant cost per hop, no allocation.
public struct PolarityDetector: Sendable {
    /// Limits of the sum's power relative to that of the channels.
    private static let (oppositeLimit, normalLimit) = (0.01, 0.1)
    /// Time for which the levels must contradict the polarity, in seconds.
    private static let confirmation = 1.0
    /// Time constant of the mean levels, in seconds.
    private static let averaging = 0.2
    /// Mean square of the channels below which a hop is silent, −90 dBFS.
    private static let silence = 1e-9
    /// Silence after which earlier levels no longer count, in seconds: slow strokes are closer to each other.
    private static let longestSilence = 2.0

    /// Whether the channels have opposite polarity.
    public private(set) var isOpposite = false

    private let sampleRate: Double
    /// Factor of the mean levels per hop.
    private let decay: Double
    /// Decaying sums of the mean power of the two channels, and of the power of half their sum.
    private var channels = 0.0
    private var mid = 0.0
    /// Frames for which the levels have contradicted the polarity without interruption.
    private var contraryFrames = 0
    /// Frames of silence since the last sound.
    private var silentFrames = 0

    /// A detector of normal polarity.
    ///
    /// - Parameters:
    ///   - sampleRate: Frames a second.
    ///   - hopFrames: Frames of a hop.
    public init(sampleRate: Int, hopFrames: Int) {
        self.sampleRate = Double(sampleRate)
        let hops = Self.averaging * Double(sampleRate) / Double(hopFrames)
        // 1 − 1/n instead of an exponential function, which would need the C library.
        decay = max(0, 1 - 1 / max(1, hops))
    }

    /// Forgets the levels, not the polarity: after a gap.
    public mutating func skip() {
        (channels, mid, contraryFrames, silentFrames) = (0, 0, 0, 0)
    }

    /// Returns to the initial state.
    public mutating func reset() {
        skip()
        isOpposite = false
    }

    /// Adds the levels of a hop.
    ///
    /// - Parameters:
    ///   - channels: Mean power of the channels, times the frames.
    ///   - mix: Power of the mono mix of the current polarity, times the frames.
    /// - Returns: Whether the polarity is another from this hop on.
    mutating func add(channels power: Double, mix: Double, frames: Int) -> Bool {
        // The powers of half the sum and half the difference add up to that of the channels.
        let sum = isOpposite ? max(0, power - mix) : mix
        guard power > Self.silence * Double(frames) else {
            silentFrames += frames
            if Double(silentFrames) > Self.longestSilence * sampleRate { skip() }
            return false
        }
        channels = channels * decay + power
        mid = mid * decay + sum
        guard isContrary(mid, channels) else {
            (contraryFrames, silentFrames) = (0, 0)
            return false
        }
        contraryFrames += frames + (contraryFrames > 0 ? silentFrames : 0)
        silentFrames = 0
        guard Double(contraryFrames) >= Self.confirmation * sampleRate, isContrary(sum, power) else { return false }
        isOpposite.toggle()
        contraryFrames = 0
        return true
    }

    private func isContrary(_ mid: Double, _ channels: Double) -> Bool {
        isOpposite ? mid > Self.normalLimit * channels : mid < Self.oppositeLimit * channels
    }
}

// The mixing loops of stereo, eight frames at a time. The unsafe pointers are vector loads and stores within spans whose memory stays
// valid during the call.

extension MutableSpan where Element == Float {
    /// Writes the mono mix of a hop to the first elements. Stereo is mixed with the polarity that the detector finds: a hop in which it
    /// changes fades from one mix to the other. All else is mixed as by `mix(_:by:)`.
    ///
    /// O(n), no allocation. For stereo of normal polarity equal to `mix(_:by:)`, bit for bit.
    ///
    /// - Returns: Whether every sample is finite, and the square of every stereo sample too. Otherwise the detector is unchanged.
    public mutating func mix(_ samples: Span<Float>, by channels: ChannelMix, following detector: inout PolarityDetector) -> Bool {
        guard channels.channelCount == 2 else { return mix(samples, by: channels) }
        let sign: Float = detector.isOpposite ? -1 : 1
        let squares = mixStereo(samples, sign: sign)
        guard squares.channels.isFinite else { return false }
        if detector.add(channels: Double(squares.channels) / 2, mix: Double(squares.mix), frames: samples.count / 2) {
            fadeStereo(samples, from: sign, to: -sign)
        }
        return true
    }

    /// Writes (left + sign · right) / 2.
    ///
    /// - Returns: The sums of the squares of both channels and of the mix. The first is not finite if a sample is not.
    private mutating func mixStereo(_ samples: Span<Float>, sign: Float) -> (channels: Float, mix: Float) {
        withUnsafeMutableBufferPointer { mono in
            samples.withUnsafeBufferPointer { buffer in
                let frames = buffer.count / 2
                precondition(frames <= mono.count, "the mix is shorter than the samples")
                guard let x = buffer.baseAddress, let y = mono.baseAddress else { return (0, 0) }
                // Separate sums, because each addition waits for the one before to the same sum.
                var lowSquares = Lanes.zero
                var highSquares = Lanes.zero
                var mixSquares = Lanes.zero
                var frame = 0
                while frame + 8 <= frames {
                    let low = x.lanes(2 * frame)
                    let high = x.lanes(2 * frame + 8)
                    lowSquares += low * low
                    highSquares += high * high
                    let left = Lanes(lowHalf: low.evenHalf, highHalf: high.evenHalf)
                    let right = Lanes(lowHalf: low.oddHalf, highHalf: high.oddHalf)
                    let value = (left + right * sign) * 0.5
                    mixSquares += value * value
                    y.store(value, frame)
                    frame += 8
                }
                var (channels, mix) = ((lowSquares + highSquares).sum(), mixSquares.sum())
                while frame < frames {
                    let (left, right) = (x[2 * frame], x[2 * frame + 1])
                    let value = (left + right * sign) * 0.5
                    channels += left * left + right * right
                    mix += value * value
                    y[frame] = value
                    frame += 1
                }
                return (channels, mix)
            }
        }
    }

    /// Writes a mix whose sign of the right channel changes linearly.
    private mutating func fadeStereo(_ samples: Span<Float>, from start: Float, to end: Float) {
        let frames = samples.count / 2
        for frame in 0..<frames {
            let weight = start + (end - start) * Float(frame + 1) / Float(frames)
            self[frame] = (samples[2 * frame] + samples[2 * frame + 1] * weight) * 0.5
        }
    }
}
