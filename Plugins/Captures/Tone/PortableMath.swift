/// Sine, power of two and logarithm by additions and multiplications only.
///
/// Results of the C library may differ in the last bit between processors; these are the same everywhere, and so are the generated signals.
enum PortableMath {
    /// sin(2π · `phase` / 2⁶⁴), to 1e-14.
    ///
    /// - Parameter phase: The range of the type is one period, so that integer overflow wraps the phase.
    static func sine(_ phase: UInt64) -> Double {
        // Folded to −¼…¼ period, where the series converges fast: sin(½ − x) = sin(x), in periods.
        let signed = Int64(bitPattern: phase)
        let half = Int64(bitPattern: 1 << 63)
        let quarter: Int64 = 1 << 62
        let folded = signed > quarter || signed < -quarter ? half &- signed : signed
        let x = Double(folded) * (2 * Double.pi * 0x1p-64)
        let square = x * x
        // Taylor series to x¹⁷; the next term is below 2e-14 at ¼ period.
        var sum = 1 / 355_687_428_096_000.0
        sum = sum * square - 1 / 1_307_674_368_000.0
        sum = sum * square + 1 / 6_227_020_800.0
        sum = sum * square - 1 / 39_916_800.0
        sum = sum * square + 1 / 362_880.0
        sum = sum * square - 1 / 5_040.0
        sum = sum * square + 1 / 120.0
        sum = sum * square - 1 / 6.0
        return x + x * square * sum
    }

    /// The phase of a number of periods, modulo one period.
    static func phase(periods: Double) -> UInt64 {
        let rest = periods - periods.rounded(.down)
        // Rounding may yield 2⁶⁴, which is phase 0.
        return rest >= 1 ? 0 : UInt64(rest * 0x1p64)
    }

    /// 2ˣ, to a few units in the last place, for x in −1000…1000.
    static func powerOfTwo(_ x: Double) -> Double {
        let whole = x.rounded()
        // e^y with |y| ≤ ln 2 / 2, by a Taylor series to y¹³; the next term is below 5e-18.
        let y = (x - whole) * 0.693_147_180_559_945_3
        var sum = 1 / 6_227_020_800.0
        sum = sum * y + 1 / 479_001_600.0
        sum = sum * y + 1 / 39_916_800.0
        sum = sum * y + 1 / 3_628_800.0
        sum = sum * y + 1 / 362_880.0
        sum = sum * y + 1 / 40_320.0
        sum = sum * y + 1 / 5_040.0
        sum = sum * y + 1 / 720.0
        sum = sum * y + 1 / 120.0
        sum = sum * y + 1 / 24.0
        sum = sum * y + 1 / 6.0
        sum = sum * y + 1 / 2.0
        sum = (sum * y + 1) * y + 1
        return sum * Double(sign: .plus, exponent: Int(whole), significand: 1)
    }

    /// log₂ x, to a few units in the last place, for positive normal x.
    static func logarithm(_ x: Double) -> Double {
        var result = Double(x.exponent) + (x.significand - 1)
        // Newton's method; each step doubles the number of correct digits.
        for _ in 0..<6 { result += (x * powerOfTwo(-result) - 1) / 0.693_147_180_559_945_3 }
        return result
    }
}
