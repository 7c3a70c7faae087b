import HemiolaSystem
import Testing

@Suite struct RetryDelayTests {
    private func pauses(_ count: Int, _ delay: RetryDelay) -> [Double] {
        var delay = delay
        return (0..<count).map { _ in delay.noteFailure(at: 0) }
    }

    @Test func `failures: the pauses grow from the first to the longest one`() {
        #expect(pauses(9, RetryDelay(longest: 10)) == [0.1, 0.2, 0.5, 1, 2, 5, 10, 10, 10])
        #expect(pauses(7, RetryDelay(first: 1, longest: 30)) == [1, 2, 5, 10, 20, 30, 30])
        #expect(pauses(2, RetryDelay(first: 3, longest: 3)) == [3, 3])
        #expect((0...7).map { RetryDelay.seconds(after: $0) } == [0.1, 0.1, 0.2, 0.5, 1, 2, 2, 2])
    }

    @Test func `failure after a long run: counts as the first`() {
        var delay = RetryDelay(longest: 10)
        for _ in 0..<9 {
            delay.noteStart(at: 100)
            delay.noteFailure(at: 101)
        }
        delay.noteStart(at: 200)
        #expect(delay.noteFailure(at: 209) == 10)
        delay.noteStart(at: 300)
        #expect(delay.noteFailure(at: 310) == 0.1)
        #expect(delay.nextAttempt == 310.1)
    }

    @Test func `success: the next failure counts as the first, and an attempt may be made at once`() {
        var delay = RetryDelay(longest: 2)
        for _ in 0..<5 { delay.noteFailure(at: 1) }
        delay.reset()
        #expect(delay.nextAttempt == 0)
        #expect(delay.noteFailure(at: 5) == 0.1)
    }
}
