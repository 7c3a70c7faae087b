internal import HemiolaSystem

/// Writes numbers as JSON text directly to memory: the inner loops of `JSONBuffer`.
///
/// Every function writes at an address and returns the address after its text. At least `capacity` bytes must be writable there: stores
/// are wider than the text, and the next write overwrites the excess.
///
/// Rounds like C's `printf`: to the nearest of the exact binary value, ties to even.
// Unchecked: both tables are written before `shared` is published, then only read, and never freed.
struct NumberText: @unchecked Sendable {
    typealias Place = UnsafeMutableRawPointer

    /// Maximum number of bytes that one number writes: up to 27 of text, and the excess of the wide stores.
    static let capacity = 48

    /// The shared instance. Its tables are filled once per process, in about 0.1 ms.
    static let shared = NumberText()

    /// 000 to 999: three digits in the low bytes; bits 24…27: count of digits without trailing zeros (at least one); bits 28…31: count
    /// of leading zeros (at most two).
    // Unsafe: a look-up through a pointer is one load; a static array also needs an initialization check and a bounds check.
    private let triples: UnsafePointer<UInt32>

    /// The nearest doubles to 10⁻⁴⁵ … 10⁵¹, with the pointer at 10⁰. They scale any Float to six digits before the point and give its
    /// decimal exponent.
    // Unsafe: as above, and indices may be negative.
    private let powers: UnsafePointer<Double>

    private init() {
        let triples = UnsafeMutablePointer<UInt32>.allocate(capacity: 1000)
        for number: UInt32 in 0..<1000 {
            let digits = number / 100 | (number / 10 % 10) << 8 | (number % 10) << 16 | 0x30_3030
            let kept: UInt32 = number % 10 != 0 ? 3 : number % 100 != 0 ? 2 : 1
            let leading: UInt32 = number < 10 ? 2 : number < 100 ? 1 : 0
            (triples + Int(number)).initialize(to: digits | kept << 24 | leading << 28)
        }
        let exponents = -45...51
        let powers = UnsafeMutablePointer<Double>.allocate(capacity: exponents.count) - exponents.lowerBound
        for exponent in exponents {
            // Parsing rounds correctly; repeated multiplication does not.
            (powers + exponent).initialize(to: Double("1e\(exponent)") ?? .nan)
        }
        self.triples = UnsafePointer(triples)
        self.powers = UnsafePointer(powers)
    }
}

// MARK: - Whole numbers

extension NumberText {
    @inline(__always)
    func integer(_ value: Int64, at start: Place) -> Place {
        whole(value.magnitude, at: sign(value < 0, at: start))
    }

    @inline(__always)
    private func whole(_ number: UInt64, at start: Place) -> Place {
        number < 1000 ? small(UInt32(truncatingIfNeeded: number), at: start) : large(number, at: start)
    }

    /// 0…999 without leading zeros.
    @inline(__always)
    private func small(_ number: UInt32, at start: Place) -> Place {
        let triple = triples[Int(number)]
        start.storeBytes(of: ((triple & 0xff_ffff) >> skip(triple)).littleEndian, as: UInt32.self)
        return start + 3 - Int(skip(triple) >> 3)
    }

    @inline(never)
    private func large(_ number: UInt64, at start: Place) -> Place {
        let (thousands, rest) = number.quotientAndRemainder(dividingBy: 1000)
        let place = whole(thousands, at: start)
        place.storeBytes(of: triples[Int(rest)].littleEndian, as: UInt32.self)
        return place + 3
    }

    /// Always writes a minus sign, and skips it only if the number is negative: faster than a branch that half the samples take.
    @inline(__always)
    private func sign(_ isNegative: Bool, at start: Place) -> Place {
        start.storeBytes(of: UInt8(ascii: "-"), as: UInt8.self)
        return start + (isNegative ? 1 : 0)
    }

    /// Bits to shift a triple by, which removes its leading zeros.
    @inline(__always)
    private func skip(_ triple: UInt32) -> UInt32 {
        triple >> 25 & 0x18
    }

