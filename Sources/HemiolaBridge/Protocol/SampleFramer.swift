internal import HemiolaSignal

/// Splits batches of any size and any number of channels into messages of exactly 1024 stereo frames, in order and without gaps.
///
/// Before a gap in the audio, and at the end of a stream, the current message is padded with zeros. The next message begins with the
/// first frame after the gap.
struct SampleFramer: Sendable {
    /// Frames per message: what a page's `pushSamples` function takes.
    static let frames = 1024

    /// The samples of the current message, L R L R ….
    private var samples = [Float](repeating: 0, count: 2 * Self.frames)
    /// Number of frames in the current message.
    private var filledFrames = 0
    /// Position of its first frame in the stream.
    private var start: Int64 = 0
    /// The mix of the stream's channels to left and right.
    private var channels = ChannelMix(StreamFormat(sampleRate: 1, channelCount: 2))

    /// Adds a batch.
    ///
    /// - Parameters:
    ///   - batch: Interleaved samples.
    ///   - frame: Position of the batch's first frame in the stream.
    ///   - body: Called with each complete message: position of its first frame, and 2048 samples in −1…1.
    mutating func add(_ batch: Span<Float>, at frame: Int64, _ body: (Int64, Span<Float>) -> Void) {
        if batch.isEmpty { return }
        if frame != start + Int64(filledFrames) {
            finish(body)
            start = frame
        }
        let channelCount = channels.channelCount
        let count = batch.count / channelCount
        var taken = 0
        while taken < count {
            let part = min(count - taken, Self.frames - filledFrames)
            let source = batch.extracting(taken * channelCount..<(taken + part) * channelCount)
            Self.mix(source, by: channels, into: &samples, at: 2 * filledFrames)
            taken += part
            filledFrames += part
            if filledFrames == Self.frames { flush(body) }
        }
    }

    /// Pads the current message with zeros and passes it to `body`, unless it is empty.
    mutating func finish(_ body: (Int64, Span<Float>) -> Void) {
        guard filledFrames > 0 else { return }
        for index in 2 * filledFrames..<samples.count { samples[index] = 0 }
        flush(body)
    }

    /// Begins a stream at frame 0.
    mutating func begin(_ format: StreamFormat) {
        channels = ChannelMix(format)
        filledFrames = 0
        start = 0
    }

    private mutating func flush(_ body: (Int64, Span<Float>) -> Void) {
        body(start, samples.span)
        start += Int64(Self.frames)
        filledFrames = 0
    }

    // MARK: - Channels

    /// Converts interleaved frames to stereo: mono is copied to both sides; more than two channels are mixed by ``ChannelMix``.
    ///
    /// The arrays are borrowed once per batch, not per sample.
    private static func mix(_ source: Span<Float>, by channels: ChannelMix, into target: inout [Float], at start: Int) {
        let channelCount = channels.channelCount
        let frames = source.count / channelCount
        switch channelCount {
        case 1:
            for frame in 0..<frames {
                let value = clamped(source[frame])
                target[start + 2 * frame] = value
                target[start + 2 * frame + 1] = value
            }
        case 2:
            for index in 0..<2 * frames { target[start + index] = clamped(source[index]) }
        default:
            let left = channels.left.span
            let right = channels.right.span
            for frame in 0..<frames {
                var sums: (Float, Float) = (0, 0)
                for channel in 0..<channelCount {
                    let value = finite(source[frame * channelCount + channel])
                    sums.0 += value * left[channel]
                    sums.1 += value * right[channel]
                }
                target[start + 2 * frame] = clamped(sums.0)
                target[start + 2 * frame + 1] = clamped(sums.1)
            }
        }
    }

    private static func finite(_ value: Float) -> Float {
        value.isFinite ? value : 0
    }

    /// The value limited to −1…1; 0 for NaN.
    private static func clamped(_ value: Float) -> Float {
        if value.magnitude <= 1 { return value }
        return value.isFinite ? (value > 0 ? 1 : -1) : 0
    }
}
