// Eight lanes at a time over arrays that the caller holds open. The unsafe pointers are loads and stores of whole vectors, for
// which arrays and spans have no way of their own.

typealias Lanes = SIMD8<Float>

extension UnsafeBufferPointer where Element == Float {
    /// Eight values from `index` on.
    @inline(__always)
    func lanes(_ index: Int) -> Lanes {
        UnsafeRawPointer(baseAddress! + index).loadUnaligned(as: Lanes.self)
    }
}

extension UnsafeMutableBufferPointer where Element == Float {
    /// Puts eight values from `index` on.
    @inline(__always)
    func store(_ lanes: Lanes, _ index: Int) {
        UnsafeMutableRawPointer(baseAddress! + index).storeBytes(of: lanes, as: Lanes.self)
    }
}

extension Lanes {
    /// The larger of each pair of lanes, as one instruction: `pointwiseMax` is compiled lane by lane.
    @inline(__always)
    func larger(_ other: Lanes) -> Lanes {
        replacing(with: other, where: other .> self)
    }

    /// log₂ x within 10⁻⁵, for normal x above 0.
    @inline(__always)
    var binaryLogarithm: Lanes {
        let bits = unsafeBitCast(self, to: SIMD8<Int32>.self)
        // Halved around √½…√2, so that the series is short: log₂ m = 2/ln 2 · artanh((m − 1)/(m + 1)).
        let exponent = (bits &- 0x3f35_04f3) &>> 23
        let m = unsafeBitCast(bits &- (exponent &<< 23), to: Lanes.self)
        let z = (m - 1) / (m + 1)
        let square = z * z
        let series = ((square * 0.412_198_6 + 0.577_078) * square + 0.961_796_7) * square + 2.885_390_1
        // The exponent as a float, by way of the last bits of 1.5·2²³.
        let magic = unsafeBitCast(exponent &+ 0x4b40_0000, to: Lanes.self) - 12_582_912
        return magic + z * series
    }

    /// 2ˣ within a few parts in a million, for x from −126 to 126.
    @inline(__always)
    var powerOfTwo: Lanes {
        // In the sum with 1.5·2²³ the last bits are the nearest whole number.
        let magic = Lanes(repeating: 12_582_912)
        let shifted = self + magic
        let f = self - (shifted - magic)
        var value = f * 1.333_558_1e-3 + 9.618_129e-3
        value = value * f + 5.550_41e-2
        value = value * f + 0.240_226_5
        value = value * f + 0.693_147_2
        value = value * f + 1
        let exponent = unsafeBitCast(shifted, to: SIMD8<Int32>.self) &<< 23
        return unsafeBitCast(unsafeBitCast(value, to: SIMD8<Int32>.self) &+ exponent, to: Lanes.self)
    }
}
