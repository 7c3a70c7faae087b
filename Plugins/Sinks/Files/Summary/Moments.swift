/// Count, mean and variance of values that come in chunks.
///
/// The mean and the squared distances of a chunk are computed in two passes, in Double, and merged with those of the chunks before
/// (Chan, Golub, LeVeque: Updating formulae and a pairwise algorithm for computing sample variances, 1979), so that no large sums cancel
/// out.
struct Moments: Sendable {
    private(set) var count: Int64 = 0
    private var average = 0.0
    /// The sum of the squared distances from the mean.
    private var squares = 0.0

    /// NaN without a value.
    var mean: Double { count > 0 ? average : .nan }

    /// The standard deviation of the values themselves, not an estimate of that of a larger population; NaN without a value.
    var deviation: Double { count > 0 ? (squares / Double(count)).squareRoot() : .nan }

    /// Adds finite values.
    mutating func add(_ values: UnsafeBufferPointer<Float>) {
        guard !values.isEmpty else { return }
        let number = Double(values.count)
        // Four sums each, so that an addition does not wait for the one before.
        var sums = SIMD4<Double>()
        var index = 0
        while index + 4 <= values.count {
            sums += SIMD4(Double(values[index]), Double(values[index + 1]), Double(values[index + 2]), Double(values[index + 3]))
            index += 4
        }
        while index < values.count {
            sums[0] += Double(values[index])
            index += 1
        }
        let chunkMean = sums.sum() / number
        var chunkSquares = SIMD4<Double>()
        index = 0
        while index + 4 <= values.count {
            let distances =
                SIMD4(Double(values[index]), Double(values[index + 1]), Double(values[index + 2]), Double(values[index + 3])) - chunkMean
            chunkSquares += distances * distances
            index += 4
        }
        while index < values.count {
            let distance = Double(values[index]) - chunkMean
            chunkSquares[0] += distance * distance
            index += 1
        }
        let total = Double(count) + number
        let difference = chunkMean - average
        squares += chunkSquares.sum() + difference * difference * (Double(count) * number / total)
        average += difference * (number / total)
        count += Int64(values.count)
    }
}
