public import Hemiola
internal import HemiolaSignal
internal import HemiolaSpectrum

extension AnalyzerPlugin {
    /// Bass, mid and treble around 1 as visualizers know them, and bars of 0…1.
    public static let visualizer = AnalyzerPlugin(
        "visualizer", "Bass, mid and treble around 1 as visualizers know them, and bars of 0…1 with automatic gain.",
        settings: VisualizerSettings.declared, primary: VisualizerSettings.profile.key, version: 2
    ) { settings throws(ConfigurationError) in
        try VisualizerAnalyzer(VisualizerSettings(settings))
    }
}

/// What can be set about the levels and bars.
struct VisualizerSettings: Sendable {
    static let profile = Setting("profile", default: LevelProfile.butterchurn, "Whose bass, mid and treble it is.")
    private static let bars = Setting("bars", default: 16, in: 0...512, "Bars; 0 leaves them out and saves their work.")
    private static let minimum = Setting(
        "bars_min_hz", default: 50.0, in: 1...192_000, unit: .hertz, "Lower edge of the lowest bar.")
    private static let maximum = Setting<Double?>(
        "bars_max_hz", in: 2.0...192_000, unit: .hertz,
        "Upper edge of the highest bar; unset: 10 kHz, or Nyquist where that is lower.")
    private static let noiseReduction = Setting(
        "noise_reduction", default: 77, in: 0...99, unit: "%", "How calmly the bars move: 0 is raw, 99 slow and smooth.")

    static let declared = [
        profile.declared, bars.declared, minimum.declared, maximum.declared, noiseReduction.declared,
    ]

    var profile: LevelProfile
    var bars: Int
    var minimum: Double
    var maximum: Double?
    var noiseReduction: Int

    init(_ settings: SettingValues) {
        profile = settings[Self.profile]
        bars = settings[Self.bars]
        minimum = settings[Self.minimum]
        maximum = settings[Self.maximum]
        noiseReduction = settings[Self.noiseReduction]
    }
}

/// What a show needs, relative and ready to use: the levels of MilkDrop presets and the bars of a meter.
///
/// Everything is updated once per hop and the batch has the last hop's values. So an update is a hop, and the updates per
/// second, to which all rates are adjusted, are hops per second: with batches up to 1024 frames, batches per second.
///
/// A gap clears what was heard but not what was learnt: the averages and the gain describe the programme, and it goes on.
///
/// - Complexity: O(bins) per hop besides the spectra, no allocation.
final class VisualizerAnalyzer: Analyzer {
    /// A hop whose RMS lies below −90 dBFS is silence: digital zero, or dither.
    private static let silence: Float = 1e-9

    private let settings: VisualizerSettings
    private var channels = ChannelMix(StreamFormat(sampleRate: 1, channelCount: 1))
    private var hopFrames = 0
    private var hopSeconds = 0.0

    private var bands: [Range<Int>] = []
    private var weights: [Float] = []
    private var rates = RelativeLevel.Rates(framesPerSecond: 30)
    private var levels: [RelativeLevel] = []
    private var updates = 0
    private var mixSpectrum: SpectrumHandle?
    private var left: LeftSpectrum?

    private var bank = BarBank(count: 0, from: 1, to: 1, sampleRate: 1)
    private var barSpectrum: SpectrumHandle?
    private var low: LowSpectrum?
    private var motion = BarMotion(count: 0, noiseReduction: 0, hopSeconds: 1)

    private var values: [FeatureHandle] = []
    private var damped: [FeatureHandle] = []
    private var volume = FeatureHandle(offset: 0, count: 0)
    private var bars: FeatureHandle?

    init(_ settings: VisualizerSettings) throws(ConfigurationError) {
        if let maximum = settings.maximum, maximum <= settings.minimum {
            throw ConfigurationError("\(maximum) is not above bars_min_hz, \(settings.minimum)", at: "bars_max_hz")
        }
        self.settings = settings
    }

    func prepare(_ stream: AnalysisFormat) throws(AnalyzerError) -> AnalyzerOutputs {
        channels = ChannelMix(stream.format)
        hopFrames = stream.hopFrames
        hopSeconds = Double(stream.hopFrames) / Double(stream.sampleRate)
        var outputs = AnalyzerOutputs()
        prepareLevels(stream, &outputs)
        try prepareBars(stream, &outputs)
        reset()
        return outputs
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        updateLevels(hop)
        var sum = 0.0
        for band in 0..<3 {
            row[values[band]] = Float(levels[band].value)
            row[damped[band]] = Float(levels[band].damped)
            sum += levels[band].value
        }
        row[volume] = Float(sum / 3)
        if let bars, let barSpectrum {
            var heights = row[all: bars]
            measureBars(hop, hop.spectra(barSpectrum).magnitude(0), into: &heights)
        }
    }

    func skip(_ gap: Gap) {
        left?.clear()
        low?.clear()
    }

