import Hemiola
import HemiolaTesting
import LevelsAnalyzer
import SpectrumAnalyzer
import Testing

@Suite struct ConformanceTests {
    @Test func `levels: conforms`() throws {
        try AnalyzerConformanceSuite(.levels).run()
    }

    @Test(arguments: ["", "bands=32,scale=mel-slaney,mfcc=13", "size=512,bands=0,magnitudes=true,max_hz=4000"])
    func `spectrum: conforms`(settings: String) throws {
        try AnalyzerConformanceSuite(.spectrum, settings: settings).run()
    }

    @Test func `analyzer that loads a model: conforms, and runs in the harness`() throws {
        try AnalyzerConformanceSuite(.loaded()).run()
        #expect(try AnalyzerHarness(.loaded()).process(TestSignal.silence(frames: 1024)).values("value") == [[1]])
    }

    @Test func `scripted capture: conforms`() throws {
        let music = TestSignal.noise(seed: 3, frames: 10_000)
        try CaptureConformanceSuite(
            .scripted(
                isRewindable: true,
                [
                    .samples(music, fragment: 333), .gap(Gap(frames: 5, reason: .overrun)), .idle(times: 2), .samples(music),
                ])
        ).run()
    }

    @Test func `collecting sink: conforms`() throws {
        try SinkConformanceSuite(.collecting(CollectingSink())).run()
    }
}
