import AnalysisSupport
import Foundation
import Hemiola
import HemiolaTesting
import LevelsAnalyzer
import References
import TestSupport
import Testing

/// Decibels as the reference defines them.
private func decibels(_ amplitude: Double) -> Double {
    max(-120, 20 * log10(amplitude))
}

@Suite struct `LevelsAnalyzer, reference vectors` {
    static let inputs = [ReferenceVectors.shared.mono, ReferenceVectors.shared.stereo]

    /// In dB. Single precision carries 1e-5 dB at the floor; the rest is for the sum of squares.
    static let tolerance = 2e-5

    @Test(arguments: [0, 1])
    func `RMS and peak of each batch: the reference's`(input: Int) async throws {
        let reference = Self.inputs[input]
        let analysis = try await Analysis(of: Audio(wav: reference.path), .levels)
        #expect(analysis.batches.count == reference.batches)
        for (batch, (rms, peak)) in zip(analysis.value("rms_db"), analysis.value("peak_db")).enumerated() {
            #expect(abs(Double(rms) - decibels(reference.levels.rms[batch])) <= Self.tolerance, "batch \(batch)")
            #expect(abs(Double(peak) - decibels(reference.levels.peak[batch])) <= Self.tolerance, "batch \(batch)")
        }
    }

    @Test(arguments: [0, 1])
    func `RMS and peak of each channel: the reference's`(input: Int) async throws {
        let reference = Self.inputs[input]
        let analysis = try await Analysis(of: Audio(wav: reference.path), .levels)
        let (rms, peak) = (analysis.values("channel_rms_db"), analysis.values("channel_peak_db"))
        for batch in 0..<reference.batches {
            #expect(rms[batch].count == reference.channels)
            for channel in 0..<reference.channels {
                let place: Comment = "batch \(batch), channel \(channel)"
                let expectedRMS = decibels(reference.levels.channelRms[batch][channel])
                let expectedPeak = decibels(reference.levels.channelPeak[batch][channel])
                #expect(abs(Double(rms[batch][channel]) - expectedRMS) <= Self.tolerance, place)
                #expect(abs(Double(peak[batch][channel]) - expectedPeak) <= Self.tolerance, place)
            }
        }
    }
}

