/// A request of an analyzer: spectra of the mono mix, with a size and a hop in frames.
public struct SpectrumRequest: Sendable, Hashable {
    /// The frames under the window: even, 32…65536.
    public var size: Int
    /// What the frames are multiplied by.
    public var window: WindowShape
    /// How often.
    public var hop: SpectrumHop
    /// Frames per second under the window; nil: the stream's own rate.
    ///
    /// At another rate bins lie at the same frequencies whatever the stream's. They are those of the stream up to a quarter of it
    /// (at 44 100, 11 025 Hz); further up, images and aliases show, and nothing is to be read above what the stream can hold.
    public var sampleRate: Int?
    /// Which of its forms are to be filled; the others are empty.
    public var parts: SpectrumParts

    /// A request, by default for power spectra with a Hann window at every hop. The size is even and one of
    /// `sizes`, the sample rate one of `StreamFormat.sampleRates`.
    public init(
        size: Int, window: WindowShape = .hann, hop: SpectrumHop = .everyHop, sampleRate: Int? = nil,
        parts: SpectrumParts = .power
    ) {
        precondition(Self.sizes.contains(size) && size.isMultiple(of: 2), "a spectrum has an even size within \(Self.sizes)")
        if let sampleRate {
            precondition(StreamFormat.sampleRates.contains(sampleRate), "spectra are taken at \(StreamFormat.sampleRates) Hz")
        }
        self.size = size
        self.window = window
        self.hop = hop
        self.sampleRate = sampleRate
        self.parts = parts
    }

    /// The sizes on offer, in frames.
    public static let sizes = 32...65_536

    /// Bins from DC to Nyquist.
    public var binCount: Int { size / 2 + 1 }
}

/// How often a spectrum is taken.
public enum SpectrumHop: Sendable, Hashable {
    /// Once per hop, the window ending with the hop.
    case everyHop
    /// Every so many seconds since the stream's first frame (each to the nearest frame), whatever the batch: a hop then brings
    /// none, one or several. At a sample rate that is not the stream's, a spectrum also needs up to ten frames of the slower rate behind
    /// its window: the same values whatever the batch.
    case seconds(Double)
}

/// The forms of a spectrum.
public struct SpectrumParts: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// |X|², not normalised.
    public static let power = SpectrumParts(rawValue: 1)
    /// |X|, not normalised.
    public static let magnitude = SpectrumParts(rawValue: 2)
    /// Re and Im of X in turn, not normalised.
    public static let complex = SpectrumParts(rawValue: 4)
}

/// The window functions, all periodic.
public enum WindowShape: String, Sendable, Hashable, CaseIterable {
    /// 0.5 − 0.5 cos.
    case hann
    /// 0.54 − 0.46 cos.
    case hamming
    /// Four terms, −92 dB side lobes (F. J. Harris, Proc. IEEE 66(1), 1978).
    case blackmanHarris = "blackman-harris"
    /// All ones.
    case rectangular
}

/// Which of an analyzer's requests.
public struct SpectrumHandle: Sendable, Hashable {
    /// Its place among the analyzer's requests.
    public let index: Int
    /// The handle of a request by its place.
    public init(index: Int) { self.index = index }
}
