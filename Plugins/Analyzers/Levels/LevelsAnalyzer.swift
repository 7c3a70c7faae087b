public import Hemiola

extension AnalyzerPlugin {
    /// RMS and peak level of the mono mix and of every channel.
    public static let levels = AnalyzerPlugin(
        PluginDescription("levels", "RMS and peak level of the mono mix and of every channel.", version: 2), settings: NoSettings.self
    ) { _ throws(Problem) in
        LevelsAnalyzer()
    }
}

/// The levels of a batch, over its frames without the zero padding.
///
/// In dBFS: a full-scale sine has an RMS level of −3.01 dB. The lowest level is −120 dB.
final class LevelsAnalyzer: Analyzer {
    private var channelCount = 1
    private var rms = FeatureHandle(offset: 0, count: 0)
    private var peak = FeatureHandle(offset: 0, count: 0)
    private var channelRMS = FeatureHandle(offset: 0, count: 0)
    private var channelPeak = FeatureHandle(offset: 0, count: 0)
    // Sums over the whole stream, for the summary.
    private var squares = 0.0
    private var frames: Int64 = 0
    private var highest: Float = 0

    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
        channelCount = stream.channelCount
        squares = 0
        frames = 0
        highest = 0
        var outputs = AnalyzerOutputs()
        rms = outputs.add(
            Feature("rms_db", .decibels, minimum: -120, aggregation: .mean, scale: .powerDecibels, "RMS level of the mono mix."))
        peak = outputs.add(
            Feature(
                "peak_db", .decibels, minimum: -120, aggregation: .maximum, scale: .amplitudeDecibels,
                "Largest sample of the mono mix."))
        channelRMS = outputs.add(
            Feature(
                "channel_rms_db", .decibels, count: channelCount, minimum: -120, aggregation: .mean,
                scale: .powerDecibels, "RMS level of each channel."))
        channelPeak = outputs.add(
            Feature(
                "channel_peak_db", .decibels, count: channelCount, minimum: -120, aggregation: .maximum,
                scale: .amplitudeDecibels, "Largest sample of each channel."))
        return outputs
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        let share = 1 / Float(max(1, hop.frameCount))
        let mono = hop.mono.extracting(first: hop.frameCount).level
        row[rms] = mono.squares * share
        row[peak] = mono.peak
        switch channelCount {
        case 1:
            set(0, mono, share, in: &row)
        case 2:
            let pair = hop.samples.stereoLevels
            set(0, pair.left, share, in: &row)
            set(1, pair.right, share, in: &row)
        default:
            for channel in 0..<channelCount {
                set(channel, hop.samples.level(ofChannel: channel, of: channelCount), share, in: &row)
            }
        }
        squares += Double(mono.squares)
        frames += Int64(hop.frameCount)
        highest = max(highest, mono.peak)
    }

    func summary() -> [SummaryValue] {
        var levels: [Float] = [frames == 0 ? 0 : Float(squares / Double(frames)), highest * highest]
        var span = levels.mutableSpan
        span.convertToDecibels(factor: 10)
        return [
            SummaryValue("rms_db", Double(levels[0]), .decibels), SummaryValue("peak_db", Double(levels[1]), .decibels),
        ]
    }

    private func set(_ channel: Int, _ level: LevelMeasurement, _ share: Float, in row: inout FeatureRow) {
        row[channelRMS, channel] = level.squares * share
        row[channelPeak, channel] = level.peak
    }
}