@Suite struct `LevelsAnalyzer, known signals` {
    @Test(arguments: [8_000, 44_100, 48_000, 96_000])
    func `full-scale sine: RMS −3.01 dB, peak 0 dB`(sampleRate: Int) async throws {
        // 16 whole periods in every batch, of 64 frames each, so that a sample stands on the crest.
        let sine = Audio.sine(Double(sampleRate) / 64, frames: 8 * 1024, sampleRate: sampleRate)
        let analysis = try await Analysis(of: sine, .levels)
        for level in analysis.value("rms_db") { #expect(abs(level - -3.0103) < 1e-4) }
        for level in analysis.value("peak_db") { #expect(abs(level) < 1e-5) }
    }

    @Test func `silence: −120 dB`() async throws {
        let analysis = try await Analysis(of: .silence(frames: 2048), .levels)
        for batch in analysis.batches { #expect(batch.row == [-120, -120, -120, -120]) }
    }

    @Test(arguments: [1, 2, 3, 6, 32])
    func `channels at different levels: one level each, without the padding`(channelCount: Int) async throws {
        // Constant levels, 1 dB apart, in frames that fill no batch: 1024 and 301.
        let audio = Audio(frames: 1325, channelCount: channelCount) { frame, channel in
            pow(10, -Double(channel) / 20) * (frame.isMultiple(of: 2) ? 1 : -1)
        }
        let analysis = try await Analysis(of: audio, .levels)
        #expect(analysis.batches.map(\.frameCount) == [1024, 301])
        let mean = (0..<channelCount).reduce(0) { $0 + pow(10, -Double($1) / 20) } / Double(channelCount)
        for batch in 0..<2 {
            #expect(abs(Double(analysis.value("rms_db")[batch]) - 20 * log10(mean)) < 1e-5)
            #expect(abs(Double(analysis.value("peak_db")[batch]) - 20 * log10(mean)) < 1e-5)
            for name in ["channel_rms_db", "channel_peak_db"] {
                let levels = analysis.values(name)[batch]
                #expect(levels.count == channelCount)
                for (channel, level) in levels.enumerated() { #expect(abs(level + Float(channel)) < 1e-5, "\(name) \(channel)") }
            }
        }
    }

    @Test(arguments: [1, 2, 3, 6, 32])
    func `noise: levels equal to a plain loop`(channelCount: Int) async throws {
        let audio = Audio.noise(frames: 3000, seed: 7, channelCount: channelCount)
        let analysis = try await Analysis(of: audio, .levels)
        for (batch, place) in analysis.batches.enumerated() {
            let frames = Int(place.frame)..<Int(place.frame) + place.frameCount
            for channel in 0..<channelCount {
                let samples = frames.map { Double(audio.samples[$0 * channelCount + channel]) }
                let rms = (samples.reduce(0) { $0 + $1 * $1 } / Double(samples.count)).squareRoot()
                let peak = samples.map(abs).max()!
                #expect(abs(Double(analysis.values("channel_rms_db")[batch][channel]) - decibels(rms)) < 1e-5)
                #expect(abs(Double(analysis.values("channel_peak_db")[batch][channel]) - decibels(peak)) < 1e-5)
            }
        }
    }

    @Test(arguments: [256, 1000, 1024, 1280, 4096, 8192])
    func `any batch length: the level of exactly the batch's frames`(batchFrames: Int) async throws {
        let audio = Audio.noise(frames: 10_000, seed: 3, channelCount: 2)
        let analysis = try await Analysis(of: audio, .levels, batchFrames: batchFrames)
        let mono = audio.mono
        #expect(analysis.batches.reduce(0) { $0 + $1.frameCount } == 10_000)
        for (batch, place) in analysis.batches.enumerated() {
            let samples = mono[Int(place.frame)..<Int(place.frame) + place.frameCount].map(Double.init)
            let rms = (samples.reduce(0) { $0 + $1 * $1 } / Double(samples.count)).squareRoot()
            #expect(abs(Double(analysis.value("rms_db")[batch]) - decibels(rms)) < 2e-5)
            #expect(abs(Double(analysis.value("peak_db")[batch]) - decibels(samples.map(abs).max()!)) < 2e-5)
        }
    }

    @Test func `samples above full scale: above 0 dB`() async throws {
        let analysis = try await Analysis(of: Audio(frames: 1024) { _, _ in 2 }, .levels)
        #expect(abs(analysis.value("peak_db")[0] - 6.0206) < 1e-4)
    }
}

@Suite struct `LevelsAnalyzer, header and summary` {
    @Test func `mono stream: array of one channel level`() throws {
        let outputs = try AnalyzerPlugin.levels.analyzer().prepare(AnalysisFormat(StreamFormat(sampleRate: 44_100, channelCount: 1)))
        #expect(outputs.features.map(\.name) == ["rms_db", "peak_db", "channel_rms_db", "channel_peak_db"])
        #expect(outputs.features.map(\.isArray) == [false, false, true, true])
        #expect(outputs.features.allSatisfy { $0.unit == .decibels && $0.minimum == -120 && $0.centerOffset == nil })
        #expect(outputs.latencyFrames == 0)
        #expect(outputs.isCausal)
    }

    /// RMS and peak of the summary.
    private func numbers(of analysis: Analysis) throws -> [Double] {
        let section = try #require(analysis.stream.summary?.sections.first)
        #expect(section.analyzer == "levels")
        #expect(section.values.map(\.name) == ["rms_db", "peak_db"])
        return section.values.map { value in
            guard case .feature(let number, .decibels) = value.value else { return .nan }
            return number
        }
    }

    @Test func `summary: levels of the whole stream for any batch length`() async throws {
        let loud = Audio.sine(44_100 / 64, amplitude: 0.5, frames: 6400)
        let audio = loud.followed(by: .silence(frames: 6400))
        for batchFrames in [256, 1024, 4096] {
            let analysis = try await Analysis(of: audio, .levels, batchFrames: batchFrames)
            let numbers = try numbers(of: analysis)
            // Half of the time silence, half of the time a sine of 0.5: an eighth in power, over two.
            #expect(abs(numbers[0] - 10 * log10(0.0625)) < 1e-4)
            #expect(abs(numbers[1] - 20 * log10(0.5)) < 1e-4)
        }
    }

    @Test func `summary of no frames: −120 dB`() throws {
        let analyzer = try AnalyzerPlugin.levels.analyzer()
        _ = try analyzer.prepare(AnalysisFormat(StreamFormat(sampleRate: 44_100, channelCount: 2)))
        let summary = analyzer.summary()
        #expect(summary == [SummaryValue("rms_db", -120, .decibels), SummaryValue("peak_db", -120, .decibels)])
    }

    @Test func `gap: not counted`() async throws {
        let tone = Audio(frames: 1500) { _, _ in 0.5 }
        let analysis = try await Analysis(
            of: [.samples(tone.samples), .gap(Gap(frames: 5000, reason: .overrun)), .samples(tone.samples)], tone.format, .levels)
        #expect(analysis.batches.map(\.frame) == [0, 1024, 6500, 7524])
        for level in analysis.value("rms_db") { #expect(abs(level - -6.0206) < 1e-4) }
        let numbers = try numbers(of: analysis)
        #expect(abs(numbers[0] - -6.0206) < 1e-4)
    }
}

@Suite struct `LevelsAnalyzer, plugin` {
    @Test func `conformance tests: passed`() throws {
        try AnalyzerConformanceSuite(.levels).run()
    }
}
