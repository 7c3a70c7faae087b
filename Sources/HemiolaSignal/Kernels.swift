// The loops that run over every sample or bin, eight lanes at a time.
//
// Swift never reassociates a float sum, so a reduction is vectorised only when it is written with vector accumulators. The
// unsafe pointers here are loads from a span that the caller holds: `Span` has no vector load of its own.

/// Eight lanes: two SSE registers or one AVX register, on every x86-64 and arm64 machine the same arithmetic.
public typealias Lanes = SIMD8<Float>

extension UnsafePointer where Pointee == Float {
    /// Eight values from `index` on.
    @inline(__always)
    fileprivate func lanes(_ index: Int) -> Lanes {
        UnsafeRawPointer(self + index).loadUnaligned(as: Lanes.self)
    }

    /// Eight values from `index` on, `stride` apart: one channel of interleaved samples.
    @inline(__always)
    fileprivate func lanes(_ index: Int, stride: Int) -> Lanes {
        let x = self + index
        return Lanes(
            x[0], x[stride], x[2 * stride], x[3 * stride], x[4 * stride], x[5 * stride], x[6 * stride], x[7 * stride])
    }
}

extension UnsafeMutablePointer where Pointee == Float {
    /// Puts eight values from `index` on.
    @inline(__always)
    fileprivate func store(_ lanes: Lanes, _ index: Int) {
        UnsafeMutableRawPointer(self + index).storeBytes(of: lanes, as: Lanes.self)
    }
}

extension Lanes {
    @inline(__always)
    fileprivate var magnitude: Lanes {
        unsafeBitCast(unsafeBitCast(self, to: SIMD8<UInt32>.self) & 0x7fff_ffff, to: Lanes.self)
    }

    /// The larger of each pair of lanes, as one instruction: `pointwiseMax` is compiled lane by lane.
    @inline(__always)
    fileprivate func larger(_ other: Lanes) -> Lanes {
        replacing(with: other, where: other .> self)
    }
}

/// The sum of squares and the largest magnitude of a run of samples.
public struct Loudness: Sendable, Hashable {
    /// Σx².
    public var squares: Float
    /// max |x|.
    public var peak: Float

    /// That of silence, unless told otherwise.
    public init(squares: Float = 0, peak: Float = 0) {
        self.squares = squares
        self.peak = peak
    }
}

extension Span where Element == Float {
    /// Σx² and max |x|; 0 for no samples. O(n).
    public var loudness: Loudness {
        withUnsafeBufferPointer { buffer in
            guard let x = buffer.baseAddress else { return Loudness() }
            let whole = buffer.count & ~7
            var squares = Lanes.zero
            var peak = Lanes.zero
            var index = 0
            while index < whole {
                let value = x.lanes(index)
                squares += value * value
                peak = peak.larger(value.magnitude)
                index += 8
            }
            var result = Loudness(squares: squares.sum(), peak: peak.max())
            while index < buffer.count {
                result.squares += x[index] * x[index]
                result.peak = Swift.max(result.peak, abs(x[index]))
                index += 1
            }
            return result
        }
    }

    /// Σx² and max |x| of channel `channel` of interleaved samples. O(n).
    public func loudness(ofChannel channel: Int, of channelCount: Int) -> Loudness {
        withUnsafeBufferPointer { buffer in
            guard let x = buffer.baseAddress else { return Loudness() }
            var squares = Lanes.zero
            var peak = Lanes.zero
            var index = channel
            while index + 7 * channelCount < buffer.count {
                let value = x.lanes(index, stride: channelCount)
                squares += value * value
                peak = peak.larger(value.magnitude)
                index += 8 * channelCount
            }
            var result = Loudness(squares: squares.sum(), peak: peak.max())
            while index < buffer.count {
                result.squares += buffer[index] * buffer[index]
                result.peak = Swift.max(result.peak, abs(buffer[index]))
                index += channelCount
            }
            return result
        }
    }

    /// The left and right `loudness` of interleaved stereo, in one pass. O(n).
    public var stereoLoudness: (left: Loudness, right: Loudness) {
        withUnsafeBufferPointer { buffer in
            guard let x = buffer.baseAddress else { return (Loudness(), Loudness()) }
            let whole = buffer.count & ~7
            // Even lanes are left, odd lanes right: nothing has to be taken apart before the end.
            var squares = Lanes.zero
            var peak = Lanes.zero
            var index = 0
            while index < whole {
                let value = x.lanes(index)
                squares += value * value
                peak = peak.larger(value.magnitude)
                index += 8
            }
            var left = Loudness(squares: squares.evenHalf.sum(), peak: peak.evenHalf.max())
            var right = Loudness(squares: squares.oddHalf.sum(), peak: peak.oddHalf.max())
            while index + 1 < buffer.count {
                left.squares += x[index] * x[index]
                left.peak = Swift.max(left.peak, abs(x[index]))
                right.squares += x[index + 1] * x[index + 1]
                right.peak = Swift.max(right.peak, abs(x[index + 1]))
                index += 2
            }
            return (left, right)
        }
    }

