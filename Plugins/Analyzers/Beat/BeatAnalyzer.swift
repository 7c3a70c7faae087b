internal import Hemiola

/// Detects onsets and estimates tempo, beats and bars.
///
/// - Complexity: one transform and O(bins + states / 8) every 10 ms; no allocation.
final class BeatAnalyzer: OfflineAnalyzer, ControlHandler {
    private let space: BeatStateSpace
    private let settings: BeatSettings
    private var outputs = BeatOutputs()
    /// One value, so that a batch needs one access to the object's storage.
    private var stream: BeatStream

    init(_ settings: BeatSettings) throws(Problem) {
        space = BeatStateSpace(frameSeconds: BandFilter.hopSeconds, tempi: try settings.tempi())
        self.settings = settings
        stream = BeatStream(space, sampleRate: Double(BandFilter.sampleRate), settings)
    }

    func prepare(_ format: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
        stream = BeatStream(space, sampleRate: Double(format.sampleRate), settings)
        var declared = outputs.declare(settings)
        declared.latencyFrames = Int64((stream.halfWindow * stream.sampleRate).rounded())
        return declared
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        stream.process(hop, outputs, into: &row, events: &events)
    }

    func analyzeFirstPass(_ hop: borrowing Hop) {
        stream.analyzeFirstPass(hop, outputs.spectrum)
    }

    func finishFirstPass() {
        stream.finishFirstPass()
    }

    func handle(_ control: StampedControl) -> ControlReply {
        stream.handle(control)
    }

    func summary() -> [SummaryValue] {
        stream.summary
    }

    func skip(_ gap: Gap) {
        stream.skip(gap)
    }
}

/// Tempo and phase at a time.
struct BeatState {
    var beatsPerMinute: Double
    /// The beat phase, 0…1.
    var phase: Double
    /// nil while the bar is unknown.
    var bar: BarState?
    /// 0…1.
    var confidence: Double
    var hypotheses: TempoHypotheses
}

/// The bar at a time.
struct BarState {
    /// 0…1.
    var phase: Double
    /// Its length in seconds.
    var duration: Double
}

/// The analysis of a stream.
private struct BeatStream {
    let sampleRate: Double
    /// Half the window, in seconds.
    let halfWindow = Double(BandFilter.size) / 2 / Double(BandFilter.sampleRate)
    /// The silence after which a band filter does not depend on the sound before it, in seconds.
    private static let longestMemory = 60.0
    private var onsetFilter: BandFilter
    private var picker = OnsetPeakPicker(frameSeconds: BandFilter.hopSeconds)
    private var start: StreamStart
    /// The number of frames so far, up to those that `start` needs, and the onset strength of the first of them after silence.
    private var frameCount = 0
    private var startStrength: Float = 0
    private var filter = BandFilter()
    private var network = BeatNetwork(.causal())
    private var periodicOnsets: PeriodicOnsets
    private var metronomeBars: MetronomeBars
    private var tracker: BeatTracker
    /// The first pass while it runs, and its beats after it.
    private var firstPass: BeatFirstPass?
    private var timeline: BeatTimeline?
    private var strength: Float = 0
    private var beatCount: Int64 = 0
    private var onsetCount: Int64 = 0
    private var tempi = TempoSections()
    private var secondTempo = SecondTempo()
    /// nil: no drums are wanted.
    private var drums: (detector: DrumDetector, pattern: DrumPattern)?
    /// nil: no phrases are wanted. Live only; `firstPass` counts those of a file.
    private var phrases: PhraseTracker?

    init(_ space: BeatStateSpace, sampleRate: Double, _ settings: BeatSettings) {
        self.sampleRate = sampleRate
        onsetFilter = BandFilter(.onsets(nyquist: sampleRate / 2))
        periodicOnsets = PeriodicOnsets(space)
        metronomeBars = MetronomeBars(space)
        tracker = BeatTracker(space)
        start = StreamStart(sampleRate: sampleRate)
        if settings.hasPhrases { phrases = PhraseTracker() }
        if settings.hasDrums { drums = (DrumDetector(filter), DrumPattern()) }
    }