    /// Count of digits of a triple without trailing zeros.
    @inline(__always)
    private func kept(_ triple: UInt32) -> Int {
        Int(triple >> 24 & 3)
    }

    private func null(at start: Place) -> Place {
        start.storeBytes(of: UInt32(0x6c6c_756e).littleEndian, as: UInt32.self)  // "null"
        return start + 4
    }
}

// MARK: - Fixed decimals

/// Count of digits after the point. A protocol of constants, so that each count is compiled to its own loop with multiplications in
/// place of divisions.
protocol Decimals {
    static var count: Int { get }
    static var scale: UInt64 { get }
}

enum TwoDecimals: Decimals {
    static var count: Int { 2 }
    static var scale: UInt64 { 100 }
}

enum ThreeDecimals: Decimals {
    static var count: Int { 3 }
    static var scale: UInt64 { 1000 }
}

enum SixDecimals: Decimals {
    static var count: Int { 6 }
    static var scale: UInt64 { 1_000_000 }
}

extension NumberText {
    /// 2⁵²: added to a smaller double, leaves the nearest integer in the low bits, ties to even. (`rounded(.toNearestOrEven)` calls
    /// libm on x86-64, which would have to be linked.)
    private static var magic: Double { 0x1p52 }

    /// Half of 2⁵²: just below 2⁵² the sum would round up to 2⁵³, which loses the low bits.
    private static var limit: Double { 0x1p51 }

    @inline(__always)
    private static func wholeBits(_ shifted: Double) -> UInt64 {
        shifted.bitPattern & 0xf_ffff_ffff_ffff
    }

    /// A Float at `decimals`: 24 bits of significand and 14 of 5⁶ are exact in a double, so that it is rounded only once.
    @inline(__always)
    func fixed<D: Decimals>(_ value: Float, _ decimals: D.Type, at start: Place) -> Place {
        let scaled = Double(value.magnitude) * Double(D.scale)
        guard scaled < Self.limit else { return fixedUnusual(Double(value), decimals: D.count, at: start) }
        return fixed(Self.wholeBits(scaled + Self.magic), value.sign == .minus, decimals, at: start)
    }

    /// A Double at `decimals`: the product is rounded, which changes the result only for an apparent tie.
    @inline(__always)
    func fixed<D: Decimals>(_ value: Double, _ decimals: D.Type, at start: Place) -> Place {
        let scaled = value.magnitude * Double(D.scale)
        guard scaled < Self.limit else { return fixedUnusual(value, decimals: D.count, at: start) }
        let shifted = scaled + Self.magic
        var units = Self.wholeBits(shifted)
        let rest = scaled - (shifted - Self.magic)
        if rest.magnitude == 0.5 {
            // The exact rounding error of the product, from two halves of the significand. `fma` calls libm, and is slow on processors
            // without that instruction.
            let high = Double(bitPattern: value.magnitude.bitPattern & ~0x7ff_ffff)
            let lost = high * Double(D.scale) - scaled + (value.magnitude - high) * Double(D.scale)
            if rest > 0, lost > 0 { units += 1 }
            if rest < 0, lost < 0 { units -= 1 }
        }
        return fixed(units, value.sign == .minus, decimals, at: start)
    }

    /// Writes `units` of the last decimal.
    @inline(__always)
    private func fixed<D: Decimals>(_ units: UInt64, _ isNegative: Bool, _ decimals: D.Type, at start: Place) -> Place {
        let place = sign(isNegative && units != 0, at: start)
        if units < 1000 * D.scale {
            let units = UInt32(truncatingIfNeeded: units)
            let scale = UInt32(truncatingIfNeeded: D.scale)
            let triple = triples[Int(units / scale)]
            let withPoint = (triple & 0xff_ffff | 0x2e00_0000) >> skip(triple)
            place.storeBytes(of: withPoint.littleEndian, as: UInt32.self)
            return fraction(units % scale, decimals, at: place + 4 - Int(skip(triple) >> 3))
        }
        let point = large(units / D.scale, at: place)
        point.storeBytes(of: UInt8(ascii: "."), as: UInt8.self)
        return fraction(UInt32(truncatingIfNeeded: units % D.scale), decimals, at: point + 1)
    }

