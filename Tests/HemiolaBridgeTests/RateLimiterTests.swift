import NIOCore
import Testing

@testable import HemiolaBridge

@Suite struct RateLimiterTests {
    private static let start = NIODeadline.distantPast + .seconds(100)

    /// The number of messages that are read from a client that always has a message to read.
    private func count(seconds: Int64, bytes: Int = 20, _ limiter: inout RateLimiter, from start: NIODeadline = Self.start) -> Int {
        var (now, count) = (start, 0)
        while now < start + .seconds(seconds) {
            if let delay = limiter.delay(at: now) {
                #expect(delay > .nanoseconds(0))
                now = now + delay
            } else {
                limiter.count(byteCount: bytes)
                count += 1
            }
        }
        return count
    }

    @Test func `short messages: 2000 per second are read, and 2000 at once after a pause`() {
        var limiter = RateLimiter()
        #expect(abs(count(seconds: 10, &limiter) - 22_000) < 50)
        #expect(abs(count(seconds: 10, &limiter, from: Self.start + .seconds(10)) - 20_000) < 50)
        #expect(abs(count(seconds: 1, &limiter, from: Self.start + .seconds(100)) - 4000) < 50)
    }

    @Test func `long message: counts once per 1024 bytes`() {
        var limiter = RateLimiter()
        #expect(abs(count(seconds: 10, bytes: 1 << 20, &limiter) - 22) <= 2)
    }
}