    mutating func process(_ hop: borrowing Hop, _ outputs: BeatOutputs, into row: inout FeatureRow, events: inout EventList) {
        let spectra = hop.spectra(outputs.spectrum)
        if frameCount < StreamStart.frameCount { start.add(hop) }
        for first in stride(from: 0, to: spectra.count, by: BeatNetwork.groupSize) {
            let group = first..<min(first + BeatNetwork.groupSize, spectra.count)
            if timeline == nil || drums != nil {
                for index in group {
                    filter.advance(spectra.magnitude(index))
                    drums?.detector.add(filter, as: index - first)
                    guard timeline == nil else { continue }
                    metronomeBars.listen(to: filter, as: index - first)
                    network.add(filter)
                    phrases?.add(filter)
                }
                drums?.detector.run()
                if timeline == nil { network.run() }
            }
            for index in group {
                let center = spectra.center(of: index) / sampleRate
                let end = center + halfWindow
                onsetFilter.advance(spectra.magnitude(index))
                strength = index == 0 ? onsetFilter.strength : max(strength, onsetFilter.strength)
                if frameCount < StreamStart.frameCount { advanceStart(&events) }
                if timeline == nil {
                    var output = network.outputs[index - first]
                    let onset = picker.advance(output.onset, strength: onsetFilter.strength)
                    if let onset, center >= StreamStart.end { emit(onset, at: center, &events) }
                    periodicOnsets.advance(&output, isOnset: onset != nil, at: center)
                    if metronomeBars.advance(&output, at: center, index: index - first) { tracker.forgetBars() }
                    if var beat = tracker.advance(output, at: center) {
                        // All frames of the group have been added.
                        let latest = spectra.center(of: group.upperBound - 1) / sampleRate
                        beat.phrase = phrases?.advance(ahead: (beat.time - latest) / BandFilter.hopSeconds)
                        emit(beat, &events)
                    }
                } else {
                    let onset = timeline?.nextOnset(before: center)
                    if let marked = picker.advance(isOnset: onset != nil, strength: onsetFilter.strength) {
                        emit(marked, at: onset ?? center, &events)
                    }
                }
                while let beat = timeline?.next(before: end + BeatTracker.leadTime) { emit(beat, &events) }
                if drums != nil { emitDrums(of: index - first, at: center, &events) }
            }
        }
        let now = Double(hop.frame + Int64(hop.frameCount)) / sampleRate
        let state = timeline == nil ? tracker.state(at: now) : timeline?.state(at: now)
        if let state { secondTempo.add(state.hypotheses) }
        outputs.write(
            state,
            onsetStrength: picker.averageStrength > 0 ? strength / picker.averageStrength : 0, into: &row)
    }

    /// Reports the strokes of a frame of the group, and those that are expected soon.
    private mutating func emitDrums(of index: Int, at center: Double, _ events: inout EventList) {
        let now = center + halfWindow
        drums?.pattern.advance(timeline == nil ? tracker.bar(at: now) : timeline?.state(at: now)?.bar)
        for voice in DrumVoice.allCases {
            if let stroke = drums?.detector.stroke(of: voice, in: index) {
                let isExpected = drums?.pattern.add(stroke, age: now - center) ?? false
                events.append(Event(at: center, .drum, .text(voice.name), .number(stroke.strength), .boolean(isExpected)))
            }
            while let next = drums?.pattern.next(voice, within: BeatTracker.leadTime) {
                events.append(Event(at: now + next.seconds, .expectedDrum, .text(voice.name), .number(next.strength)))
            }
        }
    }

    /// Counts the first frames, and reports the onset with which the stream begins as soon as it is known.
    private mutating func advanceStart(_ events: inout EventList) {
        if frameCount == 0 { startStrength = onsetFilter.strengthAfterSilence }
        frameCount += 1
        guard frameCount == StreamStart.frameCount, onsetCount == 0, let onset = start.onset,
            let marked = picker.markFirst(startStrength)
        else { return }
        strength = max(strength, startStrength)
        emit(marked, at: onset, &events)
    }

    /// - Parameter strength: That of the onset.
    private mutating func emit(_ strength: Float, at time: Double, _ events: inout EventList) {
        onsetCount += 1
        events.append(Onset(strength: Double(strength)), at: time)
    }

