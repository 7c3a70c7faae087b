import Hemiola
import HemiolaRecords
import HemiolaSignal
import Testing

@Suite struct StreamClockTests {
    private static let batch = 1024 / 44_100.0

    /// The largest error of the mapping after five seconds.
    ///
    /// - Parameter drift: Relative difference of the clocks.
    private func error(drift: Double, delay: (inout SplitMix64) -> Double) -> Double {
        var (clock, random) = (StreamClock(), SplitMix64(seed: 1))
        var largest = 0.0
        for number in 1...26_000 {
            let end = Double(number) * Self.batch
            let complete = 100 + end * (1 + drift)
            clock.add(end: end, at: complete + delay(&random))
            if end > 5 { largest = max(largest, abs(clock.time(of: end)! - complete)) }
        }
        return largest
    }

    @Test(arguments: [0, 100e-6, -100e-6])
    func `half of the batches late by up to 10 ms: an error below 0.3 ms in ten minutes`(drift: Double) {
        #expect(error(drift: drift) { $0.uniform() < 0.5 ? 0.01 * $0.uniform() : 0 } < 0.0003)
    }

    @Test func `one batch in ten is not late: an error below 0.5 ms`() {
        #expect(error(drift: 0) { $0.uniform() < 0.9 ? 0.002 + 0.03 * $0.uniform() : 0 } < 0.0005)
    }

    @Test func `the first batches arrive together: the last of them counts`() {
        var clock = StreamClock()
        for number in 1...20 { clock.add(end: Double(number) * Self.batch, at: 1) }
        #expect(clock.offset.map { abs($0 - (1 - 20 * Self.batch)) < 1e-4 } == true)
    }

    @Test func `the stream pauses without a gap: the mapping follows within five seconds`() {
        var clock = StreamClock()
        for number in 1...1000 {
            let end = Double(number) * Self.batch
            clock.add(end: end, at: end + (number > 500 ? 3 : 0))
        }
        #expect(clock.offset.map { abs($0 - 3) < 0.002 } == true)
    }

    @Test func `no batch yet: no time`() {
        #expect(StreamClock().time(of: 1) == nil)
    }
}
