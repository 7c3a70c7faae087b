public import Hemiola
internal import HemiolaSignal

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Musl
#endif

extension AnalyzerPlugin {
    /// Detects onsets, tempo and beats. Steady beats are emitted before they occur.
    public static let beat = AnalyzerPlugin(
        "beat", "Onsets, tempo and beats; steady beats are emitted before they occur.", settings: BeatSettings.declared,
        version: 3, controls: [.tap, .lockTempo, .halveTempo, .doubleTempo, .setDownbeat, .nudge, .resetTempo]
    ) { settings throws(ConfigurationError) in
        BeatAnalyzer(try BeatSettings(settings))
    }
}

/// The settings of the beat analyzer.
struct BeatSettings: Sendable {
    private static let slowest = Setting("min_bpm", default: 30.0, in: 20...200, "Slowest tempo, in BPM.")
    private static let fastest = Setting(
        "max_bpm", default: 240.0, in: 60...300, "Fastest tempo, in BPM; at least 1.5 times min_bpm.")

    static let declared = [slowest.declared, fastest.declared]

    /// The tempo range, in BPM.
    var tempi: ClosedRange<Double>

    init(_ settings: SettingValues) throws(ConfigurationError) {
        let (slowest, fastest) = (settings[Self.slowest], settings[Self.fastest])
        guard fastest >= 1.5 * slowest else {
            throw ConfigurationError("\(fastest) is less than 1.5 times min_bpm (\(slowest)); widen the tempo range", at: "max_bpm")
        }
        tempi = slowest...fastest
    }
}

/// Detects onsets and estimates tempo, beats and bars.
///
/// - Complexity: one transform and O(bins + states / 8) every 10 ms; no allocation.
final class BeatAnalyzer: OfflineAnalyzer, SummarizingAnalyzer, ControlHandler {
    /// Time between spectra, in seconds.
    private static let hopSeconds = BandFilter.hopSeconds
    /// Window length, 46 ms, and sample rate of the spectra. Spectra have the same rate for all streams, so that the beats do not
    /// depend on the sample rate of the stream.
    private static let (size, spectrumRate) = (BandFilter.size, BandFilter.sampleRate)
    /// Mean time from an onset to the end of the window in which the onset strength peaks, in seconds.
    private static let onsetDelay = 0.010

    private let settings: BeatSettings
    private var sampleRate = Double(spectrumRate)
    private var spectrum = SpectrumHandle(index: 0)
    /// A small instance until `prepare`, which sets the real size.
    private var flux = SuperFlux(size: 64, sampleRate: 6400, nyquist: 3200, frameSeconds: hopSeconds)
    private var picker = OnsetPeakPicker(frameSeconds: hopSeconds)
    private var filter = BandFilter()
    private var network: BeatNetwork
    private var tracker: BeatTracker
    /// The first pass while it runs, and its beats after it.
    private var firstPass: BeatFirstPass?
    private var timeline: BeatTimeline?
    private var strength: Float = 0
    private var beatCount: Int64 = 0
    private var onsetCount: Int64 = 0
    private var histogram = TempoHistogram()

    private var onsetStrength = FeatureHandle(offset: 0, count: 0)
    private var tempo = FeatureHandle(offset: 0, count: 0)
    private var phase = FeatureHandle(offset: 0, count: 0)
    private var barPhase = FeatureHandle(offset: 0, count: 0)
    private var confidence = FeatureHandle(offset: 0, count: 0)
    private var candidates = FeatureHandle(offset: 0, count: 0)
    private var weights = FeatureHandle(offset: 0, count: 0)

    init(_ settings: BeatSettings) {
        self.settings = settings
        network = BeatNetwork(.causal())
        tracker = BeatTracker(BeatStateSpace(frameSeconds: Self.hopSeconds, tempi: settings.tempi))
    }

