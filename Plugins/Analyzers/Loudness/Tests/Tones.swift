import Foundation
import Hemiola
import HemiolaTesting
import LoudnessAnalyzer

/// A part of a test signal: a level in dBFS (peak), or nil for silence, and a length in seconds.
typealias Part = (level: Double?, seconds: Double)

/// Interleaved sines of 1 kHz with the same phase in all channels, one part after the other without a step in phase.
func tone(_ parts: [Part], sampleRate: Int = 48_000, channelCount: Int = 2) -> [Float] {
    var samples: [Float] = []
    var frame = 0
    for part in parts {
        let frames = Int((part.seconds * Double(sampleRate)).rounded())
        let amplitude = part.level.map { pow(10, $0 / 20) } ?? 0
        for index in frame..<frame + frames {
            let value = amplitude == 0 ? 0 : Float(amplitude * sin(2 * .pi * 1000 * Double(index) / Double(sampleRate)))
            for _ in 0..<channelCount { samples.append(value) }
        }
        frame += frames
    }
    return samples
}

/// The output of the analyzer for interleaved samples.
func measure(
    _ samples: [Float], settings: String = "", sampleRate: Int = 48_000, channelCount: Int = 2, map: ChannelMap? = nil,
    batchFrames: Int = 1024
) throws -> AnalyzerHarness.Output {
    let format = StreamFormat(sampleRate: sampleRate, channelCount: channelCount, channelMap: map)
    let harness = try AnalyzerHarness(
        .loudness, settings: settings, format: AnalysisFormat(format, batching: Batching(batchFrames: batchFrames)!))
    return harness.process(samples)
}

extension AnalyzerHarness.Output {
    /// A value of the summary; NaN: none.
    func summary(_ name: String) -> Double {
        guard let value = summary.first(where: { $0.name == name }), case .feature(let number, _) = value.value else { return -999 }
        return number
    }

    /// A feature of one value, for the batches from one time to another.
    func value(_ name: String, from start: Double, to end: Double, batchFrames: Int = 1024, sampleRate: Int = 48_000) -> [Float] {
        let secondsPerBatch = Double(batchFrames) / Double(sampleRate)
        return values(name).enumerated().filter { index, _ in
            let end1 = Double(index + 1) * secondsPerBatch
            return end1 >= start && end1 <= end
        }.map { $0.element[0] }
    }
}
