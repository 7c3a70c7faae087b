import Hemiola
import HemiolaTesting
import MyPlugins
import Testing

@Suite struct ZeroCrossingsTests {
    @Test func `zero-crossings: conforms`() throws {
        try AnalyzerConformanceSuite(.zeroCrossings).run()
    }

    @Test func `sine of 440 Hz: 880 sign changes per second`() throws {
        let output = try AnalyzerHarness(.zeroCrossings).process(TestSignal.sine(440, frames: 44_100))
        let rates = output.values("rate_hz").joined().dropLast()
        #expect(rates.allSatisfy { abs($0 - 880) < 50 })
        #expect(output.events.isEmpty)
    }

    @Test func `noise after silence: one hiss record`() throws {
        let noise = TestSignal.silence(frames: 4096) + TestSignal.noise(seed: 1, frames: 44_100)
        let output = try AnalyzerHarness(.zeroCrossings).process(noise)
        #expect(output.events.map(\.type.name) == ["hiss"])
        #expect(output.events.first?.time == 4096.0 / 44_100)
    }
}
