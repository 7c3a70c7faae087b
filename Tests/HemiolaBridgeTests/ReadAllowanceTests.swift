import NIOCore
import Testing

@testable import HemiolaBridge

/// How much is read of one client.
@Suite struct ReadAllowanceTests {
    private static let start = NIODeadline.distantPast + .seconds(100)

    /// How many messages are read in so many seconds of a client that sends as fast as it can.
    private func count(seconds: Int64, bytes: Int = 20, _ allowance: inout ReadAllowance, from start: NIODeadline = Self.start) -> Int {
        var (now, count) = (start, 0)
        while now < start + .seconds(seconds) {
            if let wait = allowance.wait(at: now) {
                #expect(wait > .nanoseconds(0))
                now = now + wait
            } else {
                allowance.take(bytes)
                count += 1
            }
        }
        return count
    }

    @Test func `two thousand messages a second are read, and two thousand at once after a pause`() {
        var allowance = ReadAllowance()
        #expect(abs(count(seconds: 10, &allowance) - 22_000) < 50)
        #expect(abs(count(seconds: 10, &allowance, from: Self.start + .seconds(10)) - 20_000) < 50)
        #expect(abs(count(seconds: 1, &allowance, from: Self.start + .seconds(100)) - 4000) < 50)
    }

    @Test func `a long message counts for every kibibyte, and is read whole`() {
        var allowance = ReadAllowance()
        #expect(abs(count(seconds: 10, bytes: 1 << 20, &allowance) - 22) <= 2)
    }
}