    /// Σx. O(n).
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

    /// Σx·w over a range of this span and as many weights from `offset` on. O(n).
    public func dot(_ weights: Span<Float>, from offset: Int = 0, over range: Range<Int>) -> Float {
        withUnsafeBufferPointer { buffer in
            weights.withUnsafeBufferPointer { table in
                precondition(range.lowerBound >= 0 && range.upperBound <= buffer.count, "the range is outside the span")
                precondition(offset >= 0 && offset + range.count <= table.count, "too few weights")
                guard let x = buffer.baseAddress, let w = table.baseAddress else { return 0 }
                var lanes = Lanes.zero
                var index = range.lowerBound
                var weight = offset
                while index + 8 <= range.upperBound {
                    lanes += x.lanes(index) * w.lanes(weight)
                    index += 8
                    weight += 8
                }
                var total = lanes.sum()
                while index < range.upperBound {
                    total += x[index] * w[weight]
                    index += 1
                    weight += 1
                }
                return total
            }
        }
    }

    /// Σ max(0, x − previous), leaving x in `previous`: half-wave rectified difference, L1 norm. O(n).
    public func rise(over previous: inout MutableSpan<Float>) -> Float {
        withUnsafeBufferPointer { buffer in
            previous.withUnsafeMutableBufferPointer { old in
                precondition(old.count == buffer.count, "both spectra have the same bins")
                guard let x = buffer.baseAddress, let y = old.baseAddress else { return 0 }
                let whole = buffer.count & ~7
                var lanes = Lanes.zero
                var index = 0
                while index < whole {
                    let value = x.lanes(index)
                    lanes += (value - UnsafePointer(y).lanes(index)).larger(.zero)
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

    /// The first index at which the running sum reaches a threshold; the last index when it never does, 0 for no values. O(n).
    public func firstIndex(reaching threshold: Float) -> Int {
        withUnsafeBufferPointer { buffer in
            guard let x = buffer.baseAddress, buffer.count > 0 else { return 0 }
            var total: Float = 0
            var index = 0
            // Whole runs of 64 first, then one by one within the run that passes the threshold.
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
                        // A power is not negative; without its sign the compiler knows, and takes eight roots at once.
                        z.store(mean.magnitude.squareRoot(), index)
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

    /// Σx and Σlog₂x of positive values, values below `floor` counting as `floor`. O(n).
    ///
    /// The logarithm of a product is the sum of the logarithms: mantissas are multiplied, exponents added, and only eight
    /// logarithms are taken in the end. Each lane multiplies at most 64 mantissas of 1…2 before it is split again, far from
    /// overflow.
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
                    let value = x.lanes(index).larger(lowest)
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

extension MutableSpan where Element == Float {
    /// Writes the mean of the channels of interleaved samples to the front; returns whether every sample is finite.
    ///
    /// O(n). The order of the sum is fixed, so the result is the same on every machine.
    public mutating func mix(_ samples: Span<Float>, channelCount: Int) -> Bool {
        withUnsafeMutableBufferPointer { mono in
            samples.withUnsafeBufferPointer { buffer in
                let frames = buffer.count / channelCount
                precondition(frames <= mono.count, "the mix is shorter than the samples")
                guard let x = buffer.baseAddress, let y = mono.baseAddress else { return true }
                // x · 0 is 0 unless x is infinite or NaN, and NaN stays NaN through every sum.
                var poison = Lanes.zero
                let share = 1 / Float(channelCount)
                var frame = 0
                switch channelCount {
                case 1:
                    while frame + 8 <= frames {
                        let value = x.lanes(frame)
                        poison += value * 0
                        y.store(value, frame)
                        frame += 8
                    }
                case 2:
                    while frame + 8 <= frames {
                        let low = x.lanes(2 * frame)
                        let high = x.lanes(2 * frame + 8)
                        poison += low * 0
                        poison += high * 0
                        let left = Lanes(lowHalf: low.evenHalf, highHalf: high.evenHalf)
                        let right = Lanes(lowHalf: low.oddHalf, highHalf: high.oddHalf)
                        y.store((left + right) * 0.5, frame)
                        frame += 8
                    }
                default:
                    while frame + 8 <= frames {
                        var sum = Lanes.zero
                        for channel in 0..<channelCount {
                            let value = x.lanes(frame * channelCount + channel, stride: channelCount)
                            sum += value
                            poison += value * 0
                        }
                        y.store(sum * share, frame)
                        frame += 8
                    }
                }
                var check: Float = poison.sum()
                while frame < frames {
                    var sum: Float = 0
                    for channel in 0..<channelCount {
                        let value = x[frame * channelCount + channel]
                        sum += value
                        check += value * 0
                    }
                    y[frame] = sum * share
                    frame += 1
                }
                return check == 0
            }
        }
    }

    /// Writes the mono mix of interleaved samples to the front; returns whether every sample is finite, those of weight 0 included.
    ///
    /// O(n). For one or two channels, and more whose positions are not known, it is `mix(_:channelCount:)`.
    public mutating func mix(_ samples: Span<Float>, by channels: ChannelMix) -> Bool {
        if channels.isMean { return mix(samples, channelCount: channels.channelCount) }
        let count = channels.channelCount
        return withUnsafeMutableBufferPointer { mono in
            samples.withUnsafeBufferPointer { buffer in
                channels.mono.withUnsafeBufferPointer { weights in
                    let frames = buffer.count / count
                    precondition(frames <= mono.count, "the mix is shorter than the samples")
                    guard let x = buffer.baseAddress, let y = mono.baseAddress else { return true }
                    var poison = Lanes.zero
                    var frame = 0
                    while frame + 8 <= frames {
                        var sum = Lanes.zero
                        for channel in 0..<count {
                            let value = x.lanes(frame * count + channel, stride: count)
                            sum += value * weights[channel]
                            poison += value * 0
                        }
                        y.store(sum, frame)
                        frame += 8
                    }
                    var check: Float = poison.sum()
                    while frame < frames {
                        var sum: Float = 0
                        for channel in 0..<count {
                            let value = x[frame * count + channel]
                            sum += value * weights[channel]
                            check += value * 0
                        }
                        y[frame] = sum
                        frame += 1
                    }
                    return check == 0
                }
            }
        }
    }

    /// Adds values to these, or puts them in their place when they are the first. O(n).
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

    /// Writes values times a factor. O(n).
    public mutating func scale(_ values: Span<Float>, by factor: Float) {
        precondition(values.count == count, "both have the same length")
        for index in 0..<count {
            self[index] = values[index] * factor
        }
    }

    /// Replaces NaN and infinite samples by 0 and returns how many there were. O(n).
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

    /// Turns powers into decibels in place: `factor`·log₁₀x, −120 at and below the floor, NaN stays NaN, and infinity reads
    /// as 2¹²⁸ would: records hold no infinite number. O(n).
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
                    value = UnsafePointer(x).lanes(index)
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

extension Lanes {
    /// `factor`·log₁₀ of each lane, −120 at and below the floor, NaN for NaN.
    func decibels(factor: Float) -> Lanes {
        let scaled = log2 * (factor * 0.301_029_995_663_981_2)
        return scaled.replacing(with: -120, where: scaled .< -120)
            .replacing(with: -120, where: self .<= 0)
            .replacing(with: Lanes(repeating: .nan), where: self .!= self)
    }

    /// log₂ of each positive, normal lane, to 2 units in the last place; about −127 for zero and subnormals.
    ///
    /// With m in √½…√2 and s = (m − 1) / (m + 1), ln m = 2·artanh s = 2(s + s³/3 + s⁵/5 + s⁷/7 + s⁹/9 …), |s| ≤ 0.172.
    var log2: Lanes {
        let bits = unsafeBitCast(self, to: SIMD8<Int32>.self)
        // Centres the mantissa on 1: subtracting √½'s bits carries into the exponent exactly where m passes √2.
        let shifted = bits &- 0x3f35_04f3
        let exponent = Lanes(shifted &>> 23)
        let mantissa = unsafeBitCast((shifted & 0x7f_ffff) &+ 0x3f35_04f3, to: Lanes.self)
        let s = (mantissa - 1) / (mantissa + 1)
        let square = s * s
        var series = square * (2.885_390_1 / 9) + (2.885_390_1 / 7)
        series = series * square + (2.885_390_1 / 5)
        series = series * square + (2.885_390_1 / 3)
        return exponent + (s * (series * square) + s * 2.885_390_1)
    }
}
