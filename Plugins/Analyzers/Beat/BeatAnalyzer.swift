public import Hemiola
internal import HemiolaSignal

extension AnalyzerPlugin {
    /// Onsets, tempo, and beats that are told before they sound.
    public static let beat = AnalyzerPlugin(
        "beat", "Onsets, tempo, and beats that are told before they sound.", settings: BeatSettings.declared
    ) { settings throws(ConfigurationError) in
        BeatAnalyzer(try BeatSettings(settings))
    }
}

/// Hears where things begin, how fast they go and when the next beat is due.
///
/// - Complexity: per 10 ms a transform and O(bins + states / 8); no allocation.
final class BeatAnalyzer: Analyzer {
    /// The step from spectrum to spectrum and the length of their windows, in seconds.
    private static let hopSeconds = 0.01
    private static let windowSeconds = 2048.0 / 44_100
    /// How late, on average, a frame that ends at one moment shows the onset of a beat.
    private static let delay = 0.020
    private static let onsetDelay = 0.010

    private let settings: BeatSettings
    private var sampleRate = 1.0
    private var size = 64
    private var spectrum = SpectrumHandle(index: 0)
    private var flux = OnsetFlux(size: 64, sampleRate: 6400, frameSeconds: 0.01)
    private var picker = OnsetPicker(frameSeconds: 0.01)
    private var tracker: BeatTracker?
    private var strength: Float = 0
    private var beatCount = 0
    private var onsetCount = 0

    private var onsetStrength = FeatureHandle(offset: 0, count: 0)
    private var tempo = FeatureHandle(offset: 0, count: 0)
    private var phase = FeatureHandle(offset: 0, count: 0)
    private var barPhase = FeatureHandle(offset: 0, count: 0)
    private var confidence = FeatureHandle(offset: 0, count: 0)

    init(_ settings: BeatSettings) {
        self.settings = settings
    }

    func prepare(_ stream: AnalysisFormat) throws(AnalyzerError) -> AnalyzerOutputs {
        sampleRate = Double(stream.sampleRate)
        size = max(64, Int((Self.windowSeconds * sampleRate / 64).rounded()) * 64)
        let hopFrames = max(1, (Self.hopSeconds * sampleRate).rounded())
        let frameSeconds = hopFrames / sampleRate
        flux = OnsetFlux(size: size, sampleRate: sampleRate, frameSeconds: frameSeconds)
        picker = OnsetPicker(frameSeconds: frameSeconds)
        tracker = BeatTracker(TempoSpace(frameSeconds: frameSeconds, tempi: settings.tempi))
        strength = 0
        beatCount = 0
        onsetCount = 0
        var outputs = AnalyzerOutputs()
        spectrum = outputs.request(SpectrumRequest(size: size, hop: .seconds(Self.hopSeconds), parts: .magnitude))
        onsetStrength = outputs.add(
            Feature("onset_strength", .ratio, minimum: 0, "How much begins: an ordinary onset is 1."))
        tempo = outputs.add(Feature("bpm", .beatsPerMinute, minimum: 0, "The tempo."))
        phase = outputs.add(Feature("phase", .ratio, in: 0...1, "How much of the beat has passed."))
        barPhase = outputs.add(Feature("bar_phase", .ratio, in: 0...1, "How much of the bar has passed."))
        confidence = outputs.add(Feature("confidence", .ratio, in: 0...1, "How sure the beat is."))
        outputs.add(EventOutput("onset", .none, "A note or stroke begins."))
        outputs.add(EventOutput("beat", .beatsPerMinute, "A beat, as a rule told before it sounds."))
        outputs.latencyFrames = Int64(size / 2)
        return outputs
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        let spectra = hop.spectra(spectrum)
        for index in 0..<spectra.count {
            let end = (spectra.center(of: index) + Double(size) / 2) / sampleRate
            let change = flux.advance(spectra.magnitude(index))
            strength = index == 0 ? change.rise : max(strength, change.rise)
            if let marked = picker.advance(change.rise) {
                onsetCount += 1
                events.append(.onset(Onset(strength: Double(marked))), at: max(0, end - Self.onsetDelay))
            }
            if let beat = tracker?.advance(change, at: end - Self.delay) {
                tell(beat, &events)
            }
        }
        write(at: Double(hop.frame + Int64(hop.frameCount)) / sampleRate, into: &row)
    }

    private func tell(_ beat: BeatTracker.Report, _ events: inout EventList) {
        guard beat.time >= 0 else { return }
        beatCount += 1
        events.append(
            .beat(Beat(beatsPerMinute: beat.beatsPerMinute, position: nil, confidence: beat.confidence)), at: beat.time)
    }

    private func write(at now: Double, into row: inout FeatureRow) {
        row[onsetStrength] = picker.ordinary > 0 ? strength / picker.ordinary : 0
        row[confidence] = 0
        guard let tracker, tracker.isKnown else { return }
        row[confidence] = Float(tracker.confidence)
        row[tempo] = Float(60 / tracker.period)
        let beats = (now - tracker.nextTime) / tracker.period
        row[phase] = Float(beats - beats.rounded(.down))
    }

    func skip(_ gap: Gap) {
        flux.reset()
    }

    func reset() {
        flux.reset()
        flux = OnsetFlux(size: size, sampleRate: sampleRate, frameSeconds: tracker?.space.frameSeconds ?? 0.01)
        picker = OnsetPicker(frameSeconds: tracker?.space.frameSeconds ?? 0.01)
        tracker = tracker.map { BeatTracker($0.space) }
        strength = 0
        beatCount = 0
        onsetCount = 0
    }
}
