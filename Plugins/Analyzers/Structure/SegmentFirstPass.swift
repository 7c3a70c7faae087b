#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// A segment on the way to the output.
struct EstimatedSegment: Sendable {
    /// Its start, in seconds from the start of the stream.
    var time: Double
    /// In seconds; nil while it is unknown.
    var duration: Double?
    /// A, B, C …; nil while it is unknown.
    var label: String?
    /// 0…1.
    var confidence: Double
}

/// The first pass over a whole file: collects frames, then divides them into segments.
///
/// The segments minimize the sum of the squared distances of the frames from the mean of their segment, plus a penalty for each
/// boundary. The sum is that of the blocks along the diagonal of the self-distance matrix. Dynamic programming finds the minimum.
struct SegmentFirstPass {
    /// Frames that are stored. A longer file has frames of twice the length, and so on: 68 minutes at 0.25 s.
    private static let capacity = 16_384
    /// Frames of a segment, at least and at most.
    private static let lengths = 20...240
    /// The cost of a boundary, in mean squared distances of a frame from the mean of the file.
    static let penalty = 8.0
    /// The largest squared distance of two segments of one label, relative to the same.
    private static let labelDistance = 0.25

    private var frames: [Float] = []
    private var times: [Double] = []
    /// Added frames per stored frame, and those of the stored frame that is not complete.
    private var step = 1
    private var pending = [Float](repeating: 0, count: SegmentFeatures.count)
    private var pendingTime = 0.0
    private var pendingCount = 0
    /// The end of the stream, in seconds.
    var end = 0.0

    /// Adds a frame.
    mutating func add(_ features: borrowing SegmentFeatures) {
        for index in 0..<SegmentFeatures.count { pending[index] += features.values[index] }
        pendingTime += features.time
        pendingCount += 1
        guard pendingCount == step else { return }
        for index in 0..<SegmentFeatures.count {
            frames.append(pending[index] / Float(step))
            pending[index] = 0
        }
        times.append(pendingTime / Double(step))
        (pendingTime, pendingCount) = (0, 0)
        if times.count == Self.capacity { mergePairs() }
    }

    private mutating func mergePairs() {
        let width = SegmentFeatures.count
        for pair in 0..<times.count / 2 {
            times[pair] = (times[2 * pair] + times[2 * pair + 1]) / 2
            for index in 0..<width {
                frames[pair * width + index] = (frames[2 * pair * width + index] + frames[(2 * pair + 1) * width + index]) / 2
            }
        }
        times.removeLast(times.count - times.count / 2)
        frames.removeLast(frames.count - times.count * width)
        step *= 2
    }

    /// The segments of the file, at least one.
    ///
    /// - Complexity: O(frames · 240).
    func segments() -> [EstimatedSegment] {
        let count = times.count
        guard count > 0 else { return [EstimatedSegment(time: 0, duration: end, label: "A", confidence: 1)] }
        let sums = PrefixSums(frames)
        let scatter = max(sums.cost(0, count) / Double(count), 1e-3)
        let starts = boundaries(sums, count, penalty: Self.penalty * scatter)
        var means: [[Double]] = []
        var segments: [EstimatedSegment] = []
        for (place, start) in starts.enumerated() {
            let stop = place + 1 < starts.count ? starts[place + 1] : count
            let mean = sums.mean(start, stop)
            let distances = means.map { SegmentFirstPass.distance($0, mean) }
            var label = means.count
            if let least = distances.min(), least < Self.labelDistance * scatter, let nearest = distances.firstIndex(of: least) {
                label = nearest
            } else {
                means.append(mean)
            }
            var confidence = 1.0
            if place > 0 {
                let distance = Self.distance(sums.mean(starts[place - 1], start), mean)
                let variance = sums.cost(starts[place - 1], start) / Double(start - starts[place - 1])
                confidence = distance / (distance + variance + 1e-6)
            }
            let time = start == 0 ? 0 : (times[start - 1] + times[start]) / 2
            let next = stop == count ? end : (times[stop - 1] + times[stop]) / 2
            segments.append(
                EstimatedSegment(time: time, duration: max(0, next - time), label: Self.name(label), confidence: confidence))
        }
        return segments
    }

    /// The first frames of the segments.
    private func boundaries(_ sums: PrefixSums, _ count: Int, penalty: Double) -> [Int] {
        let (shortest, longest) = (max(1, Self.lengths.lowerBound / step), Self.lengths.upperBound)
        guard count >= 2 * shortest else { return [0] }
        var costs = [Double](repeating: .infinity, count: count + 1)
        var previous = [Int](repeating: 0, count: count + 1)
        costs[0] = 0
        for stop in shortest...count {
            for start in max(0, stop - longest)...(stop - shortest) where costs[start] < .infinity {
                let cost = costs[start] + sums.cost(start, stop) + penalty
                if cost < costs[stop] { (costs[stop], previous[stop]) = (cost, start) }
            }
        }
        var starts: [Int] = []
        var stop = count
        while stop > 0 {
            stop = previous[stop]
            starts.append(stop)
        }
        return starts.reversed()
    }

    private static func distance(_ one: [Double], _ other: [Double]) -> Double {
        zip(one, other).reduce(0) { $0 + ($1.0 - $1.1) * ($1.0 - $1.1) }
    }

    /// A … Z, then A1 … Z1 and so on.
    private static func name(_ label: Int) -> String {
        let letter = String(UnicodeScalar(UInt8(65 + label % 26)))
        return label < 26 ? letter : "\(letter)\(label / 26)"
    }
}

/// Sums of all frames before each frame, from which the scatter of any range follows in constant time.
private struct PrefixSums {
    /// Vectors per frame.
    private static let vectorCount = SegmentFeatures.count / 8
    private let sums: [SIMD8<Double>]
    private let squares: [Double]

    init(_ frames: [Float]) {
        let count = frames.count / SegmentFeatures.count
        var sums = [SIMD8<Double>](repeating: .zero, count: (count + 1) * Self.vectorCount)
        var squares = [Double](repeating: 0, count: count + 1)
        for frame in 0..<count {
            var square = 0.0
            for vector in 0..<Self.vectorCount {
                var values = SIMD8<Double>.zero
                for lane in 0..<8 { values[lane] = Double(frames[frame * SegmentFeatures.count + vector * 8 + lane]) }
                let place = frame * Self.vectorCount + vector
                sums[place + Self.vectorCount] = sums[place] + values
                square += (values * values).sum()
            }
            squares[frame + 1] = squares[frame] + square
        }
        (self.sums, self.squares) = (sums, squares)
    }

    /// The sum of the squared distances of the frames of a range from their mean.
    func cost(_ start: Int, _ stop: Int) -> Double {
        var total = SIMD8<Double>.zero
        let (low, high) = (start * Self.vectorCount, stop * Self.vectorCount)
        for vector in 0..<Self.vectorCount {
            let sum = sums[high + vector] - sums[low + vector]
            total += sum * sum
        }
        return max(0, squares[stop] - squares[start] - total.sum() / Double(stop - start))
    }

    func mean(_ start: Int, _ stop: Int) -> [Double] {
        (0..<SegmentFeatures.count).map { index in
            let (vector, lane) = (index / 8, index % 8)
            let sum = sums[stop * Self.vectorCount + vector][lane] - sums[start * Self.vectorCount + vector][lane]
            return sum / Double(stop - start)
        }
    }
}
