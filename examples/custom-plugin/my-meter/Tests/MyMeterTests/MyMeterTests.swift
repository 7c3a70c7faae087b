import Hemiola
import HemiolaTesting
import MyMeter
import Testing

@Suite struct MyMeterTests {
    @Test func `conforms to the rules of analyzers`() throws {
        try AnalyzerConformanceSuite(.myMeter).run()
    }

    @Test func `sine: its crest factor is the square root of 2`() throws {
        let output = try AnalyzerHarness(.myMeter).process(TestSignal.sine(440, frames: 44_100))
        // The last batch has a part of a period.
        #expect(output.values("crest").joined().dropLast().allSatisfy { abs($0 - 1.414) < 0.05 })
    }
}
