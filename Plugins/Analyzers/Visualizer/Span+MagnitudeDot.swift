internal import HemiolaSignal

extension Span where Element == Float {
    /// Σ √x·w over a range of powers and as many weights from `offset` on: a weighted sum of magnitudes. Eight bins at a time. O(n).
    ///
    /// The unsafe pointers are vector loads within spans whose memory stays valid during the call.
    func magnitudeDot(_ weights: Span<Float>, from offset: Int, over range: Range<Int>) -> Float {
        withUnsafeBufferPointer { buffer in
            weights.withUnsafeBufferPointer { table in
                precondition(range.lowerBound >= 0 && range.upperBound <= buffer.count, "the range is outside the span")
                precondition(offset >= 0 && offset + range.count <= table.count, "too few weights")
                guard let x = buffer.baseAddress, let w = table.baseAddress else { return 0 }
                var lanes = Lanes.zero
                var index = range.lowerBound
                var weight = offset
                while index + 8 <= range.upperBound {
                    lanes += x.lanes(index).magnitudeSquareRoot * w.lanes(weight)
                    index += 8
                    weight += 8
                }
                var total = lanes.sum()
                while index < range.upperBound {
                    total += x[index].squareRoot() * w[weight]
                    index += 1
                    weight += 1
                }
                return total
            }
        }
    }
}
