internal import HemiolaSignal

/// A frame of 0.1 s as five vectors of eight values: 24 bands, then 12 pitch classes and four zeros.
typealias SegmentVector = InlineArray<5, Lanes>

/// Timbre and harmony of a frame.
struct SegmentFrame: Sendable {
    /// Bands, and the vectors that hold them.
    static let bandCount = 24
    static let bandVectors = 3
    static let vectorCount = 5
    /// The power below which a band is silent, relative to a full-scale sine. Chosen on rendered music.
    private static let silencePower: Float = 1e-5

    /// The mean power of each band, relative to a full-scale sine, and the mean chroma.
    var values = SegmentVector(repeating: .zero)

    /// log₁₀ of the power of the bands, and the chroma with the norm 1, which is 0 in silence.
    func levels() -> SegmentVector {
        var result = values
        var square: Float = 0
        for index in 0..<Self.bandVectors {
            result[index] = (values[index] + Self.silencePower).approximateLog2 * 0.301_03
        }
        for index in Self.bandVectors..<Self.vectorCount { square += (values[index] * values[index]).sum() }
        let scale = 1 / (square.squareRoot() + 1e-3)
        for index in Self.bandVectors..<Self.vectorCount { result[index] *= scale }
        return result
    }

    /// Adds the values of another frame.
    mutating func add(_ other: SegmentFrame, weight: Float = 1) {
        for index in 0..<Self.vectorCount { values[index] += other.values[index] * weight }
    }
}

/// Arithmetic of the vectors of a frame.
enum SegmentMath {
    /// The squared distance of two frames.
    @inline(__always)
    static func distance(_ one: SegmentVector, _ other: SegmentVector) -> Float {
        var sum = Lanes.zero
        for index in 0..<SegmentFrame.vectorCount {
            let difference = one[index] - other[index]
            sum += difference * difference
        }
        return sum.sum()
    }

    /// The values with the bands and the chroma multiplied by a weight each.
    @inline(__always)
    static func weighted(_ vector: SegmentVector, bands: Float, chroma: Float) -> SegmentVector {
        var result = vector
        for index in 0..<SegmentFrame.vectorCount { result[index] *= index < SegmentFrame.bandVectors ? bands : chroma }
        return result
    }

    /// The mean of a range of frames, which must not be empty.
    static func mean(_ frames: [SegmentVector], _ range: Range<Int>) -> SegmentVector {
        var sum = SegmentVector(repeating: .zero)
        for frame in range {
            for index in 0..<SegmentFrame.vectorCount { sum[index] += frames[frame][index] }
        }
        let scale = 1 / Float(range.count)
        for index in 0..<SegmentFrame.vectorCount { sum[index] *= scale }
        return sum
    }

    /// The place in a range at which its frames are divided best between two means: the first frame of the second part.
    ///
    /// The frames before it are compared with the first mean, the others with the second one.
    static func division(
        of frames: [SegmentVector], _ range: Range<Int>, between before: SegmentVector, and after: SegmentVector
    ) -> Int {
        var (best, least, sum) = (range.lowerBound, Float(0), Float(0))
        for frame in range {
            sum += distance(frames[frame], before) - distance(frames[frame], after)
            if sum < least { (best, least) = (frame + 1, sum) }
        }
        return best
    }
}