    /// The digits after the point without trailing zeros, at least one.
    @inline(__always)
    private func fraction<D: Decimals>(_ units: UInt32, _ decimals: D.Type, at start: Place) -> Place {
        if D.count <= 3 {
            let triple = triples[Int(D.count == 2 ? units * 10 : units)]
            start.storeBytes(of: triple.littleEndian, as: UInt32.self)
            return start + kept(triple)
        }
        let high = triples[Int(units / 1000)]
        let low = triples[Int(units % 1000)]
        start.storeBytes(of: high.littleEndian, as: UInt32.self)
        (start + 3).storeBytes(of: low.littleEndian, as: UInt32.self)
        return start + (units % 1000 == 0 ? kept(high) : 3 + kept(low))
    }

    /// NaN and the infinities are null. From 2⁵¹ units on, integer part and fraction are scaled separately, each exactly. From 2⁶³ on,
    /// writes the shortest text that reads back as the same double, with an exponent.
    @inline(never)
    private func fixedUnusual(_ value: Double, decimals: Int, at start: Place) -> Place {
        guard value.isFinite else { return null(at: start) }
        guard value.magnitude < 0x1p63 else { return shortest(value, at: start) }
        let wholePart = UInt64(value.magnitude)
        let scale: UInt32 = decimals == 2 ? 100 : decimals == 3 ? 1000 : 1_000_000
        let scaled = (value.magnitude - Double(wholePart)) * Double(scale)
        let units = UInt32(truncatingIfNeeded: Self.wholeBits(scaled + Self.magic))
        let point = large(wholePart + UInt64(units / scale), at: sign(value < 0, at: start))
        point.storeBytes(of: UInt8(ascii: "."), as: UInt8.self)
        switch decimals {
        case 2: return fraction(units % scale, TwoDecimals.self, at: point + 1)
        case 3: return fraction(units % scale, ThreeDecimals.self, at: point + 1)
        default: return fraction(units % scale, SixDecimals.self, at: point + 1)
        }
    }

    /// All digits of a 32-bit number.
    @inline(never)
    func all(_ value: Float, at start: Place) -> Place {
        // Zero and what is not finite are written as by the other functions.
        guard value.isFinite, value != 0 else { return significant(Double(value), at: start) }
        return write(value.description, at: start)
    }

    private func shortest(_ value: Double, at start: Place) -> Place {
        write(value.description, at: start)
    }

    /// Swift's description of a number, with a decimal point added to texts like `1e+21`.
    private func write(_ description: String, at start: Place) -> Place {
        var place = start
        var hasPoint = false
        for byte in description.utf8 where byte != UInt8(ascii: "+") {
            if byte == UInt8(ascii: ".") { hasPoint = true }
            if byte == UInt8(ascii: "e"), !hasPoint {
                place.storeBytes(of: UInt16(0x302e).littleEndian, as: UInt16.self)  // ".0"
                place += 2
            }
            place.storeBytes(of: byte, as: UInt8.self)
            place += 1
        }
        return place
    }

    /// A sample with six decimals, not trimmed. Values that are not finite are 0.
    @inline(__always)
    func sample(_ value: Float, at start: Place) -> Place {
        let scaled = Double(value.magnitude) * 1_000_000
        guard scaled < 10_000_000 - 0.5 else { return sampleUnusual(value, at: start) }
        let units = UInt32(truncatingIfNeeded: Self.wholeBits(scaled + Self.magic))
        let place = sign(value.sign == .minus && units != 0, at: start)
        let millis = units / 1000
        let high = UInt64(triples[Int(millis % 1000)] & 0xff_ffff)
        let low = UInt64(triples[Int(units % 1000)] & 0xff_ffff)
        let text = UInt64(millis / 1000 + 0x30) | 0x2e00 | high << 16 | low << 40
        place.storeBytes(of: text.littleEndian, as: UInt64.self)
        return place + 8
    }

