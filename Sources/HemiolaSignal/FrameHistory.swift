/// The last frames of the mono mix, at the stream's sample rate or resampled to another.
struct FrameHistory: ~Copyable {
    // Unsafe because the hot path reads its windows from this buffer, which is allocated once and not checked for exclusive access.
    private let frames: UnsafeMutablePointer<Float>
    private let count: Int
    /// Resamples the stream's frames; nil at the stream's sample rate.
    private let resampler: Resampler?
    /// Frames of the stream per frame of the history.
    let ratio: Double

    /// A history of zeros.
    ///
    /// - Parameters:
    ///   - count: The number of frames to keep.
    ///   - reach: The number of zeros behind the last frame, which the resampler reads.
    ///   - resampler: Resamples the stream's frames; nil at the stream's sample rate.
    ///   - ratio: Frames of the stream per frame of the history.
    init(count: Int, reach: Int = 0, resampler: consuming Resampler? = nil, ratio: Double = 1) {
        self.count = count
        frames = .allocate(capacity: count + reach)
        frames.initialize(repeating: 0, count: count + reach)
        self.resampler = resampler
        self.ratio = ratio
    }

    deinit {
        frames.deallocate()
    }

    /// The address behind the last frame.
    var end: UnsafePointer<Float> { UnsafePointer(frames + count) }

    /// Frames of the stream behind a frame of the history that its value depends on: 0 at the stream's sample rate.
    var reach: Int64 {
        switch resampler {
        case .some(let resampler): Int64(resampler.reach)
        case .none: 0
        }
    }

    /// The number of frames at this sample rate that lie before a frame of the stream.
    func frames(before frame: Int64) -> Int64 {
        resampler?.frames(before: frame) ?? frame
    }

    /// Sets all frames to zero.
    func clear() {
        frames.update(repeating: 0, count: count)
    }

    /// Appends the next frames of the stream.
    func append(_ mono: Span<Float>) {
        shift(by: mono.count)
        mono.withUnsafeBufferPointer { (frames + count - mono.count).update(from: $0.baseAddress!, count: mono.count) }
    }

    /// Appends the next frames of the stream, resampled.
    ///
    /// - Parameters:
    ///   - stream: The history at the stream's sample rate, to which the frames are already appended.
    ///   - hop: The range of these frames in the stream.
    func append(from stream: borrowing FrameHistory, _ hop: Range<Int64>) {
        switch resampler {
        case .some(let resampler):
            let edge = resampler.frames(before: hop.upperBound)
            shift(by: Int(edge - resampler.frames(before: hop.lowerBound)))
            // The last frames of the previous hop were computed before the frames behind them were known, and are computed again.
            // Until then only windows that end with the hop contain them, where their values are nearly 0.
            let first = resampler.frames(before: max(0, hop.lowerBound - Int64(resampler.reach)))
            resampler.make(first..<edge, from: stream.end, at: hop.upperBound, into: frames + count - Int(edge - first))
        case .none:
            preconditionFailure("the history at the stream's sample rate has no resampler")
        }
    }

    private func shift(by new: Int) {
        frames.update(from: frames + new, count: count - new)
    }
}
