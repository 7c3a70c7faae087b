internal import HemiolaSignal

/// The power spectrum of MilkDrop: the last 576 frames of the left channel (with more than two channels: of the left channel of the
/// stereo downmix) under a periodic Hann window, zero-padded to 1024; multiples of both at high sample rates.
///
/// It has its own transform, because the spectra of the pipeline are of the mono mix, and not zero-padded.
///
/// - Complexity: O(n log n) per hop, no allocation after `init`.
struct MilkDropSpectrum: ~Copyable {
    private var fft: RealFFT
    private let window: [Float]
    private var history: [Float]
    private var power: [Float]

    /// - Parameters:
    ///   - factor: The factor of all lengths.
    ///   - binCount: Number of bins to compute, from DC on.
    init(factor: Int, binCount: Int) {
        fft = RealFFT(size: factor * LevelProfile.transformSize)
        window = WindowShape.hann.values(size: factor * LevelProfile.milkdrop.windowFrames)
        history = [Float](repeating: 0, count: window.count)
        power = [Float](repeating: 0, count: binCount)
    }

    /// Processes a hop.
    ///
    /// - Parameters:
    ///   - samples: Interleaved samples, without padding.
    ///   - channels: The weights of the channels in the left channel.
    ///   - hopFrames: Length of a full hop. Missing frames count as zeros.
    mutating func advance(_ samples: Span<Float>, channels: ChannelMix, hopFrames: Int) {
        let channelCount = channels.channelCount
        let frames = samples.count / channelCount
        let count = min(history.count, hopFrames)
        let kept = history.count - count
        history.withUnsafeMutableBufferPointer { history in
            for index in 0..<kept { history[index] = history[count + index] }
            samples.withUnsafeBufferPointer { samples in
                guard channelCount > 2 else {
                    for index in 0..<count {
                        let frame = hopFrames - count + index
                        history[kept + index] = frame < frames ? samples[frame * channelCount] : 0
                    }
                    return
                }
                channels.left.withUnsafeBufferPointer { weights in
                    for index in 0..<count {
                        let frame = hopFrames - count + index
                        var sum: Float = 0
                        for channel in 0..<channelCount where frame < frames {
                            sum += samples[frame * channelCount + channel] * weights[channel]
                        }
                        history[kept + index] = sum
                    }
                }
            }
        }
        fft.load(history, under: window)
        fft.transform()
        fft.measure(power: &power)
    }

    /// |X|² of the last hop.
    func withPower<Result>(_ body: (Span<Float>) -> Result) -> Result {
        body(power.span)
    }

    /// Sets the history to silence.
    mutating func clear() {
        for index in history.indices { history[index] = 0 }
    }
}