    func prepare(_ stream: AnalysisFormat) throws(AnalyzerError) -> AnalyzerOutputs {
        sampleRate = Double(stream.sampleRate)
        flux = SuperFlux(
            size: Self.size, sampleRate: Double(Self.spectrumRate), nyquist: sampleRate / 2, frameSeconds: Self.hopSeconds)
        picker = OnsetPeakPicker(frameSeconds: Self.hopSeconds)
        tracker = BeatTracker(tracker.space)
        firstPass = nil
        timeline = nil
        filter.reset()
        network.reset()
        strength = 0
        beatCount = 0
        onsetCount = 0
        histogram = TempoHistogram()
        var outputs = AnalyzerOutputs()
        spectrum = outputs.request(
            SpectrumRequest(
                size: Self.size, hop: .seconds(Self.hopSeconds), sampleRate: Self.spectrumRate, parts: .magnitude))
        onsetStrength = outputs.add(
            Feature("onset_strength", .ratio, minimum: 0, "How much begins: an ordinary onset is 1."))
        tempo = outputs.add(Feature("bpm", .beatsPerMinute, minimum: 0, "The tempo."))
        phase = outputs.add(Feature("phase", .ratio, in: 0...1, "How much of the beat has passed."))
        barPhase = outputs.add(Feature("bar_phase", .ratio, in: 0...1, "How much of the bar has passed."))
        confidence = outputs.add(Feature("confidence", .ratio, in: 0...1, "The probability that tempo and phase are right."))
        candidates = outputs.add(
            Feature(
                "candidate_bpm", .beatsPerMinute, count: TempoHypotheses.count, minimum: 0,
                "The most probable tempi, in descending order of probability."))
        weights = outputs.add(
            Feature("candidate_weight", .ratio, count: TempoHypotheses.count, in: 0...1, "The probabilities of candidate_bpm."))
        outputs.add(EventOutput("onset", .none, "A note or stroke begins."))
        outputs.add(EventOutput("beat", .beatsPerMinute, "A beat, as a rule told before it sounds."))
        outputs.latencyFrames = Int64(halfWindow.rounded())
        return outputs
    }

