// The loops over all samples or bins, eight lanes at a time. The unsafe pointers are vector loads and stores within arrays and spans
// whose memory stays valid during the call.

extension Span where Element == Float {
    /// Whether Σx² is at most `limit`, without an offset that alone lies 30 dB above it: that of a microphone is no sound. O(n).
    func isQuiet(within limit: Float) -> Bool {
        withUnsafeBufferPointer { buffer in
            guard let x = buffer.baseAddress, buffer.count > 0 else { return true }
            let mean = sum(0..<buffer.count) / Float(buffer.count)
            let offset = mean * mean * Float(buffer.count) > 1000 * limit ? mean : 0
            var total: Float = 0
            var index = 0
            while index + 64 <= buffer.count {
                var squares = Lanes.zero
                for step in 0..<8 {
                    let value = x.lanes(index + 8 * step) - offset
                    squares += value * value
                }
                total += squares.sum()
                if total > limit { return false }
                index += 64
            }
            while index < buffer.count {
                total += (x[index] - offset) * (x[index] - offset)
                index += 1
            }
            return total <= limit
        }
    }

    /// Writes |X|² or |X| of the first bins. The span holds Re and Im of each bin alternately. O(n).
    @inline(__always)
    fileprivate func measure(into values: inout [Float], asMagnitudes: Bool) {
        withUnsafeBufferPointer { buffer in
            values.withUnsafeMutableBufferPointer { result in
                precondition(2 * result.count <= buffer.count, "too few bins")
                guard let x = buffer.baseAddress, let y = result.baseAddress else { return }
                var index = 0
                while index + 8 <= result.count {
                    let low = x.lanes(2 * index)
                    let high = x.lanes(2 * index + 8)
                    let real = Lanes(lowHalf: low.evenHalf, highHalf: high.evenHalf)
                    let imaginary = Lanes(lowHalf: low.oddHalf, highHalf: high.oddHalf)
                    let square = real * real + imaginary * imaginary
                    y.store(asMagnitudes ? square.magnitudeSquareRoot : square, index)
                    index += 8
                }
                while index < result.count {
                    let square = x[2 * index] * x[2 * index] + x[2 * index + 1] * x[2 * index + 1]
                    y[index] = asMagnitudes ? square.squareRoot() : square
                    index += 1
                }
            }
        }
    }
}

extension RealFFT {
    /// Multiplies values by a window and writes them to the first samples. The samples after them are unchanged. O(n).
    ///
    /// - Parameters:
    ///   - values: The values; as many as the window has from `first` on.
    ///   - first: The index of the first value.
    ///   - window: Its values: a multiple of eight, at most as many as the transform has.
    public mutating func load(_ values: [Float], from first: Int = 0, under window: [Float]) {
        precondition(first >= 0 && first + window.count <= values.count, "too few samples")
        precondition(
            window.count <= size && window.count.isMultiple(of: 8), "the window is a multiple of eight, and at most the transform size")
        var samples = samples
        samples.withUnsafeMutableBufferPointer { result in
            values.withUnsafeBufferPointer { values in
                window.withUnsafeBufferPointer { window in
                    guard let x = values.baseAddress, let w = window.baseAddress, let y = result.baseAddress else { return }
                    for index in stride(from: 0, to: window.count, by: 8) {
                        y.store(x.lanes(first + index) * w.lanes(index), index)
                    }
                }
            }
        }
    }

    /// Writes |X|² of the first `power.count` bins, at most `size` / 2 + 1. O(n).
    public func measure(power: inout [Float]) {
        bins.measure(into: &power, asMagnitudes: false)
    }

    /// Writes |X| of the first `magnitudes.count` bins, at most `size` / 2 + 1. O(n).
    public func measure(magnitudes: inout [Float]) {
        bins.measure(into: &magnitudes, asMagnitudes: true)
    }
}

extension [Float] {
    /// Moves all elements to the front by `count`. The last `count` elements are unchanged. O(n).
    mutating func advance(by count: Int) {
        withUnsafeMutableBufferPointer { buffer in
            guard let x = buffer.baseAddress, count < buffer.count else { return }
            x.update(from: x + count, count: buffer.count - count)
        }
    }

    /// Filters and decimates samples, and writes the results to the last elements. O(count · taps).
    ///
    /// - Parameters:
    ///   - taps: The FIR filter. Its length is a multiple of 8.
    ///   - first: Index of the first sample of the first result.
    ///   - step: Samples between results.
    ///   - count: Number of results. If the array is shorter, only the last ones are written.
    mutating func fillEnd(_ samples: [Float], through taps: [Float], from first: Int, every step: Int, count: Int) {
        precondition(count == 0 || first + (count - 1) * step + taps.count <= samples.count, "too few samples")
        precondition(taps.count.isMultiple(of: 8), "the number of taps is a multiple of eight")
        withUnsafeMutableBufferPointer { result in
            samples.withUnsafeBufferPointer { samples in
                taps.withUnsafeBufferPointer { taps in
                    guard let x = samples.baseAddress, let w = taps.baseAddress else { return }
                    let end = result.count - count
                    var index = Swift.max(0, -end)
                    // Four results at a time, so that each tap is loaded once for all four.
                    while index + 4 <= count {
                        let start = x + first + index * step
                        var (one, two, three, four) = (Lanes.zero, Lanes.zero, Lanes.zero, Lanes.zero)
                        var tap = 0
                        while tap < taps.count {
                            let factors = w.lanes(tap)
                            one += start.lanes(tap) * factors
                            two += start.lanes(tap + step) * factors
                            three += start.lanes(tap + 2 * step) * factors
                            four += start.lanes(tap + 3 * step) * factors
                            tap += 8
                        }
                        result[end + index] = one.sum()
                        result[end + index + 1] = two.sum()
                        result[end + index + 2] = three.sum()
                        result[end + index + 3] = four.sum()
                        index += 4
                    }
                    while index < count {
                        let start = x + first + index * step
                        var lanes = Lanes.zero
                        for tap in stride(from: 0, to: taps.count, by: 8) { lanes += start.lanes(tap) * w.lanes(tap) }
                        result[end + index] = lanes.sum()
                        index += 1
                    }
                }
            }
        }
    }
}

extension MutableSpan where Element == Float {
    /// Eight elements from `index` on; 0 beyond the end.
    @inline(__always)
    func eight(from index: Int) -> Lanes {
        var lanes = Lanes.zero
        withUnsafeBufferPointer { buffer in
            if index >= 0 && index + 8 <= buffer.count {
                lanes = buffer.lanes(index)
            } else {
                for place in index..<Swift.max(index, buffer.count) { lanes[place - index] = buffer[place] }
            }
        }
        return lanes
    }

    /// Stores eight elements from `index` on, except those beyond the end.
    @inline(__always)
    mutating func store(_ lanes: Lanes, from index: Int) {
        withUnsafeMutableBufferPointer { buffer in
            if index >= 0 && index + 8 <= buffer.count {
                buffer.store(lanes, index)
            } else {
                for place in index..<Swift.max(index, buffer.count) { buffer[place] = lanes[place - index] }
            }
        }
    }
}
