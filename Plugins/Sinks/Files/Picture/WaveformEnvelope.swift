/// The smallest and largest sample and the mean square of each column of a waveform, in bounded memory for a stream of unknown length.
///
/// The columns become twice as long when they are full, as in ``ColumnStore``.
struct WaveformEnvelope {
    struct Column: Equatable {
        var minimum: Float = .infinity
        var maximum: Float = -.infinity
        var squares: Double = 0
        var count: Double = 0

        mutating func merge(_ other: Column) {
            minimum = min(minimum, other.minimum)
            maximum = max(maximum, other.maximum)
            squares += other.squares
            count += other.count
        }

        /// The root mean square; 0 without samples.
        var rms: Float { count > 0 ? Float((squares / count).squareRoot()) : 0 }
    }

    private let capacity: Int
    private(set) var step: Int64
    private(set) var columns: [Column] = []

    /// - Parameters:
    ///   - capacity: The most columns; even.
    ///   - step: The frames per column at the start.
    init(capacity: Int, step: Int64) {
        self.capacity = capacity
        self.step = step
        columns.reserveCapacity(capacity)
    }

    /// Adds a column's values to the column of a frame, which is 0 or more.
    mutating func add(_ values: Column, at frame: Int64) {
        while frame / step >= Int64(capacity) { mergePairs() }
        let index = Int(frame / step)
        while columns.count <= index { columns.append(Column()) }
        columns[index].merge(values)
    }

    private mutating func mergePairs() {
        var merged: [Column] = []
        merged.reserveCapacity(capacity)
        for index in stride(from: 0, to: columns.count, by: 2) {
            var column = columns[index]
            if index + 1 < columns.count { column.merge(columns[index + 1]) }
            merged.append(column)
        }
        columns = merged
        step *= 2
    }

    /// The envelope in equal parts of a duration. A part without samples has none, unless it is shorter than a column.
    func parts(_ count: Int, frames: Int64) -> [Column] {
        let length = Double(frames) / Double(step) / Double(count)
        return (0..<count).map { part in
            let first = Int(Double(part) * length)
            let last = min(columns.count - 1, max(first, Int((Double(part + 1) * length - 1e-9).rounded(.down))))
            var result = Column()
            if first <= last { for index in first...last { result.merge(columns[index]) } }
            return result
        }
    }
}
