import AnalysisSupport
import Foundation
import Hemiola
import HemiolaTesting
import LoudnessAnalyzer
import TestSupport
import Testing

@Suite struct `LoudnessAnalyzer, formats` {
    @Test(arguments: [8_000, 11_025, 22_050, 32_000, 44_100, 88_200, 96_000, 176_400, 192_000, 384_000])
    func `mono tone at any sample rate: loudness 3 dB below that of stereo, true peak its level`(sampleRate: Int) throws {
        let output = try measure(tone([(-20, 4)], sampleRate: sampleRate, channelCount: 1), sampleRate: sampleRate, channelCount: 1)
        for name in ["integrated_lufs", "max_momentary_lufs", "max_short_term_lufs"] {
            #expect(abs(output.summary(name) + 23.01) <= 0.1, "\(name)")
        }
        #expect(abs(output.summary("true_peak_dbtp") + 20) <= 0.1)
        #expect(output.summary("range_lu") < 0.1)
    }

    @Test func `dual_mono: the loudness of mono is that of the same signal in two channels; stereo is as without it`() throws {
        let mono = try measure(tone([(-20, 4)], channelCount: 1), settings: "dual_mono=true", channelCount: 1)
        let stereo = try measure(tone([(-20, 4)]))
        #expect(try measure(tone([(-20, 4)]), settings: "dual_mono=true").summary == stereo.summary)
        for name in ["integrated_lufs", "max_momentary_lufs", "max_short_term_lufs", "true_peak_dbtp"] {
            #expect(abs(mono.summary(name) - stereo.summary(name)) < 1e-6, "\(name)")
        }
    }

    @Test func `32 channels: the sum of their energies`() throws {
        let output = try measure(tone([(-40, 2)], channelCount: 32), channelCount: 32)
        #expect(abs(output.summary("integrated_lufs") - (-43.01 + 10 * log10(32))) <= 0.1)
        #expect(output.values("channel_true_peak_dbtp")[10].count == 32)
    }

    /// The loudness of a layout in which only one channel has a signal, relative to that of a front channel, in LU.
    private func weight(of position: ChannelPosition, in positions: [ChannelPosition]) throws -> Double {
        let map = try #require(ChannelMap(positions))
        func loudness(_ position: ChannelPosition) throws -> Double {
            let samples = tone([(-20, 1)], channelCount: 1).flatMap { value in positions.map { $0 == position ? value : 0 } }
            return try measure(samples, channelCount: positions.count, map: map).summary("integrated_lufs")
        }
        return try loudness(position) - loudness(.frontLeft)
    }

    @Test func `7 point 1: side channels +1,5 dB, back channels and those above 0 dB, LFE not measured`() throws {
        let positions: [ChannelPosition] = [
            .frontLeft, .frontRight, .frontCenter, .lowFrequency, .backLeft, .backRight, .sideLeft, .sideRight, .topFrontLeft,
        ]
        for position in [ChannelPosition.sideLeft, .sideRight] {
            #expect(abs(try weight(of: position, in: positions) - 1.49) < 0.01)
        }
        for position in [ChannelPosition.backLeft, .backRight, .frontCenter, .topFrontLeft] {
            #expect(abs(try weight(of: position, in: positions)) < 1e-3)
        }
        #expect(try weight(of: .lowFrequency, in: positions).isNaN)
    }

    @Test func `six channels without positions: all count alike`() throws {
        let output = try measure(tone([(-30, 1)], channelCount: 6), channelCount: 6)
        #expect(abs(output.summary("integrated_lufs") - (-33.01 + 10 * log10(6))) <= 0.1)
    }

    @Test func `channels with different peaks: a true peak for each, and the largest`() throws {
        let samples = tone([(-6, 0.5)], channelCount: 1).flatMap { (value: Float) -> [Float] in [value, value / 2, 0] }
        let output = try measure(samples, channelCount: 3)
        let peaks = output.values("channel_true_peak_dbtp")[10]
        #expect(abs(peaks[0] + 6) < 0.05 && abs(peaks[1] + 12.02) < 0.05 && peaks[2].isNaN)
        #expect(output.values("true_peak_dbtp")[10][0] == peaks[0])
    }
}

@Suite struct `LoudnessAnalyzer, time` {
    @Test func `values before there is enough audio: null`() throws {
        let output = try measure(tone([(-23, 4)]))
        #expect(output.value("momentary_lufs", from: 0, to: 0.399).allSatisfy { $0.isNaN })
        #expect(output.value("momentary_lufs", from: 0.43, to: 4).allSatisfy { !$0.isNaN })
        #expect(output.value("integrated_lufs", from: 0, to: 0.399).allSatisfy { $0.isNaN })
        #expect(output.value("integrated_lufs", from: 0.43, to: 4).allSatisfy { !$0.isNaN })
        #expect(output.value("short_term_lufs", from: 0, to: 2.999).allSatisfy { $0.isNaN })
        #expect(output.value("short_term_lufs", from: 3.03, to: 4).allSatisfy { !$0.isNaN })
        #expect(output.value("range_lu", from: 0, to: 2.999).allSatisfy { $0.isNaN })
        #expect(output.value("range_lu", from: 3.03, to: 4).allSatisfy { $0 == 0 })
    }

