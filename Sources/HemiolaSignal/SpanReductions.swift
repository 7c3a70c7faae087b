// Reductions over all samples or bins, eight lanes at a time.
//
// Swift does not reorder floating-point sums, so a loop is vectorized only if it is written with a vector accumulator. The
// unsafe pointers are vector loads from a span whose memory stays valid during the call; `Span` has no vector load.

extension Span where Element == Float {
    /// Σx over a range of this span. O(n).
    public func sum(_ range: Range<Int>) -> Float {
        withUnsafeBufferPointer { buffer in
            precondition(range.lowerBound >= 0 && range.upperBound <= buffer.count, "the range is outside the span")
            guard let x = buffer.baseAddress else { return 0 }
            var total: Float = 0
            var index = range.lowerBound
            if range.count >= 8 {
                var lanes = Lanes.zero
                while index + 8 <= range.upperBound {
                    lanes += x.lanes(index)
                    index += 8
                }
                total = lanes.sum()
            }
            while index < range.upperBound {
                total += x[index]
                index += 1
            }
            return total
        }
    }

    /// max x − min x, which a constant offset does not change; 0 for no samples. O(n).
    public var peakToPeak: Float {
        withUnsafeBufferPointer { buffer in
            guard let x = buffer.baseAddress, buffer.count > 0 else { return 0 }
            var highest = Lanes(repeating: x[0])
            var lowest = Lanes(repeating: -x[0])
            var index = 0
            while index + 8 <= buffer.count {
                let value = x.lanes(index)
                highest = highest.maximum(with: value)
                lowest = lowest.maximum(with: -value)
                index += 8
            }
            var (high, low) = (highest.max(), -lowest.max())
            while index < buffer.count {
                (high, low) = (Swift.max(high, x[index]), Swift.min(low, x[index]))
                index += 1
            }
            return high - low
        }
    }

    /// Σx·w over a range of this span and as many weights from `offset` on. O(n).
    public func dot(_ weights: Span<Float>, from offset: Int = 0, over range: Range<Int>) -> Float {
        weightedSum(weights, from: offset, over: range, { $0 }, { $0 })
    }

    /// Σ √x·w over a range of powers and as many weights from `offset` on: a weighted sum of magnitudes. O(n).
    public func magnitudeDot(_ weights: Span<Float>, from offset: Int, over range: Range<Int>) -> Float {
        weightedSum(weights, from: offset, over: range, { $0.magnitudeSquareRoot }, { $0.squareRoot() })
    }

    /// Σ f(x)·w, with f for eight values at a time and for the rest.
    @inline(__always)
    private func weightedSum(
        _ weights: Span<Float>, from offset: Int, over range: Range<Int>, _ ofLanes: (Lanes) -> Lanes, _ ofValue: (Float) -> Float
    ) -> Float {
        withUnsafeBufferPointer { buffer in
            weights.withUnsafeBufferPointer { table in
                precondition(range.lowerBound >= 0 && range.upperBound <= buffer.count, "the range is outside the span")
                precondition(offset >= 0 && offset + range.count <= table.count, "too few weights")
                guard let x = buffer.baseAddress, let w = table.baseAddress else { return 0 }
                var lanes = Lanes.zero
                var index = range.lowerBound
                var weight = offset
                while index + 8 <= range.upperBound {
                    lanes += ofLanes(x.lanes(index)) * w.lanes(weight)
                    index += 8
                    weight += 8
                }
                var total = lanes.sum()
                while index < range.upperBound {
                    total += ofValue(x[index]) * w[weight]
                    index += 1
                    weight += 1
                }
                return total
            }
        }
    }

    /// Σ max(0, x − previous), leaving x in `previous`: half-wave rectified difference, L1 norm. O(n).
    public func rectifiedDifference(from previous: inout MutableSpan<Float>) -> Float {
        withUnsafeBufferPointer { buffer in
            previous.withUnsafeMutableBufferPointer { old in
                precondition(old.count == buffer.count, "both spectra have the same bins")
                guard let x = buffer.baseAddress, let y = old.baseAddress else { return 0 }
                let whole = buffer.count & ~7
                var lanes = Lanes.zero
                var index = 0
                while index < whole {
                    let value = x.lanes(index)
                    lanes += (value - y.lanes(index)).maximum(with: .zero)
                    y.store(value, index)
                    index += 8
                }
                var total = lanes.sum()
                while index < buffer.count {
                    total += Swift.max(0, x[index] - y[index])
                    y[index] = x[index]
                    index += 1
                }
                return total
            }
        }
    }