    private mutating func emit(_ beat: EstimatedBeat, _ events: inout EventList) {
        guard beat.time >= 0 else { return }
        beatCount += 1
        tempi.add(beat.time, beatsPerMinute: beat.beatsPerMinute)
        events.append(
            Beat(beatsPerMinute: beat.beatsPerMinute, position: beat.position, confidence: beat.confidence), at: beat.time)
        if let phrase = beat.phrase {
            events.append(
                Event(
                    at: beat.time, .phrase, .integer(phrase.bar), .integer(phrase.length), .integer(phrase.length - phrase.bar + 1),
                    .number(phrase.confidence)))
        }
    }

    mutating func analyzeFirstPass(_ hop: borrowing Hop, _ handle: SpectrumHandle) {
        if firstPass == nil { firstPass = BeatFirstPass(tracker.space, sampleRate: sampleRate, hasPhrases: phrases != nil) }
        firstPass?.add(hop, handle)
    }

    mutating func finishFirstPass() {
        firstPass?.finish()
        timeline = BeatTimeline(firstPass?.beats ?? [], onsets: firstPass?.onsets ?? [])
        firstPass = nil
    }

    /// Continues after a gap. What was lost is unknown, but the first pass took it for silence: so does the strength of its onsets.
    mutating func skip(_ gap: Gap) {
        if timeline != nil {
            let seconds = min(Double(gap.frames) / sampleRate, Self.longestMemory)
            for _ in 0..<Int(seconds / BandFilter.hopSeconds) { onsetFilter.advanceInSilence() }
        } else {
            onsetFilter.reset()
            filter.reset()
        }
        drums?.detector.reset()
        phrases?.reset()
        frameCount = StreamStart.frameCount
    }

    mutating func handle(_ control: StampedControl) -> ControlReply {
        if timeline != nil { return .refused("the beats of the whole file are fixed after the first pass; add --causal") }
        let moment = Double(control.frame) / sampleRate
        let tempi = tracker.space.tempi
        switch control.control.type {
        case .tap: tracker.tap(at: moment)
        case .lockTempo:
            var tempo = control.control["bpm"].number
            if tempo == ControlType.currentTempo {
                guard let current = tracker.beatsPerMinute else { return .refused("there is no tempo yet") }
                tempo = min(max(current, tempi.lowerBound), tempi.upperBound)
            }
            if !tracker.lock(tempo) { return .refused("\(tempo ?? 0) BPM is outside \(tempi.lowerBound)...\(tempi.upperBound)") }
        case .tempoRange:
            if !tracker.limit(to: control.control["min_bpm"].number, control.control["max_bpm"].number) {
                return .refused(
                    "the range is too narrow; choose a max_bpm of at least \(BeatTracker.narrowestRange) times min_bpm, "
                        + "both in \(tempi.lowerBound)...\(tempi.upperBound)")
            }
        case .halveTempo, .doubleTempo:
            if tracker.beatsPerMinute == nil { return .refused("there is no tempo yet") }
            if tracker.multiply(by: control.control.type == .halveTempo ? 0.5 : 2) == nil {
                return .refused("that would be outside \(tempi.lowerBound)...\(tempi.upperBound) BPM")
            }
        case .setDownbeat:
            if !tracker.setDownbeat(at: moment) { return .refused("there is no beat yet") }
        case .nudge: tracker.nudge(by: (control.control["ms"].number ?? 0) / 1000)
        case .resetTempo: tracker.reset()
        default: return .unknown(control.control)
        }
        return .done
    }

    var summary: [SummaryValue] {
        let second = tempi.mainTempo.flatMap { secondTempo.other(than: $0) }
        return [
            SummaryValue("beats", count: beatCount), SummaryValue("onsets", count: onsetCount),
            SummaryValue("bpm", tempi.mainTempo ?? .nan, .beatsPerMinute),
            SummaryValue("second_bpm", second?.beatsPerMinute ?? .nan, .beatsPerMinute),
            SummaryValue("second_bpm_weight", second?.share ?? .nan, .ratio),
        ]
    }
}
