public import Hemiola

extension AnalyzerPlugin {
    /// Computes relative bass, mid and treble levels as in MilkDrop, and bars of 0…1.
    public static let visualizer = AnalyzerPlugin(
        PluginDescription(
            "visualizer", "Relative bass, mid and treble levels as in MilkDrop, and bars of 0…1 with automatic gain.", primary: "profile",
            version: 2),
        settings: VisualizerSettings.self
    ) { settings throws(Problem) in
        try VisualizerAnalyzer(settings)
    }
}

/// The settings of the visualizer analyzer.
struct VisualizerSettings: PluginSettings {
    var profile: LevelProfile
    var bars: Int
    var minimum: Double
    var maximum: Double?
    var noiseReduction: Int

    init(_ read: inout SettingReader) {
        profile = read.choice("profile", default: LevelProfile.butterchurn, "Program whose bass, mid and treble levels are computed.")
        bars = read.integer("bars", default: 16, in: 0...512, "Number of bars; 0 omits them.")
        minimum = read.hertz("bars_min_hz", default: BarSpectrum.defaultRange.lowerBound, in: 1...192_000, "Lower edge of the lowest bar.")
        maximum = read.hertz(
            "bars_max_hz", in: 2...192_000, "Upper edge of the highest bar. Default: 10 kHz, or half the sample rate if that is lower.")
        noiseReduction = read.integer(
            "noise_reduction", default: BarMotion.defaultNoiseReduction, in: 0...99, unit: "%", "Bar smoothing, 0 (none) to 99 (slow).")
    }
}

/// Levels and bars for visualizers: the levels of MilkDrop presets, and the bars of a spectrum meter.
///
/// All values are updated once per hop, and a batch has the values of its last hop. All time constants are converted to the hop
/// rate: with batches up to 1024 frames it is the batch rate.
///
/// A gap resets the windows, but not the averages and the gain, which depend on the programme and not on single frames.
///
/// - Complexity: O(bins) per hop without the spectra, no allocation.
final class VisualizerAnalyzer: Analyzer {
    private let settings: VisualizerSettings
    private var channels = ChannelMix(StreamFormat(sampleRate: 1, channelCount: 1))
    private var hopFrames = 0
    private var hopSeconds = 0.0

    private var bands: [Range<Int>] = []
    private var weights: [Float] = []
    private var rates = RelativeLevel.Rates(framesPerSecond: 30)
    private var levels: [RelativeLevel] = []
    private var updates = 0
    /// The number of updates at the start during which the long-term averages follow faster.
    private var initialUpdates = 0
    private var mixSpectrum: SpectrumHandle?
    private var ownSpectrum: MilkDropSpectrum?

    /// nil: there are no bars.
    private var barSpectrum: BarSpectrum?
    private var barMagnitudes: SpectrumHandle?
    private var motion = BarMotion(count: 0, noiseReduction: 0, hopSeconds: 1)

    private var values: [FeatureHandle] = []
    private var smoothed: [FeatureHandle] = []
    private var volume = FeatureHandle(offset: 0, count: 0)
    private var bars: FeatureHandle?

    init(_ settings: VisualizerSettings) throws(Problem) {
        if let maximum = settings.maximum, maximum <= settings.minimum {
            throw Problem("\(maximum) is not above bars_min_hz, \(settings.minimum); raise it", at: "bars_max_hz")
        }
        self.settings = settings
    }

    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
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
            row[smoothed[band]] = Float(levels[band].smoothed)
            sum += levels[band].value
        }
        row[volume] = Float(sum / 3)
        if let bars, let barMagnitudes {
            var heights = row[all: bars]
            barSpectrum!.measure(hop.mono, hop.spectra(barMagnitudes).magnitude(0), into: &heights)
            motion.update(&heights, isSilent: BarMotion.isSilent(hop.mono, frameCount: hop.frameCount))
        }
    }

    func skip(_ gap: Gap) {
        ownSpectrum?.clear()
        barSpectrum?.clear()
    }

    private func reset() {
        ownSpectrum?.clear()
        barSpectrum?.clear()
        updates = 0
        levels = Array(repeating: RelativeLevel(average: settings.profile.initialAverage), count: 3)
        motion = BarMotion(
            count: settings.bars, noiseReduction: Double(settings.noiseReduction) / 100, hopSeconds: hopSeconds)
    }
}

