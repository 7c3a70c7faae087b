/// How a stream is cut: batches of a fixed number of frames, each of one or more equal hops.
public struct Batching: Sendable, Hashable {
    /// 1024 frames: the size of a `pushSamples` call, about 43 a second at 44.1 kHz, 47 at 48 kHz.
    public static let defaultFrames = 1024
    /// The batch sizes on offer, in frames.
    public static let frameCounts = 256...8192
    /// Above the longest hop a batch is a multiple of this.
    public static let largeBatchStep = 256
    /// The longest hop, in frames.
    public static let longestHop = 1024

    /// Frames per batch.
    public let batchFrames: Int
    /// Frames per hop: the batch itself up to 1024, above that its largest divisor up to 1024.
    public let hopFrames: Int

    /// Batches of so many frames, cut into equal hops.
    ///
    /// - Returns: nil when the size is outside 256…8192, or above 1024 and no multiple of 256.
    public init?(batchFrames: Int) {
        guard Self.frameCounts.contains(batchFrames) else { return nil }
        self.batchFrames = batchFrames
        if batchFrames <= Self.longestHop {
            hopFrames = batchFrames
        } else {
            guard batchFrames.isMultiple(of: Self.largeBatchStep) else { return nil }
            // 256 divides the batch, so the search ends at 256 at the latest.
            hopFrames = (1...Self.longestHop).last { batchFrames.isMultiple(of: $0) }!
        }
    }

    /// Batches of 1024 frames, one hop each.
    public static let standard = Batching(batchFrames: defaultFrames)!

    /// Hops in a whole batch.
    public var hopsPerBatch: Int { batchFrames / hopFrames }
}
