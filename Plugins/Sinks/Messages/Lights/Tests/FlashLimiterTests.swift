import Testing

@testable import LightsSink

@Suite struct FlashLimiterTests {
    /// Starts of flashes in a sequence of luminances at 43 frames a second, counted independently of the limiter: rises by 10 % above a
    /// trough after a fall by 10 %.
    private func flashes(_ values: [Float]) -> [Double] {
        var starts: [Double] = []
        var (low, high, isRising) = (Float(0), Float(0), false)
        for (index, value) in values.enumerated() {
            if isRising {
                high = max(high, value)
                if value <= high - 0.1 { (isRising, low) = (false, value) }
            } else {
                low = min(low, value)
                if value >= low + 0.1 {
                    (isRising, high) = (true, value)
                    starts.append(Double(index) / 43)
                }
            }
        }
        return starts
    }

    private func limited(_ values: [Float]) -> [Float] {
        var limiter = FlashLimiter(count: 1)
        return values.enumerated().map { limiter.limited($1, of: 0, at: Double($0) / 43) }
    }

    private func mostInASecond(_ starts: [Double]) -> Int {
        starts.map { start in starts.count { $0 >= start && $0 < start + 1 } }.max() ?? 0
    }

    @Test func `ten flashes a second: three of each second remain`() {
        let input = (0..<430).map { Float($0 % 4 < 2 ? 1 : 0) }
        #expect(mostInASecond(flashes(input)) > 9)
        let output = limited(input)
        #expect(mostInASecond(flashes(output)) == 3)
        #expect(zip(input, output).allSatisfy { $1 <= $0 })
    }

    @Test func `two flashes a second: unchanged`() {
        let input = (0..<430).map { Float($0 % 21 < 5 ? 1 : 0) }
        #expect(limited(input) == input)
    }

    @Test func `slow change and small ripple: unchanged`() {
        let input = (0..<430).map { index -> Float in
            let ripple: Float = index % 2 == 0 ? 0.09 : 0
            return Float(index) / 430 * 0.9 + ripple
        }
        #expect(limited(input) == input)
    }

    @Test func `random luminance: never more than three flashes in a second`() {
        var seed: UInt32 = 1
        let input = (0..<4300).map { _ in
            seed = seed &* 1_664_525 &+ 1_013_904_223
            return Float(seed >> 8) / 16_777_216
        }
        #expect(mostInASecond(flashes(limited(input))) == 3)
    }
}
