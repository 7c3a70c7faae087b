internal import HemiolaSignal

extension SplitMix64 {
    /// A generator of one of many sequences with the same seed, which are independent of each other.
    init(seed: UInt64, stream: Int64) {
        let offset = UInt64(bitPattern: stream) &* 0xd1b5_4a32_d192_ed03
        // The number before the first one is that of the seed itself.
        self.init(seed: Self.number(at: -1, ofSeed: Self.number(at: 0, ofSeed: seed) &+ offset))
    }

    /// The next number in 0..<1, a multiple of 2⁻³².
    mutating func fraction() -> Double {
        Double(next() >> 32) * 0x1p-32
    }
}
