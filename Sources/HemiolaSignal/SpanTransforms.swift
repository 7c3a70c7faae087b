// Element-wise loops over all samples or bins, eight lanes at a time. The unsafe pointers are vector loads and stores within a
// span whose memory stays valid during the call.

extension MutableSpan where Element == Float {
    /// Adds values element by element; replaces the elements instead if `isFirst`. O(n).
    public mutating func accumulate(_ values: Span<Float>, isFirst: Bool) {
        precondition(values.count == count, "both have the same length")
        withUnsafeMutableBufferPointer { sums in
            values.withUnsafeBufferPointer { buffer in
                guard let x = buffer.baseAddress, let y = sums.baseAddress else { return }
                if isFirst {
                    y.update(from: x, count: buffer.count)
                    return
                }
                for index in 0..<buffer.count { y[index] += x[index] }
            }
        }
    }

    /// Writes the values multiplied by a factor. O(n).
    public mutating func scale(_ values: Span<Float>, by factor: Float) {
        precondition(values.count == count, "both have the same length")
        for index in 0..<count {
            self[index] = values[index] * factor
        }
    }

    /// Replaces NaN and infinite samples by 0 and returns their number. O(n).
    public mutating func silenceNonFinite() -> Int {
        withUnsafeMutableBufferPointer { buffer in
            var count = 0
            for index in buffer.indices where !buffer[index].isFinite {
                buffer[index] = 0
                count += 1
            }
            return count
        }
    }

    /// Converts powers or amplitudes to decibels in place: `factor`·log₁₀x, at least −120. NaN stays NaN. Infinity is converted as
    /// 2¹²⁸, because records cannot contain infinite numbers. O(n).
    ///
    /// - Parameter factor: 10 for power, 20 for amplitude.
    public mutating func convertToDecibels(factor: Float) {
        withUnsafeMutableBufferPointer { buffer in
            guard let x = buffer.baseAddress else { return }
            var index = 0
            while index < buffer.count {
                var value = Lanes.one
                let count = Swift.min(8, buffer.count - index)
                if count == 8 {
                    value = x.lanes(index)
                } else {
                    for lane in 0..<count { value[lane] = x[index + lane] }
                }
                let result = value.decibels(factor: factor)
                if count == 8 {
                    x.store(result, index)
                } else {
                    for lane in 0..<count { x[index + lane] = result[lane] }
                }
                index += 8
            }
        }
    }
}