    func reset() {
        left?.clear()
        low?.clear()
        updates = 0
        levels = Array(repeating: RelativeLevel(average: settings.profile.firstAverage), count: 3)
        motion = BarMotion(
            count: bank.count, noiseReduction: Double(settings.noiseReduction) / 100, hopSeconds: hopSeconds)
    }
}

// MARK: - Levels

extension VisualizerAnalyzer {
    private func prepareLevels(_ stream: AnalysisFormat, _ outputs: inout AnalyzerOutputs) {
        let profile = settings.profile
        bands = profile.bands(at: stream.sampleRate)
        weights = LevelProfile.weights()
        rates = RelativeLevel.Rates(framesPerSecond: profile.framesPerSecond(1 / hopSeconds))
        switch profile {
        case .butterchurn:
            left = nil
            mixSpectrum = outputs.request(SpectrumRequest(size: LevelProfile.transformSize, window: .rectangular))
        case .milkdrop:
            left = LeftSpectrum(binCount: bands[2].upperBound)
            mixSpectrum = nil
        }
        let center = (Double(stream.batching.batchFrames) - Double(profile.windowFrames) / 2) / Double(stream.sampleRate)
        let names = [("bass", "Bass"), ("mid", "Midrange"), ("treb", "Treble")]
        values = names.map { key, name in
            outputs.add(Feature(key, .ratio, minimum: 0, centerOffset: center, "\(name), relative to what it has been lately."))
        }
        damped = names.map { key, name in
            outputs.add(Feature("\(key)_att", .ratio, minimum: 0, centerOffset: center, "\(name), damped."))
        }
        volume = outputs.add(Feature("vol", .ratio, minimum: 0, centerOffset: center, "Mean of bass, mid and treb."))
        outputs.latencyFrames = Int64(profile.windowFrames / 2)
    }

    private func updateLevels(_ hop: borrowing Hop) {
        if let mixSpectrum {
            update(hop.spectra(mixSpectrum).power(0))
        } else {
            left?.advance(hop.samples, channels: channels, hopFrames: hopFrames)
            left?.withPower { update($0) }
        }
        updates += 1
    }

    private func update(_ power: Span<Float>) {
        // A local, so that the array is opened once and lent whole.
        let table = weights
        let isFirst = updates < RelativeLevel.firstUpdates
        for band in 0..<3 {
            let bins = bands[band]
            let loudness = power.magnitudeDot(table.span, from: bins.lowerBound, over: bins)
            levels[band].update(Double(loudness), isFirst: isFirst, rates)
        }
    }
}

// MARK: - Bars

extension VisualizerAnalyzer {
    private func prepareBars(_ stream: AnalysisFormat, _ outputs: inout AnalyzerOutputs) throws(AnalyzerError) {
        bars = nil
        barSpectrum = nil
        low = nil
        let nyquist = Double(stream.sampleRate) / 2
        let top = settings.maximum ?? min(10_000, nyquist)
        if settings.bars > 0 {
            guard top <= nyquist else {
                throw AnalyzerError(
                    "visualizer: bars_max_hz \(top) is above half the sample rate, \(nyquist) Hz; leave it out, or lower it")
            }
            guard settings.minimum < top else {
                throw AnalyzerError("visualizer: bars_min_hz \(settings.minimum) is not below \(top) Hz; lower it")
            }
        }
        bank = BarBank(
            count: settings.bars, from: settings.minimum, to: max(settings.minimum, top), sampleRate: stream.sampleRate)
        guard settings.bars > 0 else { return }
        if bank.isThinned {
            low = LowSpectrum(
                windowFrames: bank.bassFrames, binCount: bank.bassBinCount, shortBinCount: bank.lowBinCount,
                hopFrames: stream.hopFrames)
        }
        bank.weigh { low!.attenuation(at: $0) }
        // As a rule that of the analyzer `spectrum`, too.
        barSpectrum = outputs.request(SpectrumRequest(size: bank.size, parts: .magnitude))
        bars = outputs.add(
            Feature(
                "bars", .ratio, count: settings.bars, in: 0...1, edges: bank.edges,
                centerOffset: (Double(stream.batching.batchFrames) - Double(bank.size) / 2) / Double(stream.sampleRate),
                "Height of each bar, with automatic gain."))
        outputs.latencyFrames = Int64(bank.size / 2)
    }

    private func measureBars(_ hop: borrowing Hop, _ magnitudes: Span<Float>, into heights: inout MutableSpan<Float>) {
        if low == nil {
            bank.measure(bass: magnitudes, low: magnitudes, magnitudes, into: &heights)
        } else {
            low!.advance(hop.mono)
            low!.measure(bank, magnitudes, into: &heights)
        }
        motion.move(&heights, isSilent: hop.mono.isQuiet(within: Float(hop.frameCount) * Self.silence))
    }
}
