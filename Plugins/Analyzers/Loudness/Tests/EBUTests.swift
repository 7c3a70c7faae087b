import Foundation
import Hemiola
import HemiolaTesting
import LoudnessAnalyzer
import Testing

/// The test signals of EBU Tech 3341 (version 4, table 1) that consist of tones, generated from their descriptions, with the
/// tolerances given there. Cases 7 and 8 are recordings.
@Suite struct `EBU Tech 3341, loudness` {
    private static let tolerance = 0.1

    @Test(arguments: [(1, -23.0), (2, -33)])
    func `cases 1 and 2, stereo tone: momentary, short-term and integrated loudness equal its level`(_: Int, level: Double) throws {
        let output = try measure(tone([(level, 20)]))
        #expect(abs(output.summary("integrated_lufs") - level) <= Self.tolerance)
        for value in output.value("momentary_lufs", from: 0.5, to: 20) { #expect(abs(Double(value) - level) <= Self.tolerance) }
        for value in output.value("short_term_lufs", from: 3.1, to: 20) { #expect(abs(Double(value) - level) <= Self.tolerance) }
        for value in output.value("integrated_lufs", from: 0.5, to: 20) { #expect(abs(Double(value) - level) <= Self.tolerance) }
    }

    @Test(arguments: [44_100, 48_000, 96_000])
    func `cases 3 to 5, tones of different level: integrated loudness −23 LUFS`(sampleRate: Int) throws {
        let cases: [[Part]] = [
            [(-36, 10), (-23, 60), (-36, 10)], [(-72, 10), (-36, 10), (-23, 60), (-36, 10), (-72, 10)],
            [(-26, 20), (-20, 20.1), (-26, 20)],
        ]
        for (index, parts) in cases.enumerated() {
            let output = try measure(tone(parts, sampleRate: sampleRate), sampleRate: sampleRate)
            #expect(abs(output.summary("integrated_lufs") + 23) <= Self.tolerance, "case \(index + 3)")
        }
    }

    /// Front channels −28 dBFS, centre −24, surrounds −30; the LFE, which must not count, at full scale.
    private static func surround(_ positions: [ChannelPosition]) -> [Float] {
        let amplitudes = positions.map { position -> Double in
            switch position {
            case .frontLeft, .frontRight: pow(10, -28.0 / 20)
            case .frontCenter: pow(10, -24.0 / 20)
            case .lowFrequency: 1
            default: pow(10, -30.0 / 20)
            }
        }
        return (0..<20 * 48_000).flatMap { frame in
            amplitudes.map { Float($0 * sin(2 * .pi * 1000 * Double(frame) / 48_000)) }
        }
    }

    @Test(arguments: [
        [ChannelPosition.frontLeft, .frontRight, .frontCenter, .backLeft, .backRight],
        [.frontLeft, .frontRight, .frontCenter, .lowFrequency, .sideLeft, .sideRight],
        [.frontCenter, .sideLeft, .frontLeft, .lowFrequency, .frontRight, .sideRight],
    ])
    func `case 6, 5 point 0 and 5 point 1: channels weighted by their positions`(positions: [ChannelPosition]) throws {
        let output = try measure(
            Self.surround(positions), channelCount: positions.count, map: ChannelMap(positions))
        #expect(abs(output.summary("integrated_lufs") + 23) <= Self.tolerance)
    }

    @Test func `case 9, levels that alternate within 3 s: short-term loudness constant`() throws {
        let parts = (0..<5).flatMap { _ -> [Part] in [(-20, 1.34), (-30, 1.66)] }
        let output = try measure(tone(parts))
        let values = output.value("short_term_lufs", from: 3.02, to: 15)
        #expect(values.count > 500)
        for value in values { #expect(abs(Double(value) + 23) <= Self.tolerance) }
    }

    @Test func `case 10, tone of 3 s with any start: maximum of the short-term loudness equals its level`() throws {
        for index in 0..<20 {
            let output = try measure(tone([(nil, Double(index) * 0.15), (-23, 3), (nil, 1)]))
            #expect(abs(output.summary("max_short_term_lufs") + 23) <= Self.tolerance, "file \(index)")
        }
    }

    @Test func `case 11, tones of 3 s in one file: maximum of the short-term loudness of each equals its level`() throws {
        let parts = (0..<20).flatMap { index -> [Part] in
            let delay = Double(index) * 0.15
            return [(nil, delay), (Double(index - 38), 3), (nil, 3 - delay)]
        }
        let output = try measure(tone(parts), batchFrames: 480)
        for index in 0..<20 {
            let values = output.value("short_term_lufs", from: Double(index) * 6 + 0.005, to: Double(index + 1) * 6, batchFrames: 480)
            let highest = try #require(values.filter { !$0.isNaN }.max())
            #expect(abs(Double(highest) - Double(index - 38)) <= Self.tolerance, "tone \(index)")
        }
        #expect(abs(output.summary("max_short_term_lufs") + 19) <= Self.tolerance)
    }

    @Test func `case 12, levels that alternate within 400 ms: momentary loudness constant`() throws {
        let parts = (0..<25).flatMap { _ -> [Part] in [(-20, 0.18), (-30, 0.22)] }
        let output = try measure(tone(parts))
        let values = output.value("momentary_lufs", from: 1, to: 10)
        #expect(values.count > 400)
        for value in values { #expect(abs(Double(value) + 23) <= Self.tolerance) }
    }

    @Test func `case 13, tone of 400 ms with any start: maximum of the momentary loudness equals its level`() throws {
        for index in 0..<20 {
            let output = try measure(tone([(nil, Double(index) * 0.02), (-23, 0.4), (nil, 1)]))
            #expect(abs(output.summary("max_momentary_lufs") + 23) <= Self.tolerance, "file \(index)")
        }
    }

    @Test func `case 14, tones of 400 ms in one file: maximum of the momentary loudness of each equals its level`() throws {
        let parts = (0..<20).flatMap { index -> [Part] in
            let delay = Double(index) * 0.02
            return [(nil, delay), (Double(index - 38), 0.4), (nil, 0.4 - delay)]
        }
        let output = try measure(tone(parts), batchFrames: 480)
        for index in 0..<20 {
            let values = output.value("momentary_lufs", from: Double(index) * 0.8 + 0.005, to: Double(index + 1) * 0.8, batchFrames: 480)
            let highest = try #require(values.filter { !$0.isNaN }.max())
            #expect(abs(Double(highest) - Double(index - 38)) <= Self.tolerance, "tone \(index)")
        }
    }
}

/// Cases 15 to 23: true peak, with a tolerance of +0.2 and −0.4 dB.
@Suite struct `EBU Tech 3341, true peak` {
    private func expect(_ samples: [Float], toHavePeak level: Double, _ place: Comment) throws {
        let output = try measure(samples)
        let difference = output.summary("true_peak_dbtp") - level
        #expect(difference <= 0.2 && difference >= -0.4, place)
        // The largest value of all batches is that of the stream.
        let highest = output.values("true_peak_dbtp").map { $0[0] }.filter { !$0.isNaN }.max() ?? -999
        #expect(abs(Double(highest) - output.summary("true_peak_dbtp")) < 1e-3, place)
    }

    @Test func `cases 15 to 19, sines whose samples miss the peak: true peak within the tolerance`() throws {
        let cases: [(divisor: Double, degrees: Double, amplitude: Double, level: Double)] = [
            (4, 0, 0.5, -6), (4, 45, 0.5, -6), (6, 60, 0.5, -6), (8, 67.5, 0.5, -6), (4, 45, 1.41, 3),
        ]
        for (index, signal) in cases.enumerated() {
            let samples = (0..<48_000).flatMap { frame -> [Float] in
                // A fade of 10 ms: an abrupt start would have a peak of its own.
                let fade = min(1, Double(frame) / 480, Double(48_000 - frame) / 480)
                let phase = 2 * .pi * Double(frame) / signal.divisor + signal.degrees / 180 * .pi
                let value = Float(fade * signal.amplitude * sin(phase))
                return [value, value]
            }
            try expect(samples, toHavePeak: signal.level, "case \(index + 15)")
        }
    }

    @Test func `cases 20 to 23, one period at full scale, sampled at four offsets: true peak within the tolerance`() throws {
        // At four times the sample rate: a period of fs/4 with amplitude 1 in a sine of fs/6 with amplitude 0.5.
        let sine = (0..<48_000).map { (frame: Int) -> Double in 0.5 * sin(2 * .pi * Double(frame) / 24) }
        let period = (0..<16).map { (frame: Int) -> Double in sin(2 * .pi * Double(frame) / 16) }
        let samples = [Double](sine[..<24_000]) + period + [Double](sine[24_000...])
        // A low-pass filter: a sinc of 255 coefficients with a Hann window.
        let filter = (-127...127).map { index -> Double in
            let x = Double(index) / 4
            let sinc = index == 0 ? 1 : sin(.pi * x) / (.pi * x)
            let window = 0.5 + 0.5 * cos(.pi * Double(index) / 128)
            return sinc / 4 * window
        }
        for offset in 0..<4 {
            let decimated = stride(from: 127 + offset, to: samples.count - 127, by: 4).flatMap { center -> [Float] in
                var sum = 0.0
                for index in -127...127 { sum += samples[center + index] * filter[index + 127] }
                let fade = min(1, Double(center) / 2000, Double(samples.count - center) / 2000)
                return [Float(sum * fade), Float(sum * fade)]
            }
            try expect(decimated, toHavePeak: 0, "case \(20 + offset)")
        }
    }
}

/// The test signals of EBU Tech 3342 that consist of tones.
@Suite struct `EBU Tech 3342, loudness range` {
    @Test(arguments: [48_000, 44_100])
    func `cases 1 to 4, tones of 20 s: loudness range equals the difference of their levels`(sampleRate: Int) throws {
        let cases: [(levels: [Double], range: Double)] = [
            ([-20, -30], 10), ([-20, -15], 5), ([-40, -20], 20), ([-50, -35, -20, -35, -50], 15),
        ]
        for (index, signal) in cases.enumerated() {
            let output = try measure(tone(signal.levels.map { ($0, 20) }, sampleRate: sampleRate), sampleRate: sampleRate)
            #expect(abs(output.summary("range_lu") - signal.range) <= 1, "case \(index + 1)")
        }
    }
}
