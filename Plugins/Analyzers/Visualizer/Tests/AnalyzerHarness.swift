import Hemiola

@testable import VisualizerAnalyzer

/// Runs a visualizer analyzer hop by hop as the engine does, and collects the rows of its batches.
final class AnalyzerHarness {
    let format: AnalysisFormat
    let analyzer: any Analyzer
    let outputs: AnalyzerOutputs
    private let bank: SpectrumBank
    private var clock: Int64 = 0

    /// - Parameter settings: The part of a plugin spec after the colon.
    init(_ settings: String = "", sampleRate: Int = 44_100, channels: Int = 1, map: ChannelMap? = nil, batch: Int = 1024) throws {
        let about = AnalyzerPlugin.visualizer.about
        let spec = try PluginSpec(parsing: settings.isEmpty ? about.id : "\(about.id):\(settings)")
        var problems: [Problem] = []
        guard let values = about.values(from: spec, problems: &problems) else {
            throw Problem(problems)
        }
        analyzer = try AnalyzerPlugin.visualizer.make(values)
        format = AnalysisFormat(
            StreamFormat(sampleRate: sampleRate, channelCount: channels, channelMap: map), batching: Batching(batchFrames: batch)!)
        outputs = try analyzer.prepare(format)
        bank = SpectrumBank(outputs.spectra, hopFrames: format.hopFrames, sampleRate: sampleRate)
    }

    /// Seconds from one batch to the next.
    var batchSeconds: Double { Double(format.batching.batchFrames) / Double(format.sampleRate) }

    /// Processes interleaved samples. The last hop is zero-padded.
    ///
    /// - Returns: The row of each batch.
    func process(_ samples: [Float]) -> [Row] {
        let channels = format.channelCount
        let total = samples.count / channels
        var rows: [Row] = []
        var values = [Float](repeating: .nan, count: outputs.width)
        var mono = [Float](repeating: 0, count: format.hopFrames)
        var (first, index) = (0, 0)
        while first < total {
            let frames = min(format.hopFrames, total - first)
            let slice = Array(samples[first * channels..<(first + frames) * channels])
            for frame in frames..<format.hopFrames { mono[frame] = 0 }
            var mix = mono.mutableSpan
            _ = mix.mix(slice.span, by: ChannelMix(format.format))
            process(slice, mono, index, into: &values)
            first += frames
            clock += Int64(frames)
            index += 1
            if index == format.batching.hopsPerBatch || first == total {
                // All features have the value of the last hop.
                rows.append(Row(values, outputs))
                index = 0
            }
        }
        return rows
    }

    /// Reports a gap.
    func skip(frames: Int64) {
        analyzer.skip(Gap(frames: frames, reason: .overrun))
        bank.clear()
        clock += frames
    }

    /// Begins another stream.
    func prepare() throws {
        _ = try analyzer.prepare(format)
        bank.clear()
        clock = 0
    }

    private func process(_ samples: [Float], _ mono: [Float], _ index: Int, into values: inout [Float]) {
        bank.advance(mono.span, at: clock)
        let slots = bank.slots(0..<outputs.spectra.count)
        let hop = Hop(
            frame: clock, frameCount: samples.count / format.channelCount, indexInBatch: index, format: format.format,
            mono: mono.span, samples: samples.span, slots: slots.span)
        var events = EventList()
        var row = FeatureRow(values.mutableSpan)
        analyzer.process(hop, into: &row, events: &events)
    }
}

/// The values of a batch.
struct Row: Equatable {
    static let levelNames = ["bass", "mid", "treb", "bass_att", "mid_att", "treb_att", "vol"]

    /// In the order of `levelNames`.
    var levels: [Float]
    var bars: [Float]

    init(_ values: [Float], _ outputs: AnalyzerOutputs) {
        levels = Array(values[..<Self.levelNames.count])
        bars = Array(values[Self.levelNames.count...])
    }

    func callAsFunction(_ name: String) -> Float { levels[Self.levelNames.firstIndex(of: name)!] }
}
