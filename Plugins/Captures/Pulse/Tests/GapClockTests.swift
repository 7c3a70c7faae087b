import HemiolaSignal
import Testing

@testable import PulseCapture

@Suite struct GapClockTests {
    private static let rate = 48_000
    /// Nanoseconds of a millisecond.
    private static let ms: Int64 = 1_000_000

    /// A clock that has had a second of audio, in fragments of 10 ms, up to one second.
    private func running() -> GapClock {
        var clock = GapClock(sampleRate: Self.rate)
        for index in 1...100 { #expect(clock.receive(480, at: Int64(index) * 10 * Self.ms) == .deliver) }
        return clock
    }

    @Test(arguments: [Gap.Reason.serverLost, .deviceLost, .suspended])
    func `interruption: a gap from the end of the last fragment to the beginning of the next`(reason: Gap.Reason) {
        var clock = running()
        clock.interrupt(reason)
        #expect(clock.receive(480, at: 1_260 * Self.ms) == .deliverAfter(Gap(frames: 12_000, reason: reason)))
        #expect(clock.receive(480, at: 1_270 * Self.ms) == .deliver)
    }

    @Test func `interruption without loss: no gap`() {
        var clock = running()
        clock.interrupt(.deviceLost)
        #expect(clock.receive(480, at: 1_005 * Self.ms) == .deliver)
    }

    @Test func `several reasons: one gap with the one of highest precedence`() {
        var clock = running()
        clock.interrupt(.deviceLost)
        clock.interrupt(.serverLost)
        clock.interrupt(.suspended)
        #expect(clock.receive(480, at: 2_010 * Self.ms) == .deliverAfter(Gap(frames: 48_000, reason: .serverLost)))
    }

    @Test func `interruption before the first frame: no gap`() {
        var clock = GapClock(sampleRate: Self.rate)
        clock.interrupt(.serverLost)
        #expect(clock.receive(480, at: 5_000 * Self.ms) == .deliver)
    }

    @Test func `pause below the timeout: no gap`() {
        var clock = running()
        #expect(clock.receive(480, at: 1_500 * Self.ms) == .deliver)
    }

    @Test func `burst after a freeze: dropped and included in the gap`() throws {
        var clock = running()
        var now: Int64 = 4_000 * Self.ms
        // Three seconds of old audio, in 30 ms.
        for _ in 0..<300 {
            #expect(clock.receive(480, at: now) == .drop)
            now += Self.ms / 10
        }
        var decision = GapClock.Decision.drop
        for _ in 0..<50 where decision == .drop {
            now += 10 * Self.ms
            decision = clock.receive(480, at: now)
        }
        let lost = Int64(Self.rate) * (now - 10 * Self.ms - 1_000 * Self.ms) / 1_000_000_000
        #expect(decision == .deliverAfter(Gap(frames: lost, reason: .frozen)))
        #expect(now < 4_200 * Self.ms)
        #expect(clock.receive(480, at: now + 10 * Self.ms) == .deliver)
    }

    @Test(arguments: [600, 5_000])
    func `pause of this process: a gap with the reason stopped`(pause: Int64) throws {
        var clock = running()
        var now = (1_000 + pause) * Self.ms
        clock.notePause(pause * Self.ms)
        #expect(!clock.isOverdue(at: now))
        // The server sends the missed audio.
        for _ in 0..<40 { #expect(clock.receive(480, at: now) == .drop) }
        var decision = GapClock.Decision.drop
        for _ in 0..<50 where decision == .drop {
            now += 10 * Self.ms
            decision = clock.receive(480, at: now)
        }
        let lost = Int64(Self.rate) * (now - 10 * Self.ms - 1_000 * Self.ms) / 1_000_000_000
        #expect(decision == .deliverAfter(Gap(frames: lost, reason: .stopped)))
        #expect(clock.receive(480, at: now + 10 * Self.ms) == .deliver)
        // The pause no longer counts.
        #expect(clock.isOverdue(at: now + 600 * Self.ms))
    }

    @Test func `server that stops for longer than this process: frozen`() {
        var clock = running()
        clock.notePause(400 * Self.ms)
        #expect(!clock.isOverdue(at: 1_900 * Self.ms))
        #expect(clock.isOverdue(at: 1_901 * Self.ms))
        #expect(clock.receive(480, at: 1_911 * Self.ms) == .drop)
        #expect(clock.reason == .frozen)
    }

    @Test func `overdue audio: after half a second, not before the first frame, not twice`() {
        #expect(!GapClock(sampleRate: Self.rate).isOverdue(at: 10_000 * Self.ms))
        var clock = running()
        #expect(!clock.isOverdue(at: 1_500 * Self.ms))
        #expect(clock.isOverdue(at: 1_501 * Self.ms))
        clock.interrupt(.frozen)
        #expect(!clock.isOverdue(at: 1_501 * Self.ms))
    }

    @Test func `silence: exact to the frame over many steps`() {
        var clock = running()
        var paid = 0
        for step in 1...997 {
            let due = clock.framesDue(at: 1_000 * Self.ms + Int64(step) * 1_003_009)
            clock.advance(due)
            paid += due
        }
        #expect(abs(paid - 997 * 1_003_009 * Self.rate / 1_000_000_000) <= 1)
        #expect(clock.framesDue(at: 0) == 0)
    }

    @Test func `interruption that ends without audio: a gap up to that time`() {
        var clock = running()
        #expect(clock.resume(at: 1_500 * Self.ms) == nil)
        clock.interrupt(.serverLost)
        #expect(clock.resume(at: 1_500 * Self.ms) == Gap(frames: 24_000, reason: .serverLost))
        #expect(clock.framesDue(at: 1_510 * Self.ms) == 480)
    }
}
