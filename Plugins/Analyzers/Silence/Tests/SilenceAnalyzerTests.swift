import AnalysisSupport
import Foundation
import Hemiola
import HemiolaTesting
import SilenceAnalyzer
import TestSupport
import Testing

@Suite struct SilenceAnalyzerTests {
    private static let rate = 44_100
    /// Sound, silence and sound: a tone until 1 s, digital silence until 2.5 s, a tone until 4 s.
    private static let pause = Audio(frames: 4 * rate) { frame, _ in
        frame >= rate && frame < rate * 5 / 2 ? 0 : 0.3 * cos(Double(frame) * 0.05)
    }

    private func regions(_ analysis: Analysis, _ type: String) -> [(start: Double, duration: Double)] {
        analysis.stream.events.filter { $0.type.name == type }.map { ($0.time, $0["duration_s"].number ?? .nan) }
    }

    @Test func `conformance tests: passed`() throws {
        try AnalyzerConformanceSuite(.silence).run()
        try AnalyzerConformanceSuite(.silence, settings: "silence_db=-20,min_silence_s=0.1").run()
    }

    @Test(arguments: [256, 1000, 1024, 4096])
    func `silence between tones: start and duration to the frame, for any batch length`(batchFrames: Int) async throws {
        let analysis = try await Analysis(of: Self.pause, .silence, batchFrames: batchFrames)
        let (silences, sounds) = (regions(analysis, "silence"), regions(analysis, "sound"))
        #expect(silences.count == 1 && sounds.count == 2)
        // The tone crosses zero, so its last and first audible samples are up to a frame away.
        #expect(abs(silences[0].start - 1) < 2 / Double(Self.rate) && abs(silences[0].duration - 1.5) < 4 / Double(Self.rate))
        #expect(sounds[0].start == 0 && abs(sounds[1].start - 2.5) < 2 / Double(Self.rate))
        #expect(abs(sounds[1].start + sounds[1].duration - 4) < 1e-9)
        let silent = analysis.value("silent")
        #expect(silent.contains(1) && silent.first == 0 && silent.last == 0)
        #expect(abs((analysis.value("silence_s").max() ?? 0) - 1.5) < 0.1)
    }

    @Test func `pause shorter than min_silence_s: one sound`() async throws {
        let analysis = try await Analysis(of: Self.pause, .silence, "min_silence_s=2")
        #expect(regions(analysis, "silence").isEmpty)
        #expect(regions(analysis, "sound").map(\.duration) == [4])
    }

    @Test func `level within the hysteresis: the silence continues`() async throws {
        let audio = Audio(frames: 3 * Self.rate) { frame, _ in
            (frame % 2 == 0 ? 1 : -1) * (frame < Self.rate ? 0.5 : frame < 2 * Self.rate ? 0 : 0.0015)
        }
        let wide = try await Analysis(of: audio, .silence, "hysteresis_db=6")
        #expect(regions(wide, "silence").map(\.duration) == [2])
        let narrow = try await Analysis(of: audio, .silence, "hysteresis_db=0")
        #expect(regions(narrow, "silence").map(\.duration) == [1])
    }

    @Test(arguments: [256, 1000, 1024, 4096])
    func `constant offset: is silence, and sound on top of it is found to the frame`(batchFrames: Int) async throws {
        let audio = Audio(frames: 3 * Self.rate) { frame, _ in
            0.2 + (frame / Self.rate == 1 ? (frame % 2 == 0 ? 0.1 : -0.1) : 0)
        }
        let analysis = try await Analysis(of: audio, .silence, batchFrames: batchFrames)
        #expect(regions(analysis, "silence").map(\.start) == [0, 2] && regions(analysis, "silence").map(\.duration) == [1, 1])
        #expect(regions(analysis, "sound").map(\.start) == [1])
    }

    @Test func `crest of a bass note as long as a short batch: is no offset`() async throws {
        let audio = Audio(frames: 2 * Self.rate) { frame, _ in 0.5 * sin(Double(frame) * 0.004) }
        let analysis = try await Analysis(of: audio, .silence, batchFrames: 256)
        #expect(regions(analysis, "silence").isEmpty && regions(analysis, "sound").map(\.duration) == [2])
    }

    @Test func `gap: ends the region`() async throws {
        let tone = Audio(frames: Self.rate) { frame, _ in frame % 2 == 0 ? 0.5 : -0.5 }
        let analysis = try await Analysis(
            of: [.samples(tone.samples), .gap(Gap(frames: 44_100, reason: .overrun)), .samples(tone.samples)], tone.format, .silence)
        #expect(regions(analysis, "sound").map(\.start) == [0, 2])
        #expect(regions(analysis, "sound").map(\.duration) == [1, 1])
    }

    @Test(.enabled(if: Tool.ffmpeg.isExpected, "ffmpeg is not installed"))
    func `silences: equal those of ffmpeg's silencedetect within 0.1 ms`() async throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(
            WAVBytes(samples: Self.pause.samples, sampleRate: Self.rate, encoding: .float32).bytes, to: "pause.wav")
        let outcome = try ChildProcess.run(
            try #require(Tool.location(of: "ffmpeg")),
            ["-nostdin", "-hide_banner", "-i", path, "-af", "silencedetect=n=-60dB:d=0.5", "-f", "null", "-"])
        func number(_ key: String) throws -> Double {
            let range = try #require(outcome.errors.range(of: key + ": "))
            return try #require(Double(outcome.errors[range.upperBound...].prefix { $0.isNumber || $0 == "." }))
        }
        let analysis = try await Analysis(of: Self.pause, .silence, "hysteresis_db=0")
        let silence = try #require(regions(analysis, "silence").first)
        #expect(abs(silence.start - (try number("silence_start"))) < 1e-4)
        #expect(abs(silence.duration - (try number("silence_duration"))) < 1e-4)
    }
}