    @inline(never)
    private func sampleUnusual(_ value: Float, at start: Place) -> Place {
        guard value.isFinite else { return sample(0, at: start) }
        guard value.magnitude < 0x1p63 else { return shortest(Double(value), at: start) }
        let end = fixed(value, SixDecimals.self, at: start)
        var point = end
        while point.load(as: UInt8.self) != UInt8(ascii: ".") { point -= 1 }
        let full = point + 7
        for place in stride(from: end, to: full, by: 1) { place.storeBytes(of: UInt8(ascii: "0"), as: UInt8.self) }
        return full
    }
}

// MARK: - Significant digits

extension NumberText {
    /// Six significant digits of `value`, without trailing zeros, always with a point.
    ///
    /// One multiplication scales the value to six digits before the point, with an error below 2⁻³¹ of the last digit. Within 2⁻³⁰ of a
    /// tie, exact integer arithmetic decides.
    @inline(__always)
    func significant(_ value: Double, at start: Place) -> Place {
        let magnitude = value.magnitude
        guard magnitude >= 0x1p-149, magnitude < 0x1p128 else { return significantUnusual(value, at: start) }
        var exponent = decimalExponent(magnitude)
        let scaled = magnitude * powers[5 - exponent]
        let shifted = scaled + Self.magic
        var digits = Self.wholeBits(shifted)
        if (scaled - (shifted - Self.magic)).magnitude > 0.5 - 0x1p-30 {
            digits = Self.nearest(magnitude, UInt64(scaled), exponent: exponent)
        }
        if digits == 1_000_000 {
            digits = 100_000
            exponent += 1
        }
        return significant(UInt32(truncatingIfNeeded: digits), exponent, at: sign(value.sign == .minus, at: start))
    }

    /// ⌊log₁₀ x⌋ for x in 2⁻¹⁴⁹ ..< 2¹²⁸: from the binary exponent times log₁₀ 2 (78913 / 2¹⁸), then one comparison.
    @inline(__always)
    private func decimalExponent(_ magnitude: Double) -> Int {
        let binary = Int(truncatingIfNeeded: magnitude.bitPattern >> 52) - 1023
        let estimate = (binary * 78913) >> 18
        return estimate + (magnitude >= powers[estimate + 1] ? 1 : 0)
    }

    /// `digits` is 100 000…999 999; its first digit has the weight 10^`exponent`.
    @inline(__always)
    private func significant(_ digits: UInt32, _ exponent: Int, at start: Place) -> Place {
        let high = triples[Int(digits / 1000)]
        let low = triples[Int(digits % 1000)]
        let text = UInt64(high & 0xff_ffff) | UInt64(low & 0xff_ffff) << 24
        let count = digits % 1000 == 0 ? kept(high) : 3 + kept(low)
        if exponent < 0, exponent >= -5 {
            start.storeBytes(of: UInt64(0x3030_3030_3030_2e30).littleEndian, as: UInt64.self)  // "0.000000"
            let place = start + 1 - exponent
            place.storeBytes(of: text.littleEndian, as: UInt64.self)
            return place + count
        }
        if exponent >= 0, exponent < 5 {
            start.storeBytes(of: text.littleEndian, as: UInt64.self)
            let point = start + exponent + 1
            point.storeBytes(of: UInt8(ascii: "."), as: UInt8.self)
            (point + 1).storeBytes(of: (text >> UInt64(8 * exponent + 8)).littleEndian, as: UInt64.self)
            return start + 1 + max(count, exponent + 2)
        }
        return significantFar(text, count, exponent, at: start)
    }

    /// Decimal notation with zeros before the point below 10¹⁵; exponent notation from 10¹⁵ on and below 10⁻⁵.
    @inline(never)
    private func significantFar(_ text: UInt64, _ count: Int, _ exponent: Int, at start: Place) -> Place {
        start.storeBytes(of: text.littleEndian, as: UInt64.self)
        if exponent > 0, exponent < 15 {
            for offset in [6, 14] {
                (start + offset).storeBytes(of: UInt64(0x3030_3030_3030_3030), as: UInt64.self)
            }
            let point = start + exponent + 1
            point.storeBytes(of: UInt16(0x302e).littleEndian, as: UInt16.self)  // ".0"
            return point + 2
        }
        (start + 1).storeBytes(of: UInt8(ascii: "."), as: UInt8.self)
        (start + 2).storeBytes(of: (text >> 8).littleEndian, as: UInt64.self)
        let letter = start + 1 + max(count, 2)
        letter.storeBytes(of: UInt8(ascii: "e"), as: UInt8.self)
        return integer(Int64(exponent), at: letter + 1)
    }

