internal import HemiolaSignal

/// Detects boundaries from the audio so far: compares the last 3.5 s with the 8 s before them.
///
/// A boundary is a peak of the novelty that stays the largest for 1 s. Its time is moved by up to 0.5 s, to where the frames are divided
/// best between the mean before and the mean after it. It is returned 4 to 5 s after its time, plus the latency of the frames.
///
/// - Complexity: O(1) per frame, no allocation after `init`.
struct BoundaryDetector {
    private static let beforeFrames = 80
    private static let afterFrames = 35
    /// Frames that the novelty has to be below a peak.
    private static let holdFrames = 10
    /// Frames by which a boundary is moved, at most.
    private static let reach = 5
    /// Frames between two boundaries, at least: 6 s.
    private static let minimumFrames = 60
    /// Novelty of a boundary, at least. Chosen on rendered music, as the weights.
    private static let threshold: Float = 0.45
    private static let bandWeight: Float = 0.5
    private static let chromaWeight: Float = 0.3

    private static let capacity = beforeFrames + afterFrames
    /// The last frames, as a ring.
    private var frames = [SegmentVector](repeating: SegmentVector(repeating: .zero), count: capacity)
    private var times = [Double](repeating: 0, count: capacity)
    private var frameCount = 0
    private var before = FrameSums()
    private var after = FrameSums()
    private var peak = Peak()
    private var lastBoundary = 0
    /// 0…1; 0 in the first 11.5 s.
    private(set) var novelty: Float = 0

    private struct Peak {
        var novelty: Float = 0
        /// The number of frames when it was found.
        var frame = 0
        var before = SegmentVector(repeating: .zero)
        var after = SegmentVector(repeating: .zero)
    }

    /// Adds a frame.
    ///
    /// - Returns: A boundary that this frame confirms.
    mutating func add(_ frame: SegmentFrame, at time: Double) -> EstimatedSegment? {
        let values = SegmentMath.weighted(frame.levels(), bands: Self.bandWeight, chroma: Self.chromaWeight)
        let place = frameCount % Self.capacity
        if frameCount >= Self.capacity { before.remove(frames[place]) }
        if frameCount >= Self.afterFrames {
            let oldest = frames[(frameCount - Self.afterFrames) % Self.capacity]
            after.remove(oldest)
            before.add(oldest)
        }
        after.add(values)
        frames[place] = values
        times[place] = time
        frameCount += 1
        guard frameCount >= Self.capacity else { return nil }
        let (one, other) = (before.mean(Self.beforeFrames), after.mean(Self.afterFrames))
        let distance = SegmentMath.distance(one, other)
        let variance = before.variance(Self.beforeFrames) + after.variance(Self.afterFrames)
        novelty = distance / (distance + variance / 2 + 1e-3)
        if novelty > peak.novelty { peak = Peak(novelty: novelty, frame: frameCount, before: one, after: other) }
        guard frameCount - peak.frame >= Self.holdFrames else { return nil }
        let found = peak
        peak = Peak(novelty: novelty, frame: frameCount, before: one, after: other)
        guard found.novelty >= Self.threshold, found.frame - lastBoundary >= Self.minimumFrames else { return nil }
        lastBoundary = found.frame
        return EstimatedSegment(time: boundaryTime(found), duration: nil, label: nil, confidence: Double(found.novelty))
    }

    /// Restores the state after `init`, without allocation.
    mutating func reset() {
        (frameCount, lastBoundary, novelty) = (0, 0, 0)
        (before, after, peak) = (FrameSums(), FrameSums(), Peak())
    }

    /// The time at which the frames around a peak are divided best.
    private func boundaryTime(_ found: Peak) -> Double {
        let middle = found.frame - Self.afterFrames
        let values = frames.span
        var (best, least, sum) = (middle - Self.reach, Float(0), Float(0))
        for frame in middle - Self.reach..<middle + Self.reach {
            let value = values[frame % Self.capacity]
            sum += SegmentMath.distance(value, found.before) - SegmentMath.distance(value, found.after)
            if sum < least { (best, least) = (frame + 1, sum) }
        }
        return (times[(best - 1) % Self.capacity] + times[best % Self.capacity]) / 2
    }
}

/// The sums of frames and of their squares, in double precision, so that frames can be removed again.
private struct FrameSums {
    private var sums = InlineArray<5, SIMD8<Double>>(repeating: .zero)
    private var squares = SIMD8<Double>.zero

    @inline(__always)
    mutating func add(_ frame: SegmentVector) {
        for index in 0..<SegmentFrame.vectorCount {
            let values = SIMD8<Double>(frame[index])
            sums[index] += values
            squares += values * values
        }
    }

    @inline(__always)
    mutating func remove(_ frame: SegmentVector) {
        for index in 0..<SegmentFrame.vectorCount {
            let values = SIMD8<Double>(frame[index])
            sums[index] -= values
            squares -= values * values
        }
    }

    func mean(_ count: Int) -> SegmentVector {
        var result = SegmentVector(repeating: .zero)
        for index in 0..<SegmentFrame.vectorCount { result[index] = Lanes(sums[index] / Double(count)) }
        return result
    }

    /// The sum of the variances of the values.
    func variance(_ count: Int) -> Float {
        var total = squares / Double(count)
        for index in 0..<SegmentFrame.vectorCount {
            let mean = sums[index] / Double(count)
            total -= mean * mean
        }
        return Float(max(0, total.sum()))
    }
}
