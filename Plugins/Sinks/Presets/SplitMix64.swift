#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

/// A pseudorandom number generator: equal seeds give equal sequences.
///
/// - Note: G. L. Steele, D. Lea, C. H. Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014. The distributions are
///   implemented here and not taken from the standard library, so that a plan does not change with the library's version.
struct SplitMix64: Sendable {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// Uniform in 0..<1.
    mutating func uniform() -> Double {
        Double(next() >> 11) * 0x1p-53
    }

    /// Uniform in 0..<count. The bias of the multiplication method is below count / 2⁶⁴.
    mutating func index(below count: Int) -> Int {
        Int(next().multipliedFullWidth(by: UInt64(count)).high)
    }

    /// Normal with mean 0 and standard deviation 1, by the Box–Muller transform.
    mutating func normal() -> Double {
        let radius = (-2 * log(1 - uniform())).squareRoot()
        return radius * cos(2 * .pi * uniform())
    }

    /// Shuffles by the Fisher–Yates algorithm: every order has the same probability.
    mutating func shuffle<Element>(_ elements: inout [Element]) {
        for last in stride(from: elements.count - 1, to: 0, by: -1) {
            elements.swapAt(last, index(below: last + 1))
        }
    }
}