    /// Zero, values that are not finite, and doubles outside the range of a Float.
    @inline(never)
    private func significantUnusual(_ value: Double, at start: Place) -> Place {
        if value == 0 {
            start.storeBytes(of: UInt32(0x30_2e30).littleEndian, as: UInt32.self)  // "0.0"
            return start + 3
        }
        guard value.isFinite else { return null(at: start) }
        var near = value.magnitude
        var exponent = 0
        while near >= 0x1p128 {
            near *= powers[-30]
            exponent += 30
        }
        while near < 0x1p-149 {
            near *= powers[30]
            exponent -= 30
        }
        let nearExponent = decimalExponent(near)
        exponent += nearExponent
        // Scaling has lost some of the last bits: exact integer arithmetic decides.
        var digits = Self.nearest(value.magnitude, UInt64(near * powers[5 - nearExponent]), exponent: exponent)
        if digits == 1_000_000 {
            digits = 100_000
            exponent += 1
        }
        return significant(UInt32(digits), exponent, at: sign(value < 0, at: start))
    }

    /// `lower` or `lower + 1`: the one that times 10^(`exponent` − 5) is nearer to `magnitude`, ties to even. Exact.
    @inline(never)
    private static func nearest(_ magnitude: Double, _ lower: UInt64, exponent: Int) -> UInt64 {
        // Compares magnitude with (2 lower + 1) / 2 · 10^(exponent − 5), with powers of two and five on the side where they are integers.
        var left = WideNumber((magnitude.significandBitPattern | (magnitude.isNormal ? 1 << 52 : 0)))
        var right = WideNumber(2 * lower + 1)
        let tens = exponent - 5
        let twos = Int(max(magnitude.exponentBitPattern, 1)) - 1075 - (tens - 1)
        if tens < 0 { left.multiply(byFiveTo: -tens) } else { right.multiply(byFiveTo: tens) }
        if twos < 0 { right.multiply(byTwoTo: -twos) } else { left.multiply(byTwoTo: twos) }
        switch left.compared(to: right) {
        case 1: return lower + 1
        case -1: return lower
        default: return lower + lower & 1
        }
    }
}

/// An integer below 2⁸⁹⁶, stored inline: wide enough to compare any double with any tie of six digits (817 bits).
private struct WideNumber {
    private var limbs = InlineArray<28, UInt32>(repeating: 0)

    init(_ value: UInt64) {
        limbs[0] = UInt32(truncatingIfNeeded: value)
        limbs[1] = UInt32(truncatingIfNeeded: value >> 32)
    }

    mutating func multiply(by factor: UInt32) {
        var carry: UInt64 = 0
        for index in limbs.indices {
            let product = UInt64(limbs[index]) * UInt64(factor) + carry
            limbs[index] = UInt32(truncatingIfNeeded: product)
            carry = product >> 32
        }
        precondition(carry == 0, "the number is too wide")
    }

    mutating func multiply(byFiveTo power: Int) {
        for _ in 0..<power / 13 { multiply(by: 1_220_703_125) }  // 5¹³, the largest power that fits
        for _ in 0..<power % 13 { multiply(by: 5) }
    }

    mutating func multiply(byTwoTo power: Int) {
        for _ in 0..<power / 31 { multiply(by: 1 << 31) }
        multiply(by: 1 << UInt32(power % 31))
    }

    /// −1, 0 or 1.
    func compared(to other: borrowing WideNumber) -> Int {
        for index in limbs.indices.reversed() where limbs[index] != other.limbs[index] {
            return limbs[index] < other.limbs[index] ? -1 : 1
        }
        return 0
    }
}