    /// The first index at which the running sum reaches a threshold; the last index if it never does, 0 for an empty span. O(n).
    public func firstIndex(reaching threshold: Float) -> Int {
        withUnsafeBufferPointer { buffer in
            guard let x = buffer.baseAddress, buffer.count > 0 else { return 0 }
            var total: Float = 0
            var index = 0
            // Blocks of 64 elements first, then the elements of the block in which the sum reaches the threshold.
            while index + 64 <= buffer.count {
                var lanes = Lanes.zero
                for step in 0..<8 { lanes += x.lanes(index + 8 * step) }
                let sum = lanes.sum()
                if total + sum >= threshold { break }
                total += sum
                index += 64
            }
            while index < buffer.count {
                total += x[index]
                if total >= threshold { return index }
                index += 1
            }
            return buffer.count - 1
        }
    }

    /// Writes x / `count` to `means` and its square root to `roots`. O(n).
    public func mean(of count: Int, into means: inout MutableSpan<Float>, roots: inout MutableSpan<Float>) {
        precondition(means.count == self.count && roots.count == self.count, "all three have the same length")
        let share = 1 / Float(count)
        withUnsafeBufferPointer { buffer in
            means.withUnsafeMutableBufferPointer { means in
                roots.withUnsafeMutableBufferPointer { roots in
                    guard let x = buffer.baseAddress, let y = means.baseAddress, let z = roots.baseAddress else { return }
                    var index = 0
                    while index + 8 <= buffer.count {
                        let mean = x.lanes(index) * share
                        y.store(mean, index)
                        z.store(mean.magnitudeSquareRoot, index)
                        index += 8
                    }
                    while index < buffer.count {
                        y[index] = x[index] * share
                        z[index] = y[index].squareRoot()
                        index += 1
                    }
                }
            }
        }
    }

    /// Σx and Σlog₂x of positive values. Values below `floor` count as `floor`. O(n).
    ///
    /// The logarithm of a product is the sum of the logarithms: mantissas are multiplied and exponents added, so only eight
    /// logarithms are computed at the end. Each lane multiplies at most 64 mantissas of 1…2 before its exponent is extracted, so
    /// it cannot overflow.
    public func sumAndLogSum(floor: Float) -> (sum: Float, logSum: Float) {
        withUnsafeBufferPointer { buffer in
            guard let x = buffer.baseAddress else { return (0, 0) }
            let whole = buffer.count & ~7
            let lowest = Lanes(repeating: floor)
            var sum = Lanes.zero
            var product = Lanes.one
            var exponents = SIMD8<Int32>.zero
            var index = 0
            while index < whole {
                let end = Swift.min(whole, index + 8 * 64)
                while index < end {
                    let value = x.lanes(index).maximum(with: lowest)
                    sum += value
                    let bits = unsafeBitCast(value, to: SIMD8<Int32>.self)
                    exponents &+= bits &>> 23
                    product *= unsafeBitCast((bits & 0x7f_ffff) | 0x3f80_0000, to: Lanes.self)
                    index += 8
                }
                let bits = unsafeBitCast(product, to: SIMD8<Int32>.self)
                exponents &+= (bits &>> 23) &- 127
                product = unsafeBitCast((bits & 0x7f_ffff) | 0x3f80_0000, to: Lanes.self)
            }
            var total = sum.sum()
            var log = Float(Int(exponents.wrappedSum()) - 127 * whole) + product.log2.sum()
            while index < buffer.count {
                let value = Swift.max(x[index], floor)
                total += value
                log += Lanes(repeating: value).log2[0]
                index += 1
            }
            return (total, log)
        }
    }
}
