import Foundation
import TestSupport
import Testing

/// The analyzer `loudness` against ffmpeg's filter `ebur128`.
@Suite struct LoudnessTests {
    /// The number behind the last occurrence of a label in ffmpeg's report.
    private func number(after label: String, in report: String) throws -> Double {
        let start = try #require(report.range(of: label, options: .backwards)).upperBound
        return try #require(Double(report[start...].drop { $0 == " " }.prefix { !$0.isWhitespace }))
    }

    @Test(
        .needs(.ffmpeg),
        arguments: [(filter: "ebur128=peak=true", analyzer: "loudness"), ("ebur128=peak=true:dualmono=true", "loudness:dual_mono=true")])
    func `bundled music: loudness, range and true peak within 0,1 of ffmpeg's`(filter: String, analyzer: String) throws {
        let folder = try TemporaryFolder()
        let mono = folder("mono.wav")
        let program = try #require(Tool.location(of: "ffmpeg"))
        let mix = try ChildProcess.run(
            program, ["-nostdin", "-v", "error", "-i", Hemiola.minuet, "-ac", "1", mono], timeout: Hemiola.timeout)
        try #require(mix.status == 0, "\(mix.errors)")
        for input in [Hemiola.minuet, mono] {
            let ffmpeg = try ChildProcess.run(
                program, ["-nostdin", "-hide_banner", "-nostats", "-i", input, "-af", filter, "-f", "null", "-"], timeout: Hemiola.timeout)
            #expect(ffmpeg.status == 0)
            let end = try #require(try Hemiola.records([input, "--analyzer", analyzer]).last)
            for (key, label) in [("integrated_lufs", "I:"), ("range_lu", "LRA:"), ("true_peak_dbtp", "Peak:")] {
                let value = try #require(end.double("summaries.loudness.\(key)"))
                // ffmpeg prints one decimal.
                #expect(abs(value - (try number(after: label, in: ffmpeg.errors))) <= 0.1 + 0.05, "\(input) \(key) \(value)")
            }
        }
    }
}
