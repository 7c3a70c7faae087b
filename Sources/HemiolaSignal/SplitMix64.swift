/// A pseudorandom number generator: equal seeds give equal sequences on every platform.
///
/// Not for secrets: the next number can be computed from the last one.
///
/// - Note: G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
public struct SplitMix64: RandomNumberGenerator, Sendable {
    /// The increment of the state.
    private static let increment: UInt64 = 0x9E37_79B9_7F4A_7C15
    private var state: UInt64

    /// A generator with a seed.
    public init(seed: UInt64) {
        state = seed
    }

    /// The next number: all 64 bits are random.
    public mutating func next() -> UInt64 {
        state &+= Self.increment
        return Self.mixed(state)
    }

    /// The next number in 0..<1, a multiple of 2⁻⁵³.
    public mutating func uniform() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// A number of a seed's sequence, computed without those before it.
    ///
    /// - Parameters:
    ///   - index: Its place: 0 is the first number that `next` returns. Negative places precede it.
    ///   - seed: The seed.
    public static func number(at index: Int64, ofSeed seed: UInt64) -> UInt64 {
        mixed(seed &+ UInt64(bitPattern: index &+ 1) &* increment)
    }

    /// The number for a state.
    private static func mixed(_ state: UInt64) -> UInt64 {
        var bits = state
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }
}
