internal import HemiolaSignal

/// Divides frames into segments.
///
/// The segments minimize the sum of the squared distances of the frames from the mean of their segment, plus a penalty for each
/// boundary. The sum is that of the blocks along the diagonal of the self-distance matrix. Dynamic programming finds the minimum.
///
/// - Complexity: O(frames · frames of 120 s · vectors).
struct SegmentDivision: ~Copyable {
    /// The shortest and the longest segment, in seconds; the longest one has at least so many frames, which are long in long files.
    private static let lengths = 5.0...120.0
    private static let longestFrames = 64
    /// The cost of a boundary, as the mean squared distance from the mean of the file times seconds, and at least so many frames.
    /// Chosen on rendered music.
    private static let penalty = 3.5
    private static let leastPenalty = 1.0

    private let count: Int
    private let vectors: Int
    // Unsafe pointers: the inner loop reads two ranges of vectors, several million times for a file.
    /// Frame by frame; after `accumulate`, the sums of all frames before each.
    private let sums: UnsafeMutablePointer<SIMD8<Double>>
    private let squares: UnsafeMutablePointer<Double>

    init(count: Int, vectors: Int) {
        (self.count, self.vectors) = (count, vectors)
        sums = .allocate(capacity: (count + 1) * vectors)
        sums.initialize(repeating: .zero, count: (count + 1) * vectors)
        squares = .allocate(capacity: count + 1)
        squares.initialize(repeating: 0, count: count + 1)
    }

    deinit {
        sums.deallocate()
        squares.deallocate()
    }

    /// Sets a vector of a frame.
    mutating func set(_ frame: Int, _ vector: Int, _ values: Lanes) {
        precondition(frame >= 0 && frame < count && vector >= 0 && vector < vectors, "no such vector")
        sums[(frame + 1) * vectors + vector] = SIMD8<Double>(values)
    }

    /// The first frames of the segments. Call it once, when all vectors are set.
    consuming func starts(frameSeconds: Double) -> [Int] {
        let shortest = max(1, Int((Self.lengths.lowerBound / frameSeconds).rounded(.up)))
        let longest = max(Self.longestFrames, Int(Self.lengths.upperBound / frameSeconds))
        guard count >= 2 * shortest else { return [0] }
        accumulate()
        let penalty = max(Self.penalty / frameSeconds, Self.leastPenalty)
        var costs = [Double](repeating: .infinity, count: count + 1)
        var previous = [Int](repeating: 0, count: count + 1)
        costs[0] = 0
        for stop in shortest...count {
            var (least, best) = (Double.infinity, 0)
            for start in max(0, stop - longest)...(stop - shortest) where costs[start] < .infinity {
                let cost = costs[start] + cost(start, stop) + penalty
                if cost < least { (least, best) = (cost, start) }
            }
            (costs[stop], previous[stop]) = (least, best)
        }
        var starts: [Int] = []
        var stop = count
        while stop > 0 {
            stop = previous[stop]
            starts.append(stop)
        }
        return starts.reversed()
    }

    private func accumulate() {
        for frame in 1...count {
            var square = 0.0
            for vector in frame * vectors..<(frame + 1) * vectors {
                square += (sums[vector] * sums[vector]).sum()
                sums[vector] += sums[vector - vectors]
            }
            squares[frame] = squares[frame - 1] + square
        }
    }

    /// The sum of the squared distances of the frames of a range from their mean.
    @inline(__always)
    private func cost(_ start: Int, _ stop: Int) -> Double {
        var total = SIMD8<Double>.zero
        let (low, high) = (sums + start * vectors, sums + stop * vectors)
        for vector in 0..<vectors {
            let sum = high[vector] - low[vector]
            total += sum * sum
        }
        return max(0, squares[stop] - squares[start] - total.sum() / Double(stop - start))
    }
}
