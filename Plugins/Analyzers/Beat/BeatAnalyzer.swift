public import Hemiola
internal import HemiolaSignal

extension AnalyzerPlugin {
    /// Onsets, tempo, and beats that are told before they sound.
    public static let beat = AnalyzerPlugin(
        "beat", "Onsets, tempo, and beats that are told before they sound.", settings: BeatSettings.declared,
        version: 2
    ) { settings throws(ConfigurationError) in
        BeatAnalyzer(try BeatSettings(settings))
    }
}

/// Hears where things begin, how fast they go and when the next beat is due.
///
/// - Complexity: per 10 ms a transform and O(bins + states / 8); no allocation.
final class BeatAnalyzer: OfflineAnalyzer, SummarizingAnalyzer, Controllable {
    /// The step from spectrum to spectrum, in seconds.
    private static let hopSeconds = 0.01
    /// Windows of 46 ms. Whatever the stream's sample rate, spectra are taken at one: a beat that is hard to tell is told alike.
    private static let size = 2048
    private static let spectrumRate = 44_100
    /// How late, on average, a frame that ends at one moment shows the onset of a beat.
    private static let delay = 0.020
    private static let onsetDelay = 0.010

    private let settings: BeatSettings
    private var sampleRate = Double(spectrumRate)
    private var spectrum = SpectrumHandle(index: 0)
    /// A small one until the stream is known.
    private var flux = OnsetFlux(size: 64, sampleRate: 6400, nyquist: 3200, frameSeconds: hopSeconds)
    private var picker = OnsetPicker(frameSeconds: hopSeconds)
    private var tracker: BeatTracker
    /// The beats of the whole stream, when it was heard before.
    private var survey: BeatSurvey?
    private var timeline: BeatTimeline?
    private var strength: Float = 0
    private var beatCount: Int64 = 0
    private var onsetCount: Int64 = 0
    private var tally = TempoTally()

    private var onsetStrength = FeatureHandle(offset: 0, count: 0)
    private var tempo = FeatureHandle(offset: 0, count: 0)
    private var phase = FeatureHandle(offset: 0, count: 0)
    private var barPhase = FeatureHandle(offset: 0, count: 0)
    private var confidence = FeatureHandle(offset: 0, count: 0)

    init(_ settings: BeatSettings) {
        self.settings = settings
        tracker = BeatTracker(TempoSpace(frameSeconds: Self.hopSeconds, tempi: settings.tempi))
    }

    func prepare(_ stream: AnalysisFormat) throws(AnalyzerError) -> AnalyzerOutputs {
        sampleRate = Double(stream.sampleRate)
        flux = OnsetFlux(
            size: Self.size, sampleRate: Double(Self.spectrumRate), nyquist: sampleRate / 2, frameSeconds: Self.hopSeconds)
        picker = OnsetPicker(frameSeconds: Self.hopSeconds)
        tracker = BeatTracker(tracker.space)
        survey = nil
        timeline = nil
        strength = 0
        beatCount = 0
        onsetCount = 0
        tally = TempoTally()
        var outputs = AnalyzerOutputs()
        spectrum = outputs.request(
            SpectrumRequest(
                size: Self.size, hop: .seconds(Self.hopSeconds), sampleRate: Self.spectrumRate, parts: .magnitude))
        onsetStrength = outputs.add(
            Feature("onset_strength", .ratio, minimum: 0, "How much begins: an ordinary onset is 1."))
        tempo = outputs.add(Feature("bpm", .beatsPerMinute, minimum: 0, "The tempo."))
        phase = outputs.add(Feature("phase", .ratio, in: 0...1, "How much of the beat has passed."))
        barPhase = outputs.add(Feature("bar_phase", .ratio, in: 0...1, "How much of the bar has passed."))
        confidence = outputs.add(Feature("confidence", .ratio, in: 0...1, "How sure the beat is."))
        outputs.add(EventOutput("onset", .none, "A note or stroke begins."))
        outputs.add(EventOutput("beat", .beatsPerMinute, "A beat, as a rule told before it sounds."))
        outputs.latencyFrames = Int64(halfWindow.rounded())
        return outputs
    }

