public import HemiolaSystem

/// The shape of an audio stream: how many frames a second, how many channels a frame.
public struct StreamFormat: Sendable, Hashable {
    /// The sample rates that Hemiola analyses, in hertz.
    public static let sampleRates = 8_000...384_000
    /// The channel counts that Hemiola analyses.
    public static let channelCounts = 1...32

    /// The last frame that a stream can have, 2⁵³: frames up to this number are exact in JSON.
    public static let lastFrame = Int64(1) << 53

    /// Frames per second.
    public var sampleRate: Int
    /// Samples per frame.
    public var channelCount: Int {
        didSet { if channelMap?.count != channelCount { channelMap = nil } }
    }
    /// Which loudspeaker each channel belongs to; nil where that is not known, and for one or two channels, which are mono, and
    /// left and right.
    public private(set) var channelMap: ChannelMap?

    /// A format, supported or not. A channel map is ignored for one or two channels, and when it is for another number of channels.
    public init(sampleRate: Int, channelCount: Int, channelMap: ChannelMap? = nil) {
        self.sampleRate = sampleRate
        self.channelCount = channelCount
        self.channelMap = channelCount > 2 && channelMap?.count == channelCount ? channelMap : nil
    }

    /// Whether both figures are within what Hemiola analyses.
    public var isSupported: Bool {
        Self.sampleRates.contains(sampleRate) && Self.channelCounts.contains(channelCount)
    }

    /// The time of a frame, in seconds since frame 0.
    public func seconds(at frame: Int64) -> Double {
        Double(frame) / Double(sampleRate)
    }

    /// The frame that is nearest to a time, in seconds since frame 0; within ±2⁵³, and 0 for NaN.
    public func frame(at seconds: Double) -> Int64 {
        min(max(Int64(clamping: (seconds * Double(sampleRate)).rounded()), -Self.lastFrame), Self.lastFrame)
    }
}

/// The format requested from a capture. The source may have another: `open` returns the actual one.
public struct FormatRequest: Sendable {
    /// Frames per second; nil: the rate of a file, the default rate of a sound server.
    public var sampleRate: Int?
    /// Whether a live capture keeps the rate of its device, also when that changes. `sampleRate` is nil then.
    public var followsDeviceRate: Bool
    /// Samples per frame; nil: the channels of the source.
    public var channelCount: Int?
    /// Frames per batch: a live capture requests fragments of this size from its server.
    public var batchFrames: Int
    /// Whether a FIFO is waited for when its writer closes it: the stream goes on with the next writer.
    public var waitsForWriters: Bool
    /// The clock of the run, for whatever waits.
    public var clock: any MonotonicClock
    /// Whether the run is to end: an `open` that waits for its source polls this, and throws when it returns true.
    public var isCancelled: @Sendable () -> Bool
    /// Reports one line to the user: that an `open` waits, and for what; that the device is muted. Never blocks.
    public var warn: @Sendable (String) -> Void

    /// A request for the format of the source, except for the parameters given.
    public init(
        sampleRate: Int? = nil, followsDeviceRate: Bool = false, channelCount: Int? = nil, batchFrames: Int = Batching.defaultFrames,
        waitsForWriters: Bool = false, clock: any MonotonicClock = .system, isCancelled: @escaping @Sendable () -> Bool = { false },
        warn: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.sampleRate = sampleRate
        self.followsDeviceRate = followsDeviceRate
        self.channelCount = channelCount
        self.batchFrames = batchFrames
        self.waitsForWriters = waitsForWriters
        self.clock = clock
        self.isCancelled = isCancelled
        self.warn = warn
    }
}
