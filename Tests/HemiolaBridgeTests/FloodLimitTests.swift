import NIOCore
import Testing

@testable import HemiolaBridge

@Suite struct FloodLimitTests {
    private static let start = NIODeadline.distantPast + .seconds(100)

    /// The number of messages that a client can send at one time.
    private func count(_ bytes: Int, _ limit: inout FloodLimit, at time: NIODeadline) -> Int {
        var count = 0
        while !limit.isExceeded(byBytes: bytes, at: time) { count += 1 }
        return count
    }

    @Test func `short messages: 4000 within a second, and as many in the next one`() {
        var limit = FloodLimit()
        #expect(count(20, &limit, at: Self.start) == 4000)
        let isFlood = limit.isExceeded(byBytes: 20, at: Self.start + .milliseconds(999))
        #expect(isFlood)
        #expect(count(20, &limit, at: Self.start + .seconds(1)) == 4000)
        #expect(count(20, &limit, at: Self.start + .hours(1)) == 4000)
    }

    @Test func `long messages: 64 MiB within a second`() {
        var limit = FloodLimit()
        #expect(count(1 << 20, &limit, at: Self.start) == 64)
        #expect(count(1 << 20, &limit, at: Self.start + .seconds(1)) == 64)
    }
}
