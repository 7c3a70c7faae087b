import HemiolaSystem
import Testing

@Suite struct RateLimitTests {
    private static let start = 100.0

    /// How often an amount is admitted at one time.
    private func count(_ amount: Int, _ limit: inout RateLimit, at time: Double) -> Int {
        var count = 0
        while limit.admit(amount, at: time) { count += 1 }
        return count
    }

    @Test func `messages: 4000 within a second, and as many in the next one`() {
        var limit = RateLimit(4000, per: 1)
        #expect(count(1, &limit, at: Self.start) == 4000)
        let isFlood = !limit.admit(at: Self.start + 0.999)
        #expect(isFlood && limit.refusals == 2)
        #expect(count(1, &limit, at: Self.start + 1) == 4000)
        #expect(count(1, &limit, at: Self.start + 3600) == 4000)
        #expect(limit.refusals == 1)
    }

    @Test func `bytes: 64 MiB within a second`() {
        var limit = RateLimit(64 << 20, per: 1)
        #expect(count(1 << 20, &limit, at: Self.start) == 64)
        #expect(count(1 << 20, &limit, at: Self.start + 1) == 64)
    }
}
