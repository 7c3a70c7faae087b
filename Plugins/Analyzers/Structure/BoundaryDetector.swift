/// Detects boundaries from the audio so far: compares the last 3 s with the 8 s before them.
///
/// A boundary is a peak of the novelty that stays the largest for 1.5 s: it is emitted 4.5 s after its time.
struct BoundaryDetector {
    private static let beforeFrames = 32
    private static let afterFrames = 12
    /// Frames that the novelty has to be below a peak.
    private static let holdFrames = 6
    /// Frames between two boundaries, at least: 6 s.
    private static let minimumFrames = 24
    /// Novelty of a boundary, at least.
    private static let threshold: Float = 0.45

    private static let capacity = beforeFrames + afterFrames
    /// The last frames, as a ring.
    private var frames = [Float](repeating: 0, count: capacity * SegmentFeatures.count)
    private var times = [Double](repeating: 0, count: capacity)
    private var frameCount = 0
    private var peak: (novelty: Float, time: Double, frame: Int) = (0, 0, 0)
    private var lastBoundary = 0
    /// 0…1; 0 in the first 11 s.
    private(set) var novelty: Float = 0

    /// Adds a frame. O(`capacity` · `SegmentFeatures.count`), no allocation.
    ///
    /// - Returns: A boundary that this frame confirms.
    mutating func add(_ features: borrowing SegmentFeatures) -> EstimatedSegment? {
        let place = frameCount % Self.capacity
        for index in 0..<SegmentFeatures.count { frames[place * SegmentFeatures.count + index] = features.values[index] }
        times[place] = features.time
        frameCount += 1
        guard frameCount >= Self.capacity else { return nil }
        novelty = measure()
        let middle = (frameCount - Self.afterFrames) % Self.capacity
        if novelty > peak.novelty {
            let before = (middle + Self.capacity - 1) % Self.capacity
            peak = (novelty, (times[before] + times[middle]) / 2, frameCount)
        }
        guard frameCount - peak.frame >= Self.holdFrames else { return nil }
        let found = peak
        peak = (novelty, times[middle], frameCount)
        guard found.novelty >= Self.threshold, found.frame - lastBoundary >= Self.minimumFrames else { return nil }
        lastBoundary = found.frame
        return EstimatedSegment(time: found.time, duration: nil, label: nil, confidence: Double(found.novelty))
    }

    /// The squared distance of the means, as a share of it plus the variances around them.
    private func measure() -> Float {
        var (distance, variance): (Float, Float) = (0, 0)
        let values = frames.span
        for index in 0..<SegmentFeatures.count {
            var (sums, squares): (SIMD2<Float>, SIMD2<Float>) = (.zero, .zero)
            for offset in 0..<Self.capacity {
                let value = values[(frameCount + offset) % Self.capacity * SegmentFeatures.count + index]
                let part = offset < Self.beforeFrames ? 0 : 1
                sums[part] += value
                squares[part] += value * value
            }
            let counts = SIMD2<Float>(Float(Self.beforeFrames), Float(Self.afterFrames))
            let means = sums / counts
            let spread = squares / counts - means * means
            distance += (means[0] - means[1]) * (means[0] - means[1])
            variance += max(0, spread[0]) + max(0, spread[1])
        }
        return distance / (distance + variance / 2 + 1e-3)
    }
}
