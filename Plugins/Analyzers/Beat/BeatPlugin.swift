public import Hemiola

extension AnalyzerPlugin {
    /// Detects onsets, tempo and beats. Steady beats are emitted before they occur.
    public static let beat = AnalyzerPlugin(
        PluginDescription(
            "beat", "Onsets, tempo and beats; steady beats are emitted before they occur.", version: 8,
            declares: .init(
                records: [.onset, .beat, .drum, .expectedDrum, .phrase],
                controls: [.tap, .lockTempo, .tempoRange, .halveTempo, .doubleTempo, .setDownbeat, .nudge, .resetTempo])),
        settings: BeatSettings.self
    ) { settings throws(Problem) in
        try BeatAnalyzer(settings)
    }
}

/// The settings of the beat analyzer.
struct BeatSettings: PluginSettings {
    var slowest: Double
    var fastest: Double
    var hasDrums: Bool
    var hasPhrases: Bool

    init(_ read: inout SettingReader) {
        slowest = read.number("min_bpm", default: 30, in: 20...200, "Slowest tempo, in BPM.")
        fastest = read.number("max_bpm", default: 240, in: 60...300, "Fastest tempo, in BPM; at least 1.5 times min_bpm.")
        hasDrums = read.boolean("drums", default: false, "Whether strokes of kick, snare and hi-hat are reported too.")
        hasPhrases = read.boolean("phrases", default: false, "Whether the bars of phrases are counted.")
    }

    /// The tempo range, in BPM.
    func tempi() throws(Problem) -> ClosedRange<Double> {
        guard fastest >= 1.5 * slowest else {
            throw Problem("\(fastest) is less than 1.5 times min_bpm (\(slowest)); widen the tempo range", at: "max_bpm")
        }
        return slowest...fastest
    }
}

extension RecordType {
    /// A stroke of a drum, with `drums=true`.
    static let drum = RecordType(
        "drum", "A stroke of a drum kit.",
        fields: [
            .choice("voice", of: DrumVoice.allCases.map(\.name), "The drum."),
            .number("strength", minimum: 0, "The strength of the attack; 1 is typical of the drum."),
            .boolean("expected", "Whether it was announced, as expected_drum."),
            .emittedTime,
        ])
    /// A stroke that the last two bars had at this place, announced ahead.
    static let expectedDrum = RecordType(
        "expected_drum", "A stroke at a place of the bar where the last two bars had it, announced as beats are; it need not come.",
        fields: [
            .choice("voice", of: DrumVoice.allCases.map(\.name), "The drum."),
            .number("strength", minimum: 0, "The strength of the last one."),
            .emittedTime, .timeUntilEvent,
        ])
    /// A bar of a phrase, with `phrases=true`.
    static let phrase = RecordType(
        "phrase", "A bar begins, and its place in a phrase of 4, 8 or 16 bars is known; announced as beats are.",
        fields: [
            .integer("bar", "Its number in the phrase; 1: a phrase begins."),
            .integer("length", "The bars of the phrase: 4, 8 or 16."),
            .integer("bars_left", "The bars until the next phrase begins, with this one."),
            .number("confidence", in: 0...1, "The probability that it begins then."),
            .emittedTime, .timeUntilEvent,
        ])
}

extension ControlType {
    /// The user taps on a beat.
    static let tap = ControlType("tap", "Marks a beat now; a few taps in a row set the tempo.")
    /// Keeps a tempo, or follows the music again.
    static let lockTempo = ControlType(
        "lockTempo", "Keeps a tempo, or follows the music again.",
        fields: [
            .number(
                "bpm", unit: .beatsPerMinute, nullable: true, minimum: 0, default: .number(currentTempo),
                "The tempo; 0: the current one; null: the tempo is not locked.")
        ])
    /// The value of `bpm` in `lockTempo` that stands for the current tempo.
    static let currentTempo = 0.0
    /// Limits the tempo to a range.
    static let tempoRange = ControlType(
        "tempoRange", "Limits the tempo to a range. A tempo outside is halved or doubled.",
        fields: [
            .number(
                "min_bpm", unit: .beatsPerMinute, nullable: true, minimum: 0, default: ParameterValue.none,
                "The slowest tempo; null: that of the analyzer."),
            .number(
                "max_bpm", unit: .beatsPerMinute, nullable: true, minimum: 0, default: ParameterValue.none,
                "The fastest tempo, at least 1.2 times min_bpm; null: that of the analyzer."),
        ])
    /// Halves the tempo.
    static let halveTempo = ControlType("halveTempo", "Halves the tempo.")
    /// Doubles the tempo.
    static let doubleTempo = ControlType("doubleTempo", "Doubles the tempo.")
    /// Marks the nearest beat as the first of its bar.
    static let setDownbeat = ControlType("setDownbeat", "Marks the nearest beat as the first of its bar.")
    /// Moves all further beats by `ms`.
    static let nudge = ControlType(
        "nudge", "Moves the beats from now on: later for positive values, earlier for negative ones.",
        fields: [
            .number(
                "ms", unit: .milliseconds, in: -200...200,
                "The change in milliseconds. Changes add up; the sum is limited to ±200 ms. resetTempo sets it to 0.")
        ])
    /// Starts beat tracking anew.
    static let resetTempo = ControlType("resetTempo", "Discards the tempo and starts beat tracking anew.")
}

/// The features and events of the analyzer.
struct BeatOutputs {
    private(set) var spectrum = SpectrumHandle(index: 0)
    private var onsetStrength = FeatureHandle(offset: 0, count: 0)
    private var tempo = FeatureHandle(offset: 0, count: 0)
    private var phase = FeatureHandle(offset: 0, count: 0)
    private var barPhase = FeatureHandle(offset: 0, count: 0)
    private var confidence = FeatureHandle(offset: 0, count: 0)
    private var candidates = FeatureHandle(offset: 0, count: 0)
    private var weights = FeatureHandle(offset: 0, count: 0)

    mutating func declare(_ settings: BeatSettings) -> AnalyzerOutputs {
        var outputs = AnalyzerOutputs()
        // Spectra have the same rate for all streams, so that the beats do not depend on the sample rate of the stream.
        spectrum = outputs.request(
            SpectrumRequest(
                size: BandFilter.size, hop: .seconds(BandFilter.hopSeconds), sampleRate: BandFilter.sampleRate, parts: .magnitude))
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
        outputs.add(EventOutput("beat", .beatsPerMinute, "A beat, usually reported before it sounds."))
        if settings.hasDrums {
            outputs.add(EventOutput("drum", .none, "A stroke of kick, snare or hi-hat."))
            outputs.add(EventOutput("expected_drum", .none, "A stroke that is expected soon."))
        }
        if settings.hasPhrases { outputs.add(EventOutput("phrase", .none, "A bar begins; its place in the phrase.")) }
        return outputs
    }

    /// Writes the values at the end of a batch; `state` is nil while the tempo is unknown.
    func write(_ state: BeatState?, onsetStrength: Float, into row: inout FeatureRow) {
        row[self.onsetStrength] = onsetStrength
        row[confidence] = Float(state?.confidence ?? 0)
        guard let state else { return }
        row[tempo] = Float(state.beatsPerMinute)
        row[phase] = Float(state.phase)
        if let bar = state.bar { row[barPhase] = Float(bar.phase) }
        for rank in 0..<TempoHypotheses.count where state.hypotheses.intervals[rank] > 0 {
            row[candidates, rank] = 60 / (state.hypotheses.intervals[rank] * Float(BandFilter.hopSeconds))
            row[weights, rank] = state.hypotheses.weights[rank]
        }
    }
}