// MARK: - Levels

extension VisualizerAnalyzer {
    private func prepareLevels(_ stream: AnalysisFormat, _ outputs: inout AnalyzerOutputs) {
        let profile = settings.profile
        let factor = LevelProfile.factor(at: stream.sampleRate)
        bands = profile.bands(at: stream.sampleRate)
        weights = LevelProfile.weights(at: stream.sampleRate)
        rates = RelativeLevel.Rates(framesPerSecond: profile.framesPerSecond(1 / hopSeconds, sampleRate: stream.sampleRate))
        initialUpdates = factor * RelativeLevel.initialUpdates
        switch profile {
        case .butterchurn:
            ownSpectrum = nil
            mixSpectrum = outputs.request(SpectrumRequest(size: factor * LevelProfile.transformSize, window: .rectangular))
        case .milkdrop:
            ownSpectrum = MilkDropSpectrum(factor: factor, binCount: bands[2].upperBound)
            mixSpectrum = nil
        }
        let windowFrames = factor * profile.windowFrames
        let center = (Double(stream.batching.batchFrames) - Double(windowFrames) / 2) / Double(stream.sampleRate)
        let names = [("bass", "Bass"), ("mid", "Midrange"), ("treb", "Treble")]
        values = names.map { key, name in
            outputs.add(Feature(key, .ratio, minimum: 0, centerOffset: center, "\(name), relative to what it has been lately."))
        }
        smoothed = names.map { key, name in
            outputs.add(Feature("\(key)_att", .ratio, minimum: 0, centerOffset: center, "\(name), damped."))
        }
        volume = outputs.add(Feature("vol", .ratio, minimum: 0, centerOffset: center, "Mean of bass, mid and treb."))
        outputs.latencyFrames = Int64(windowFrames / 2)
    }

    private func updateLevels(_ hop: borrowing Hop) {
        if let mixSpectrum {
            update(hop.spectra(mixSpectrum).power(0))
        } else {
            ownSpectrum?.advance(hop.samples, channels: channels, hopFrames: hopFrames)
            ownSpectrum?.withPower { update($0) }
        }
        updates += 1
    }

    private func update(_ power: Span<Float>) {
        // A local copy avoids an exclusivity check per access.
        let table = weights
        let isInitial = updates < initialUpdates
        for band in 0..<3 {
            let bins = bands[band]
            let level = power.magnitudeDot(table.span, from: bins.lowerBound, over: bins)
            levels[band].update(Double(level), isInitial: isInitial, rates)
        }
    }
}

// MARK: - Bars

extension VisualizerAnalyzer {
    private func prepareBars(_ stream: AnalysisFormat, _ outputs: inout AnalyzerOutputs) throws(Problem) {
        bars = nil
        barSpectrum = nil
        barMagnitudes = nil
        guard settings.bars > 0 else { return }
        let nyquist = Double(stream.sampleRate) / 2
        let top = settings.maximum ?? min(BarSpectrum.defaultRange.upperBound, nyquist)
        guard top <= nyquist else {
            throw Problem(
                "visualizer: bars_max_hz \(top) is above half the sample rate (\(nyquist) Hz); omit or lower it")
        }
        guard settings.minimum < top else {
            throw Problem("visualizer: bars_min_hz \(settings.minimum) is not below \(top) Hz; lower it")
        }
        let spectrum = BarSpectrum(
            count: settings.bars, from: settings.minimum, to: top, sampleRate: stream.sampleRate, hopFrames: stream.hopFrames)
        // With its default settings the analyzer `spectrum` requests the same one, which is then computed once.
        barMagnitudes = outputs.request(SpectrumRequest(size: spectrum.size, parts: .magnitude))
        let center = spectrum.centerFrames
        bars = outputs.add(
            Feature(
                "bars", .ratio, count: settings.bars, in: 0...1, edges: spectrum.edges,
                centerOffset: (Double(stream.batching.batchFrames) - center) / Double(stream.sampleRate),
                "Height of each bar, with automatic gain. The centre is that of the lowest bar's window."))
        outputs.latencyFrames = max(outputs.latencyFrames, Int64(center.rounded()))
        barSpectrum = consume spectrum
    }
}
