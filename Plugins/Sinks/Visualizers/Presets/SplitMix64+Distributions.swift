internal import Glibc
internal import HemiolaSignal

/// Distributions, implemented here and not taken from the standard library, so that a plan does not change with the library's version.
extension SplitMix64 {
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
