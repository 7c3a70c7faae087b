import Hemiola
import HemiolaSignal
import HemiolaTesting
import LevelsAnalyzer
import SpectrumAnalyzer
import Testing

@Suite struct ExamTests {
    @Test func `levels passes`() throws {
        try AnalyzerExam(.levels).sit()
    }

    @Test(arguments: ["", "bands=32,scale=mel-slaney,mfcc=13", "size=512,bands=0,magnitudes=true,max_hz=4000"])
    func `spectrum passes`(settings: String) throws {
        try AnalyzerExam(.spectrum, settings: settings).sit()
    }

    @Test func `a scripted capture passes`() throws {
        let music = TestSignal.noise(seed: 3, frames: 10_000)
        try CaptureExam(
            .scripted(
                isRewindable: true,
                [
                    .samples(music, fragment: 333), .gap(Gap(frames: 5, reason: .overrun)), .idle(times: 2), .samples(music),
                ])
        ).sit()
    }

    @Test func `the collecting sink passes`() async throws {
        try await SinkExam(.collecting(CollectingSink())).sit()
    }
}
