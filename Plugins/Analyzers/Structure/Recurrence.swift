internal import Glibc
internal import HemiolaSignal

/// Where each frame of a file recurs: the time lags at which similar frames are found, as 64 values.
///
/// Two frames match if each is among the nearest ones of the other, compared with the frames up to 2 s around them. The matches of a
/// frame are a vector with one value per lag. Frames of a passage that is repeated have the same lags, even where the passage changes;
/// at its ends the lags change. The vectors are smoothed over lag and time, and projected to 64 dimensions with random signs, which
/// keeps their distances.
///
/// - Complexity: O(n²) time, 2 n² bytes.
/// - Note: J. Serrà, M. Müller, P. Grosche, J. Ll. Arcos, "Unsupervised Music Structure Annotation by Time Series Structure Features and
///   Segment Similarity", IEEE Transactions on Multimedia 16 (5), 2014; dimensionality reduction: D. Achlioptas, "Database-friendly
///   random projections", 2003.
struct Recurrence {
    /// Vectors per frame.
    static let vectorCount = 8
    /// The share of the frames that are the nearest ones of a frame.
    private static let nearestShare = 0.03
    /// Lags below are not compared: neighbours are always similar.
    private static let shortestLag = 5.0
    /// The frames around two frames that are compared too, and the standard deviations of the smoothing over lag and time, in seconds.
    private static let context = 2.0
    private static let lagDeviation = 1.0
    private static let timeDeviation = 2.0

    /// Frame by frame; the mean is 0, and the mean squared norm 1, or 0 if nothing recurs.
    private var values: [Lanes]

    /// The values of a vector of a frame.
    subscript(frame: Int, vector: Int) -> Lanes { values[frame * Self.vectorCount + vector] }

    init(_ frames: [SegmentVector], frameSeconds: Double) {
        let count = frames.count
        values = [Lanes](repeating: .zero, count: count * Self.vectorCount)
        let first = max(1, Int(Self.shortestLag / frameSeconds))
        guard count > first else { return }
        let distances = LagDistances(frames, firstLag: first, context: Int(Self.context / frameSeconds))
        let limits = distances.limits(nearest: max(2, Int(Self.nearestShare * Double(count))))
        addMatches(distances, limits, Self.projection(count, deviation: Self.lagDeviation / frameSeconds))
        values = Self.smoothed(values, width: Self.vectorCount, deviation: Self.timeDeviation / frameSeconds)
        standardize(count)
    }

    private mutating func addMatches(_ distances: borrowing LagDistances, _ limits: [Float], _ projection: [Lanes]) {
        let (limits, projection) = (limits.span, projection.span)
        let count = limits.count
        var target = values.mutableSpan
        for lag in distances.firstLag..<count {
            let (row, pairs) = (distances.row(lag), distances.values.span)
            for frame in 0..<row.count where pairs[row.lowerBound + frame] <= min(limits[frame], limits[frame + lag]) {
                for vector in 0..<Self.vectorCount {
                    target[frame * Self.vectorCount + vector] += projection[(count + lag) * Self.vectorCount + vector]
                    target[(frame + lag) * Self.vectorCount + vector] += projection[(count - lag) * Self.vectorCount + vector]
                }
            }
        }
    }

    /// 64 random signs for each lag from −`count` to `count`, smoothed.
    private static func projection(_ count: Int, deviation: Double) -> [Lanes] {
        var random = SplitMix64(seed: 0)
        var signs: [Lanes] = []
        signs.reserveCapacity((2 * count + 1) * vectorCount)
        for _ in 0...2 * count {
            let bits = random.next()
            for vector in 0..<vectorCount {
                var lanes = Lanes.one
                for lane in 0..<8 where bits >> UInt64(8 * vector + lane) & 1 == 1 { lanes[lane] = -1 }
                signs.append(lanes)
            }
        }
        return smoothed(signs, width: vectorCount, deviation: deviation)
    }