    /// Half a window, in frames of the stream; not an integer at all sample rates.
    private var halfWindow: Double { Double(Self.size) / 2 * sampleRate / Double(Self.spectrumRate) }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        let spectra = hop.spectra(spectrum)
        for index in 0..<spectra.count {
            let center = spectra.center(of: index) / sampleRate
            let end = center + halfWindow / sampleRate
            let onset = flux.advance(spectra.magnitude(index))
            strength = index == 0 ? onset : max(strength, onset)
            if let marked = picker.advance(onset) {
                onsetCount += 1
                events.append(Onset(strength: Double(marked)), at: max(0, end - Self.onsetDelay))
            }
            if timeline == nil {
                filter.advance(spectra.magnitude(index))
                if let output = network.advance(filter),
                    let beat = tracker.advance(output, isSilent: filter.isSilent, at: center)
                {
                    emit(beat, &events)
                }
            }
            while let beat = timeline?.next(before: end + BeatTracker.leadTime) { emit(beat, &events) }
        }
        write(at: Double(hop.frame + Int64(hop.frameCount)) / sampleRate, into: &row)
    }

    private func emit(_ beat: EstimatedBeat, _ events: inout EventList) {
        guard beat.time >= 0 else { return }
        beatCount += 1
        histogram.add(beat.beatsPerMinute)
        events.append(
            Beat(beatsPerMinute: beat.beatsPerMinute, position: beat.position, confidence: beat.confidence), at: beat.time)
    }

    private func write(at now: Double, into row: inout FeatureRow) {
        row[onsetStrength] = picker.averageStrength > 0 ? strength / picker.averageStrength : 0
        row[confidence] = 0
        if let timeline {
            guard let state = timeline.position(at: now) else { return }
            row[confidence] = Float(state.beat.confidence)
            write(state.beat.hypotheses, into: &row)
            row[tempo] = Float(state.beat.beatsPerMinute)
            row[phase] = Float(state.phase)
            if let position = state.beat.position, let meter = state.beat.meter {
                row[barPhase] = Float((Double(position - 1) + state.phase) / Double(meter))
            }
            return
        }
        guard let state = tracker.state(at: now) else { return }
        row[confidence] = Float(state.confidence)
        row[tempo] = Float(state.beatsPerMinute)
        row[phase] = Float(state.phase)
        if let bar = state.barPhase { row[barPhase] = Float(bar) }
        write(tracker.decoder.hypotheses(), into: &row)
    }

    private func write(_ hypotheses: TempoHypotheses, into row: inout FeatureRow) {
        for rank in 0..<TempoHypotheses.count where hypotheses.intervals[rank] > 0 {
            row[candidates, rank] = 60 / (hypotheses.intervals[rank] * Float(Self.hopSeconds))
            row[weights, rank] = hypotheses.weights[rank]
        }
    }

    func analyzeFirstPass(_ hop: borrowing Hop) {
        let spectra = hop.spectra(spectrum)
        if firstPass == nil { firstPass = BeatFirstPass(tracker.space, BeatNetwork(.wholeFile())) }
        for index in 0..<spectra.count {
            filter.advance(spectra.magnitude(index))
            firstPass?.add(filter, at: spectra.center(of: index) / sampleRate)
        }
    }

    func finishFirstPass() {
        firstPass?.finish()
        timeline = BeatTimeline(firstPass?.beats ?? [])
        firstPass = nil
        filter.reset()
    }

    func handle(_ control: StampedControl) -> ControlReply {
        if timeline != nil { return .refused("the beats of the whole file are fixed after the first pass; omit --whole-file") }
        let moment = Double(control.frame) / sampleRate
        switch control.control.type {
        case .tap: tracker.tap(at: moment)
        case .lockTempo:
            let tempo = control.control["bpm"].number
            if !tracker.lock(tempo) {
                return .refused("\(tempo ?? 0) BPM is outside \(settings.tempi.lowerBound)...\(settings.tempi.upperBound)")
            }
        case .halveTempo, .doubleTempo:
            let factor = control.control.type == .halveTempo ? 0.5 : 2
            if tracker.beatsPerMinute == nil { return .refused("there is no tempo yet") }
            if tracker.multiply(by: factor) == nil {
                return .refused("that would be outside \(settings.tempi.lowerBound)...\(settings.tempi.upperBound) BPM")
            }
        case .setDownbeat:
            if !tracker.setDownbeat(at: moment) { return .refused("there is no beat yet") }
        case .nudge: tracker.nudge(by: (control.control["ms"].number ?? 0) / 1000)
        default: tracker.reset()
        }
        return .done
    }

    func summary() -> [SummaryValue] {
        [
            SummaryValue("beats", count: beatCount), SummaryValue("onsets", count: onsetCount),
            SummaryValue("bpm", histogram.median, .beatsPerMinute),
        ]
    }

    func skip(_ gap: Gap) {
        flux.interrupt()
        filter.reset()
    }

    func reset() {
        flux.reset()
        filter.reset()
        network.reset()
        picker = OnsetPeakPicker(frameSeconds: Self.hopSeconds)
        tracker = BeatTracker(tracker.space)
        firstPass = nil
        timeline = nil
        strength = 0
        beatCount = 0
        onsetCount = 0
        histogram = TempoHistogram()
    }
}

/// A histogram of beat tempi with logarithmic bins of 1 %, from 10 to 900 BPM. Its memory does not grow with the number of beats.
struct TempoHistogram: Sendable {
    /// The lower edge of the first bin, in BPM.
    private static let lowestTempo = 10.0
    /// The width of a bin, in nats.
    private static let binWidth = 0.01
    private var counts = [Int](repeating: 0, count: 450)
    private var sums = [Double](repeating: 0, count: 450)
    private var total = 0

    mutating func add(_ beatsPerMinute: Double) {
        let bin = Int(log(max(1, beatsPerMinute / Self.lowestTempo)) / Self.binWidth)
        counts[min(bin, counts.count - 1)] += 1
        sums[min(bin, counts.count - 1)] += beatsPerMinute
        total += 1
    }

    /// The median tempo in BPM: the mean of the bin that contains the median. NaN without beats.
    var median: Double {
        var passed = 0
        for (bin, count) in counts.enumerated() where count > 0 {
            passed += count
            if 2 * passed >= total { return sums[bin] / Double(count) }
        }
        return .nan
    }
}
