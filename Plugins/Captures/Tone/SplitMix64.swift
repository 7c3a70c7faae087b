/// Random numbers: SplitMix64 (G. Steele, D. Lea, C. Flood, 2014).
struct SplitMix64 {
    private var state: UInt64

    /// - Parameter stream: Streams of the same seed are independent.
    init(seed: UInt64, stream: Int64) {
        state = Self.mixed(Self.mixed(seed &+ 0x9e37_79b9_7f4a_7c15) &+ UInt64(bitPattern: stream) &* 0xd1b5_4a32_d192_ed03)
    }

    /// A number in 0..<1, a multiple of 2⁻³².
    mutating func next() -> Double {
        state &+= 0x9e37_79b9_7f4a_7c15
        return Double(Self.mixed(state) >> 32) * 0x1p-32
    }

    static func mixed(_ state: UInt64) -> UInt64 {
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
