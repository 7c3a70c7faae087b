/// One hop of audio, borrowed by an analyzer: it cannot be stored.
public struct Hop: ~Copyable, ~Escapable {
    /// The hop's first frame, counted from the stream's first.
    public let frame: Int64
    /// Real frames in it. Fewer than `mono.count` only in the last hop before an end or a gap.
    public let frameCount: Int
    /// Its place in the batch, 0…. Which hop is the batch's last is not known before the next: a gap may break it off.
    public let indexInBatch: Int
    /// Frames a second and channels.
    public let format: StreamFormat
    /// The mono mix of the channels, see ``ChannelMix`` and ``PolarityDetector``, zero-padded to the hop's full length.
    public let mono: Span<Float>
    /// The interleaved samples, `frameCount * format.channelCount` of them.
    public let samples: Span<Float>
    private let slots: Span<SpectrumSlot>

    /// A hop over buffers in the caller's memory: the engine's, or a test's.
    @_lifetime(copy mono, copy samples, copy slots)
    public init(
        frame: Int64, frameCount: Int, indexInBatch: Int, format: StreamFormat,
        mono: Span<Float>, samples: Span<Float>, slots: Span<SpectrumSlot>
    ) {
        self.frame = frame
        self.frameCount = frameCount
        self.indexInBatch = indexInBatch
        self.format = format
        self.mono = mono
        self.samples = samples
        self.slots = slots
    }

    /// The spectra that came with this hop, by the handle that `AnalyzerOutputs.request` gave out.
    @_lifetime(copy self)
    public func spectra(_ request: SpectrumHandle) -> SpectrumFrames {
        unsafe _overrideLifetime(SpectrumFrames(slots[request.index]), copying: self)
    }
}
