internal import Glibc
public import Hemiola

extension AnalyzerPlugin {
    /// Loudness and true peak as in EBU R 128 and ITU-R BS.1770-4.
    public static let loudness = AnalyzerPlugin(
        PluginDescription(
            "loudness", "Momentary, short-term and integrated loudness, loudness range and true peak (EBU R 128, ITU-R BS.1770-4).",
            version: 1, uses: .init(libraries: [.ebur128])),
        settings: LoudnessSettings.self
    ) { settings throws(Problem) in
        if let fault = WeightedEnergy.load() { throw Problem(fault) }
        return LoudnessAnalyzer(settings)
    }
}

/// The settings of the loudness analyzer.
struct LoudnessSettings: PluginSettings {
    /// Whether a single channel counts twice.
    var isDualMono: Bool

    init(_ read: inout SettingReader) {
        isDualMono = read.boolean(
            "dual_mono", default: false, "Measure a mono file as two loudspeakers play it: 3.01 LU more. Other files do not change.")
    }
}

/// Measures loudness and true peak.
///
/// - Complexity: O(channels) per frame, and O(300) every 10 ms; no allocation.
final class LoudnessAnalyzer: Analyzer {
    private let settings: LoudnessSettings
    private var weighted: WeightedEnergy?
    private var programme = ProgrammeLoudness()
    private var truePeaks: TruePeakMeter?
    /// Frames per step of the windows: 10 ms, at rates that are no multiple of 100 Hz up to 1 % less.
    private var stepFrames = 480
    /// Frames since the last step.
    private var pendingFrames = 0
    /// The true peak of each channel in this batch, and of all channels in the stream.
    private var batchPeaks: [Float] = []
    private var highestPeak: Float = 0

    private var momentary = FeatureHandle(offset: 0, count: 0)
    private var shortTerm = FeatureHandle(offset: 0, count: 0)
    private var integrated = FeatureHandle(offset: 0, count: 0)
    private var range = FeatureHandle(offset: 0, count: 0)
    private var truePeak = FeatureHandle(offset: 0, count: 0)
    private var channelTruePeak = FeatureHandle(offset: 0, count: 0)

    init(_ settings: LoudnessSettings) {
        self.settings = settings
    }

    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
        weighted = try WeightedEnergy(stream.format, isDualMono: settings.isDualMono)
        truePeaks = TruePeakMeter(stream.format, maximumFrames: stream.hopFrames)
        stepFrames = stream.sampleRate / 100
        batchPeaks = Array(repeating: 0, count: stream.channelCount)
        programme.reset()
        pendingFrames = 0
        highestPeak = 0
        var outputs = AnalyzerOutputs()
        momentary = outputs.add(
            Feature("momentary_lufs", .loudness, minimum: -120, "Loudness of the last 400 ms."))
        shortTerm = outputs.add(Feature("short_term_lufs", .loudness, minimum: -120, "Loudness of the last 3 s."))
        integrated = outputs.add(
            Feature("integrated_lufs", .loudness, minimum: GatedHistogram.absoluteGate, "Gated loudness from the start of the stream."))
        range = outputs.add(Feature("range_lu", .loudnessUnits, minimum: 0, "Loudness range from the start of the stream."))
        truePeak = outputs.add(
            Feature(
                "true_peak_dbtp", .truePeak, minimum: -120, scale: .amplitudeDecibels, "Largest true peak of all channels in the batch."))
        channelTruePeak = outputs.add(
            Feature(
                "channel_true_peak_dbtp", .truePeak, count: stream.channelCount, minimum: -120, scale: .amplitudeDecibels,
                "True peak of each channel in the batch."))
        return outputs
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        addEnergies(hop)
        row[momentary] = Self.number(programme.momentary)
        row[shortTerm] = Self.number(programme.shortTerm)
        row[integrated] = Self.number(programme.integrated())
        row[range] = Self.number(programme.range())
        if hop.indexInBatch == 0 {
            for channel in batchPeaks.indices { batchPeaks[channel] = 0 }
        }
        var highest: Float = 0
        for channel in batchPeaks.indices {
            let peak = max(batchPeaks[channel], truePeaks?.peak(of: channel, in: hop.samples) ?? 0)
            batchPeaks[channel] = peak
            highest = max(highest, peak)
            if peak > 0 { row[channelTruePeak, channel] = peak }
        }
        if highest > 0 { row[truePeak] = highest }
        highestPeak = max(highestPeak, highest)
    }

    /// Feeds the hop in parts that end with a step, so that the steps do not depend on the length of the hops.
    private func addEnergies(_ hop: borrowing Hop) {
        var frame = 0
        while frame < hop.frameCount {
            let count = min(stepFrames - pendingFrames, hop.frameCount - frame)
            weighted?.add(hop.samples, from: frame, count: count)
            frame += count
            pendingFrames += count
            guard pendingFrames == stepFrames else { return }
            pendingFrames = 0
            programme.add(weighted?.last10Milliseconds() ?? 0)
        }
    }

    /// A gap is not measured: the windows start anew behind it.
    func skip(_ gap: Gap) {
        pendingFrames = 0
        programme.skip()
        truePeaks?.reset()
    }

    func summary() -> [SummaryValue] {
        [
            SummaryValue("integrated_lufs", programme.integrated() ?? .nan, .loudness),
            SummaryValue("range_lu", programme.range() ?? .nan, .loudnessUnits),
            SummaryValue("true_peak_dbtp", highestPeak == 0 ? .nan : max(-120, 20 * log10(Double(highestPeak))), .truePeak),
            SummaryValue("max_momentary_lufs", programme.maximumMomentary ?? .nan, .loudness),
            SummaryValue("max_short_term_lufs", programme.maximumShortTerm ?? .nan, .loudness),
        ]
    }

    private static func number(_ value: Double?) -> Float {
        value.map { Float($0) } ?? .nan
    }
}
