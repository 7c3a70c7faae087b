/// Columns of values along the time axis, in bounded memory for a stream of unknown length.
///
/// Each column is the mean of the vectors whose times lie in it. When the columns are full, each two are merged and the columns become
/// twice as long. A stream of any length has half of the capacity to all of it.
///
/// Mean, not maximum: the maximum of a column grows with its number of vectors, so that the same sound would be brighter in the picture
/// of a longer file.
struct ColumnStore {
    /// Values per column.
    let width: Int
    private let capacity: Int
    /// Frames per column.
    private(set) var step: Int64
    private var sums: [Float]
    private var counts: [Float]
    /// The columns up to the last one with a value.
    private(set) var count = 0

    /// - Parameters:
    ///   - capacity: The most columns; even.
    ///   - step: The frames per column at the start.
    init(width: Int, capacity: Int, step: Int64) {
        self.width = width
        self.capacity = capacity
        self.step = step
        sums = [Float](repeating: 0, count: width * capacity)
        counts = [Float](repeating: 0, count: capacity)
    }

    /// Makes the columns long enough for a frame.
    mutating func reserve(_ frame: Int64) {
        while frame / step >= Int64(capacity) { merge() }
    }

    /// Adds a vector to the column of a frame, which is 0 or more.
    mutating func add(_ values: [Float], at frame: Int64) {
        reserve(frame)
        let column = Int(frame / step)
        for index in 0..<width { sums[column * width + index] += values[index] }
        counts[column] += 1
        count = max(count, column + 1)
    }

    private mutating func merge() {
        for column in 0..<(count + 1) / 2 {
            let (first, second) = (2 * column, 2 * column + 1)
            let isPair = second < count
            for index in 0..<width {
                sums[column * width + index] = sums[first * width + index] + (isPair ? sums[second * width + index] : 0)
            }
            counts[column] = counts[first] + (isPair ? counts[second] : 0)
        }
        let kept = (count + 1) / 2
        for index in kept * width..<count * width { sums[index] = 0 }
        for column in kept..<count { counts[column] = 0 }
        count = kept
        step *= 2
    }

    /// The means in equal parts of a duration: `parts` columns of `width` values. Parts without a vector are 0.
    ///
    /// - Parameter frames: The duration, more than 0.
    mutating func means(parts: Int, frames: Int64) -> [Float] {
        fillSingleHoles()
        var result = [Float](repeating: 0, count: parts * width)
        let length = Double(frames) / Double(step) / Double(parts)
        for part in 0..<parts {
            let (start, end) = (Double(part) * length, Double(part + 1) * length)
            var weight: Float = 0
            let last = min(count - 1, Int((end - 1e-9).rounded(.down)))
            var column = Int(start)
            while column <= last {
                let share = Float(min(end, Double(column + 1)) - max(start, Double(column)))
                if share > 0, counts[column] > 0 {
                    weight += share
                    let factor = share / counts[column]
                    for index in 0..<width { result[part * width + index] += factor * sums[column * width + index] }
                }
                column += 1
            }
            if weight > 0 {
                // Columns without a vector count as missing, not as silence.
                for index in 0..<width { result[part * width + index] /= weight }
            }
        }
        return result
    }

    /// Copies a column into an empty one behind it: the times of vectors need not lie on the grid of the columns.
    private mutating func fillSingleHoles() {
        guard count > 2 else { return }
        for column in 1..<count - 1 where counts[column] == 0 && counts[column - 1] > 0 && counts[column + 1] > 0 {
            for index in 0..<width { sums[column * width + index] = sums[(column - 1) * width + index] }
            counts[column] = counts[column - 1]
        }
    }
}