    /// Half a window in the stream's frames, which need not be whole ones.
    private var halfWindow: Double { Double(Self.size) / 2 * sampleRate / Double(Self.spectrumRate) }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        let spectra = hop.spectra(spectrum)
        for index in 0..<spectra.count {
            let end = (spectra.center(of: index) + halfWindow) / sampleRate
            let change = flux.advance(spectra.magnitude(index))
            strength = index == 0 ? change.rise : max(strength, change.rise)
            if let marked = picker.advance(change.rise) {
                onsetCount += 1
                events.append(.onset(Onset(strength: Double(marked))), at: max(0, end - Self.onsetDelay))
            }
            if timeline == nil, let beat = tracker.advance(change, at: end - Self.delay) { tell(beat, &events) }
            while let beat = timeline?.next(before: end + BeatTracker.lead) { tell(beat, &events) }
        }
        write(at: Double(hop.frame + Int64(hop.frameCount)) / sampleRate, into: &row)
    }

    private func tell(_ beat: BeatReport, _ events: inout EventList) {
        guard beat.time >= 0 else { return }
        beatCount += 1
        tally.add(beat.beatsPerMinute)
        events.append(
            .beat(Beat(beatsPerMinute: beat.beatsPerMinute, position: beat.position, confidence: beat.confidence)), at: beat.time)
    }

    private func write(at now: Double, into row: inout FeatureRow) {
        row[onsetStrength] = picker.ordinary > 0 ? strength / picker.ordinary : 0
        row[confidence] = 0
        if let timeline {
            guard let place = timeline.place(at: now) else { return }
            row[confidence] = Float(place.beat.confidence)
            row[tempo] = Float(place.beat.beatsPerMinute)
            row[phase] = Float(place.phase)
            if let position = place.beat.position, let meter = place.beat.meter {
                row[barPhase] = Float((Double(position - 1) + place.phase) / Double(meter))
            }
            return
        }
        guard let place = tracker.place(at: now) else { return }
        row[confidence] = Float(place.confidence)
        row[tempo] = Float(place.beatsPerMinute)
        row[phase] = Float(place.beat)
        if let bar = place.bar { row[barPhase] = Float(bar) }
    }

    func survey(_ hop: borrowing Hop) {
        let spectra = hop.spectra(spectrum)
        if survey == nil { survey = BeatSurvey(tracker.space) }
        for index in 0..<spectra.count {
            let end = (spectra.center(of: index) + halfWindow) / sampleRate
            survey?.hear(flux.advance(spectra.magnitude(index)), at: end - Self.delay)
        }
    }

    func concludeSurvey() {
        survey?.conclude()
        timeline = BeatTimeline(survey?.beats ?? [])
        survey = nil
        flux.reset()
    }

    func obey(_ control: StampedControl) -> ControlReply? {
        switch control.control {
        case .tap, .lockTempo, .halveTempo, .doubleTempo, .setDownbeat, .resetTempo: break
        default: return nil
        }
        if timeline != nil { return .refused("the whole file has been heard before; leave out --whole-file") }
        let moment = Double(control.frame) / sampleRate
        switch control.control {
        case .tap: tracker.tap(at: moment)
        case .lockTempo(let tempo):
            if !tracker.lock(tempo) {
                return .refused("\(tempo ?? 0) BPM is outside \(settings.tempi.lowerBound)...\(settings.tempi.upperBound)")
            }
        case .halveTempo, .doubleTempo:
            let factor = control.control == .halveTempo ? 0.5 : 2
            if tracker.beatsPerMinute == nil { return .refused("there is no tempo yet") }
            if tracker.multiply(by: factor) == nil {
                return .refused("that would be outside \(settings.tempi.lowerBound)...\(settings.tempi.upperBound) BPM")
            }
        case .setDownbeat:
            if !tracker.setDownbeat(at: moment) { return .refused("there is no beat yet") }
        default: tracker.reset()
        }
        return .done
    }

    func summary() -> [SummaryValue] {
        [
            SummaryValue("beats", count: beatCount), SummaryValue("onsets", count: onsetCount),
            SummaryValue("bpm", tally.median, .beatsPerMinute),
        ]
    }

    func skip(_ gap: Gap) {
        flux.interrupt()
    }

    func reset() {
        flux.reset()
        picker = OnsetPicker(frameSeconds: Self.hopSeconds)
        tracker = BeatTracker(tracker.space)
        survey = nil
        timeline = nil
        strength = 0
        beatCount = 0
        onsetCount = 0
        tally = TempoTally()
    }
}
