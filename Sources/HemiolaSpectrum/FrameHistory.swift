/// The newest frames of the mono mix, at the stream's sample rate or another.
struct FrameHistory: ~Copyable {
    // Unsafe because the windows of the hot path are read from it, allocated once and not checked for exclusive access.
    private let frames: UnsafeMutablePointer<Float>
    private let count: Int
    /// What makes them of the stream's; nil at its own rate.
    private let resampler: Resampler?
    /// Frames of the stream per frame.
    let ratio: Double

    /// Zeros.
    ///
    /// - Parameters:
    ///   - count: As many as are kept.
    ///   - reach: Zeros that follow the newest.
    ///   - resampler: What makes them of the stream's; nil at its own rate.
    ///   - ratio: Frames of the stream per frame.
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

    /// Behind the newest.
    var end: UnsafePointer<Float> { UnsafePointer(frames + count) }

    /// How many of them lie before a frame of the stream.
    func frames(before frame: Int64) -> Int64 {
        resampler?.frames(before: frame) ?? frame
    }

    /// Forgets them all: zeros again.
    func clear() {
        frames.update(repeating: 0, count: count)
    }

    /// Takes in the stream's next.
    func append(_ mono: Span<Float>) {
        shift(by: mono.count)
        mono.withUnsafeBufferPointer { (frames + count - mono.count).update(from: $0.baseAddress!, count: mono.count) }
    }

    /// Takes in what the stream's next amount to.
    ///
    /// - Parameters:
    ///   - stream: The stream's own, which has them already.
    ///   - hop: Which they are.
    func append(from stream: borrowing FrameHistory, _ hop: Range<Int64>) {
        switch resampler {
        case .some(let resampler):
            let edge = resampler.frames(before: hop.upperBound)
            shift(by: Int(edge - resampler.frames(before: hop.lowerBound)))
            // The last ones were made when what follows them was not known: they lay at the end of a window, where it is all but 0.
            let first = resampler.frames(before: max(0, hop.lowerBound - Int64(resampler.reach)))
            resampler.make(first..<edge, from: stream.end, at: hop.upperBound, into: frames + count - Int(edge - first))
        case .none:
            preconditionFailure("the stream's own frames are not made of others")
        }
    }

    private func shift(by new: Int) {
        frames.update(from: frames + new, count: count - new)
    }
}