    /// Smooths rows of `width` vectors with a Gaussian of a standard deviation in rows. The rows are reflected at the ends.
    private static func smoothed(_ rows: [Lanes], width: Int, deviation: Double) -> [Lanes] {
        let count = rows.count / width
        let reach = min(Int((3 * deviation).rounded(.up)), count - 1)
        guard reach > 0 else { return rows }
        var weights = (0...reach).map { exp(-0.5 * Double($0 * $0) / (deviation * deviation)) }
        let sum = 2 * weights.reduce(0, +) - weights[0]
        for index in weights.indices { weights[index] /= sum }
        var result = [Lanes](repeating: .zero, count: rows.count)
        let (source, factors) = (rows.span, weights.span)
        var target = result.mutableSpan
        for row in 0..<count {
            for offset in -reach...reach {
                var other = row + offset
                if other < 0 { other = -1 - other }
                if other >= count { other = 2 * count - 1 - other }
                let weight = Float(factors[abs(offset)])
                for vector in 0..<width { target[row * width + vector] += source[other * width + vector] * weight }
            }
        }
        return result
    }

    private mutating func standardize(_ count: Int) {
        var values = self.values.mutableSpan
        var square: Float = 0
        for vector in 0..<Self.vectorCount {
            var mean = Lanes.zero
            for frame in 0..<count { mean += values[frame * Self.vectorCount + vector] }
            mean /= Float(count)
            for frame in 0..<count {
                values[frame * Self.vectorCount + vector] -= mean
                let value = values[frame * Self.vectorCount + vector]
                square += (value * value).sum()
            }
        }
        guard square > 0 else { return }
        let scale = (Float(count) / square).squareRoot()
        for index in values.indices { values[index] *= scale }
    }
}

/// The distances of all pairs of frames from a lag on, each the mean over the frames around both.
private struct LagDistances: ~Copyable {
    let firstLag: Int
    private let count: Int
    private(set) var values: [Float]

    init(_ frames: [SegmentVector], firstLag: Int, context: Int) {
        (self.firstLag, count) = (firstLag, frames.count)
        let rows = count - firstLag
        values = [Float](repeating: 0, count: rows * (rows + 1) / 2)
        var row = [Float](repeating: 0, count: rows)
        var place = 0
        for lag in firstLag..<count {
            let length = count - lag
            var single = row.mutableSpan
            for frame in 0..<length { single[frame] = SegmentMath.distance(frames[frame], frames[frame + lag]) }
            var target = values.mutableSpan
            for frame in 0..<length {
                var sum: Float = 0
                let range = max(0, frame - context)..<min(length, frame + context + 1)
                for other in range { sum += single[other] }
                target[place + frame] = sum / Float(range.count)
            }
            place += length
        }
    }

    /// The places of the pairs with a lag in `values`: that of the frames i and i + lag is the i-th.
    func row(_ lag: Int) -> Range<Int> {
        let rows = count - firstLag
        let skipped = lag - firstLag
        let start = skipped * rows - skipped * (skipped - 1) / 2
        return start..<start + count - lag
    }

    /// For each frame the distance of its nearest ones, at most.
    func limits(nearest: Int) -> [Float] {
        var lists = [Float](repeating: .infinity, count: count * nearest)
        var least = lists.mutableSpan
        let pairs = values.span
        for lag in firstLag..<count {
            let row = row(lag)
            for frame in 0..<row.count {
                Self.insert(pairs[row.lowerBound + frame], into: &least, frame * nearest, nearest)
                Self.insert(pairs[row.lowerBound + frame], into: &least, (frame + lag) * nearest, nearest)
            }
        }
        return (0..<count).map { lists[($0 + 1) * nearest - 1] }
    }

    /// Inserts a value into a sorted list, whose largest value is dropped.
    @inline(__always)
    private static func insert(_ value: Float, into lists: inout MutableSpan<Float>, _ start: Int, _ count: Int) {
        var place = start + count - 1
        guard value < lists[place] else { return }
        while place > start, lists[place - 1] > value {
            lists[place] = lists[place - 1]
            place -= 1
        }
        lists[place] = value
    }
}
