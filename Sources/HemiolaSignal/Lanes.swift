/// A SIMD vector of eight floats: one AVX register, or two of SSE or NEON. Results are the same on x86-64 and arm64.
public typealias Lanes = SIMD8<Float>

// MARK: - Loads and stores
//
// Arrays and spans have no vector load. These functions load and store whole vectors without alignment and without a bounds
// check: the caller guarantees that all eight elements are within the buffer. They are inlinable, because a call per vector would
// cost more than the load.

extension UnsafePointer where Pointee == Float {
    /// Loads eight elements from `index` on.
    @inlinable @inline(__always)
    public func lanes(_ index: Int) -> Lanes {
        UnsafeRawPointer(self + index).loadUnaligned(as: Lanes.self)
    }

    /// Loads eight elements from `index` on, `stride` apart: one channel of interleaved samples.
    @inlinable @inline(__always)
    public func lanes(_ index: Int, stride: Int) -> Lanes {
        let x = self + index
        return Lanes(
            x[0], x[stride], x[2 * stride], x[3 * stride], x[4 * stride], x[5 * stride], x[6 * stride], x[7 * stride])
    }
}

extension UnsafeMutablePointer where Pointee == Float {
    /// Loads eight elements from `index` on.
    @inlinable @inline(__always)
    public func lanes(_ index: Int) -> Lanes {
        UnsafePointer(self).lanes(index)
    }

    /// Stores eight elements from `index` on.
    @inlinable @inline(__always)
    public func store(_ lanes: Lanes, _ index: Int) {
        UnsafeMutableRawPointer(self + index).storeBytes(of: lanes, as: Lanes.self)
    }
}

extension UnsafeBufferPointer where Element == Float {
    /// Loads eight elements from `index` on. The buffer must not be empty.
    @inlinable @inline(__always)
    public func lanes(_ index: Int) -> Lanes {
        baseAddress!.lanes(index)
    }
}

extension UnsafeMutableBufferPointer where Element == Float {
    /// Loads eight elements from `index` on. The buffer must not be empty.
    @inlinable @inline(__always)
    public func lanes(_ index: Int) -> Lanes {
        baseAddress!.lanes(index)
    }

    /// Stores eight elements from `index` on. The buffer must not be empty.
    @inlinable @inline(__always)
    public func store(_ lanes: Lanes, _ index: Int) {
        baseAddress!.store(lanes, index)
    }
}

// MARK: - Functions of each lane

extension Lanes {
    /// |x| of each lane.
    @inlinable @inline(__always)
    public var magnitude: Lanes {
        unsafeBitCast(unsafeBitCast(self, to: SIMD8<UInt32>.self) & 0x7fff_ffff, to: Lanes.self)
    }

    /// √|x| of each lane. With the sign cleared the compiler needs no test for negative values, and emits a vector instruction.
    @inlinable @inline(__always)
    public var magnitudeSquareRoot: Lanes {
        magnitude.squareRoot()
    }

    /// The maximum of each pair of lanes, in one instruction: `pointwiseMax` is compiled to a loop over the lanes. If either value
    /// is NaN, the lane keeps its own value.
    @inlinable @inline(__always)
    public func maximum(with other: Lanes) -> Lanes {
        replacing(with: other, where: other .> self)
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

    /// `factor`·log₁₀ of each lane, at least −120; NaN for NaN.
    func decibels(factor: Float) -> Lanes {
        let scaled = log2 * (factor * 0.301_029_995_663_981_2)
        return scaled.replacing(with: -120, where: scaled .< -120)
            .replacing(with: -120, where: self .<= 0)
            .replacing(with: Lanes(repeating: .nan), where: self .!= self)
    }

    /// log₂ of each positive, normal lane, with an absolute error below 2·10⁻⁵. Faster than the exact logarithm of the decibels.
    @inlinable @inline(__always)
    public var approximateLog2: Lanes {
        let bits = unsafeBitCast(self, to: SIMD8<Int32>.self)
        // The mantissa m is in √½…√2, so that a short series is sufficient: log₂ m = 2/ln 2 · artanh((m − 1)/(m + 1)).
        let exponent = (bits &- 0x3f35_04f3) &>> 23
        let m = unsafeBitCast(bits &- (exponent &<< 23), to: Lanes.self)
        let z = (m - 1) / (m + 1)
        let square = z * z
        let series = ((square * 0.412_198_6 + 0.577_078) * square + 0.961_796_7) * square + 2.885_390_1
        // Converts the exponent to floating point: added to the bits of 1.5·2²³ it is the integer part.
        let magic = unsafeBitCast(exponent &+ 0x4b40_0000, to: Lanes.self) - 12_582_912
        return magic + z * series
    }

    /// 2ˣ of each lane from −126 to 126, with a relative error below 4·10⁻⁷; exact for integers.
    @inlinable @inline(__always)
    public var approximateExp2: Lanes {
        // In the sum with 1.5·2²³ the lowest bits are the nearest integer.
        let magic = Lanes(repeating: 12_582_912)
        let shifted = self + magic
        let f = self - (shifted - magic)
        // The polynomial with the smallest maximum error in −½…½.
        var value = f * 1.326_472_7e-3 + 9.671_513e-3
        value = value * f + 5.550_734e-2
        value = value * f + 0.240_222_4
        value = value * f + 0.693_147
        value = value * f + 1
        let exponent = unsafeBitCast(shifted, to: SIMD8<Int32>.self) &<< 23
        return unsafeBitCast(unsafeBitCast(value, to: SIMD8<Int32>.self) &+ exponent, to: Lanes.self)
    }
}
