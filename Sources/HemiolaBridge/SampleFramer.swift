internal import HemiolaSignal

/// Cuts batches of any size and any number of channels into messages of exactly 1024 stereo frames, in order, without a hole.
///
/// Where audio was lost, and at the end of a stream, what is under way is filled up with zeros; the next message begins with the
/// frame that follows.
struct SampleFramer: Sendable {
    /// Frames of a message: what a `pushSamples` page eats.
    static let frames = 1024

    /// The message under way, L R L R ….
    private var samples = [Float](repeating: 0, count: 2 * Self.frames)
    /// Frames in it.
    private var filled = 0
    /// Its first frame.
    private var start: Int64 = 0
    /// How the stream's channels make left and right.
    private var channels = ChannelMix(StreamFormat(sampleRate: 1, channelCount: 2))

    /// Adds a batch.
    ///
    /// - Parameters:
    ///   - batch: Interleaved samples.
    ///   - frame: The first one's place in the stream.
    ///   - body: Gets each message that is complete: its first frame, and 2048 samples in −1…1.
    mutating func add(_ batch: Span<Float>, at frame: Int64, _ body: (Int64, Span<Float>) -> Void) {
        if frame != start + Int64(filled) {
            finish(body)
            start = frame
        }
        let channelCount = channels.channelCount
        let count = batch.count / channelCount
        var taken = 0
        while taken < count {
            let part = min(count - taken, Self.frames - filled)
            let source = batch.extracting(taken * channelCount..<(taken + part) * channelCount)
            Self.mix(source, by: channels, into: &samples, at: 2 * filled)
            taken += part
            filled += part
            if filled == Self.frames { flush(body) }
        }
    }

    /// Fills up what is under way and tells it; nothing when there is nothing.
    mutating func finish(_ body: (Int64, Span<Float>) -> Void) {
        guard filled > 0 else { return }
        for index in 2 * filled..<samples.count { samples[index] = 0 }
        flush(body)
    }

    /// A stream of that format begins: its clock starts at 0.
    mutating func begin(_ format: StreamFormat) {
        channels = ChannelMix(format)
        filled = 0
        start = 0
    }

    private mutating func flush(_ body: (Int64, Span<Float>) -> Void) {
        body(start, samples.span)
        start += Int64(Self.frames)
        filled = 0
    }

    // MARK: - Channels

    /// Mono is both sides; more than two channels make the stereo downmix of their ``ChannelMix``.
    ///
    /// The arrays are borrowed once per batch, not per sample.
    private static func mix(_ source: Span<Float>, by channels: ChannelMix, into target: inout [Float], at start: Int) {
        let channelCount = channels.channelCount
        let frames = source.count / channelCount
        switch channelCount {
        case 1:
            for frame in 0..<frames {
                let value = playable(source[frame])
                target[start + 2 * frame] = value
                target[start + 2 * frame + 1] = value
            }
        case 2:
            for index in 0..<2 * frames { target[start + index] = playable(source[index]) }
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
                target[start + 2 * frame] = playable(sums.0)
                target[start + 2 * frame + 1] = playable(sums.1)
            }
        }
    }

    private static func finite(_ value: Float) -> Float {
        value.isFinite ? value : 0
    }

    /// What a page can take: −1…1, and 0 for what is no number.
    private static func playable(_ value: Float) -> Float {
        if value.magnitude <= 1 { return value }
        return value.isFinite ? (value > 0 ? 1 : -1) : 0
    }
}