    @Test func `silence: no values`() throws {
        let output = try measure(tone([(nil, 5)]))
        #expect(output.rows.allSatisfy { $0.allSatisfy(\.isNaN) })
        #expect(
            output.summary.map(\.name)
                == ["integrated_lufs", "range_lu", "true_peak_dbtp", "max_momentary_lufs", "max_short_term_lufs"])
        for value in output.summary { #expect(output.summary(value.name).isNaN) }
    }

    @Test func `silence after a tone: momentary and short-term loudness null, integrated loudness without the silence`() throws {
        let output = try measure(tone([(-23, 4), (nil, 6)]))
        #expect(output.value("momentary_lufs", from: 5, to: 10).allSatisfy { $0.isNaN })
        #expect(output.value("short_term_lufs", from: 7.5, to: 10).allSatisfy { $0.isNaN })
        // Three blocks contain the end of the tone: their energies are 3/4, 2/4 and 1/4 of that of the 37 blocks before.
        let expected = -23 + 10 * log10((37 + 1.5) / 40)
        #expect(abs(output.summary("integrated_lufs") - expected) < 0.02)
    }

    @Test func `any batch length: the same summary in every bit, and the same last values`() throws {
        let samples = TestSignal.noise(seed: 5, amplitude: 0.3, frames: 250_000, format: StreamFormat(sampleRate: 44_100, channelCount: 2))
        let outputs = try [256, 441, 1000, 1024, 1280, 4096, 8192].map {
            try measure(samples, sampleRate: 44_100, batchFrames: $0)
        }
        for output in outputs {
            #expect(output.summary == outputs[0].summary)
            for name in ["momentary_lufs", "short_term_lufs", "integrated_lufs", "range_lu"] {
                #expect(output.values(name).last == outputs[0].values(name).last, "\(name)")
            }
            let highest = output.values("true_peak_dbtp").map { $0[0] }.max()
            #expect(highest == outputs[0].values("true_peak_dbtp").map { $0[0] }.max())
        }
        #expect(!outputs[0].summary("range_lu").isNaN)
    }

    @Test func `gap: windows start anew, the lost frames are not measured`() async throws {
        let part = tone([(-23, 4)])
        let format = StreamFormat(sampleRate: 48_000, channelCount: 2)
        let whole = try await Analysis(of: [.samples(part)], format, .loudness)
        let analysis = try await Analysis(
            of: [.samples(part), .gap(Gap(frames: 480_000, reason: .overrun)), .samples(part)], format, .loudness)
        let (momentary, shortTerm) = (analysis.value("momentary_lufs"), analysis.value("short_term_lufs"))
        let first = try #require(analysis.batches.firstIndex { $0.frame >= 672_000 })
        let second = Double(48_000) / 1024
        #expect(!momentary[first - 1].isNaN && !shortTerm[first - 1].isNaN)
        for batch in first..<first + Int(0.4 * second) { #expect(momentary[batch].isNaN) }
        for batch in first..<first + Int(3 * second) { #expect(shortTerm[batch].isNaN) }
        for batch in first + Int(0.45 * second)..<momentary.count { #expect(abs(momentary[batch] + 23) < 0.1) }
        for batch in first + Int(3.05 * second)..<shortTerm.count { #expect(abs(shortTerm[batch] + 23) < 0.1) }
        let summary = try #require(analysis.stream.summary?.sections.first?.values)
        let wholeSummary = try #require(whole.stream.summary?.sections.first?.values)
        guard case .feature(let loudness, "LUFS") = summary[0].value, case .feature(let expected, _) = wholeSummary[0].value else {
            Issue.record("\(summary)")
            return
        }
        #expect(abs(loudness - expected) < 0.01)
    }

    @Test func `loud samples beyond full scale: finite values above 0`() throws {
        let output = try measure(tone([(60, 1)]))
        #expect(abs(output.summary("integrated_lufs") - 60) < 0.1)
        #expect(abs(output.summary("true_peak_dbtp") - 60) < 0.1)
        let extreme = try measure([Float](repeating: .greatestFiniteMagnitude, count: 96_000))
        #expect(extreme.rows.joined().allSatisfy { !$0.isInfinite })
        #expect(extreme.summary("true_peak_dbtp").isFinite)
    }
}

@Suite struct `LoudnessAnalyzer, plugin` {
    @Test func `conformance tests: passed`() throws {
        try AnalyzerConformanceSuite(.loudness).run()
    }
}
