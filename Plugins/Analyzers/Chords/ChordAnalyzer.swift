public import Hemiola
internal import HemiolaTonal

extension AnalyzerPlugin {
    /// Chords with start and duration.
    public static let chords = AnalyzerPlugin(
        PluginDescription("chords", "Chords: root, quality, start and duration.", version: 2, declares: .init(records: [.chord])),
        settings: ChordSettings.self
    ) { settings throws(Problem) in
        ChordAnalyzer(settings)
    }
}

extension RecordType {
    /// A chord, emitted at its end.
    static let chord = RecordType(
        "chord", "A chord, or a part without a chord; emitted at its end.",
        fields: [
            .number("duration_s", unit: .seconds, minimum: 0, "The duration."),
            .text("label", "The chord in Harte's syntax, such as A:min7, spelled in the key; N: no chord."),
        ] + Field.category("root", labels: PitchClass.names, nullable: true, "The root; null: no chord.")
            + Field.category("quality", labels: ChordVocabulary.names, nullable: true, "The quality; null: no chord.") + [
                .number("confidence", in: 0...1, "The mean correlation of the chroma with the chord, or 1 minus that of the best chord."),
                .text("reason", nullable: true, "Why there is no chord: no tones or undecided; null: there is one."),
                .emittedTime,
            ])
}

/// The settings of the chord analyzer.
struct ChordSettings: PluginSettings {
    var hasSevenths: Bool
    var meanDuration: Double
    var delay: Double

    init(_ read: inout SettingReader) {
        hasSevenths = read.boolean("sevenths", default: true, "Whether seventh chords are distinguished from triads.")
        meanDuration = read.seconds("mean_s", default: 2, in: 0.2...20, "Mean duration of a chord: longer, fewer changes.")
        delay = read.seconds(
            "delay_s", default: 0.5, in: 0...2,
            "Time after a sound at which its chord is decided; unused when the whole file is read first.")
    }
}

/// Detects chords.
///
/// - Complexity: a transform of 4096 frames 20 times a second, shared with analyzers that request the same one, and about 8 µs each
///   time; no allocation without a first pass, 180 bytes per second of audio with one.
final class ChordAnalyzer: OfflineAnalyzer {
    private static let frameSeconds = ChromaExtractor.frameSeconds
    /// The time constant of the persistence of the chroma, in seconds. Chosen on rendered lead sheets, drums and speech.
    private static let persistenceWindow = 5.0

    /// What is stored of a frame.
    private struct Frame {
        var agreement = ChordAgreement()
        /// In seconds.
        var time = 0.0
    }

    private let settings: ChordSettings
    /// Frames after a frame at which its chord is decided.
    private let delay: Int
    private var extractor: ChromaExtractor?
    private var persistence = ChromaPersistence(
        window: ChordAnalyzer.persistenceWindow, frameSeconds: ChordAnalyzer.frameSeconds)
    private var sampleRate = 1.0
    private let templates: ChordTemplates
    private var decoder: ChordDecoder
    /// The frames that are not decided yet, a ring.
    private var pending: [Frame]
    private var run = ChordRun()
    /// Finds the key of the last half minute, or of the file in a first pass.
    private var keys = ChordAnalyzer.keyEstimator(window: 30)
    /// The key in which chords are spelled, 0…11 major from C on, 12…23 minor; C major as long as none is found.
    private var key = 0
    /// The end of the last hop, in seconds.
    private var end = 0.0
    /// Whether a gap precedes the next hop.
    private var isInterrupted = false
    /// The first frame of the first pass, in frames of the stream; the path of the first pass, once there is one; and the place of the
    /// last state in the path.
    private var firstCenter: Double?
    private var firstPass: ChordDecoder?
    private var path: [(first: Int, state: Int)]?
    private var place = 0

    private var root = FeatureHandle(offset: 0, count: 0)
    private var quality = FeatureHandle(offset: 0, count: 0)
    private var confidence = FeatureHandle(offset: 0, count: 0)
    private var status = FeatureHandle(offset: 0, count: 0)

    init(_ settings: ChordSettings) {
        self.settings = settings
        delay = Int((settings.delay / Self.frameSeconds).rounded())
        templates = ChordTemplates(hasSevenths: settings.hasSevenths)
        decoder = ChordDecoder(meanSeconds: settings.meanDuration, frameSeconds: Self.frameSeconds, capacity: delay + 1)
        pending = Array(repeating: Frame(), count: delay + 1)
    }

    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
        var outputs = AnalyzerOutputs()
        let extractor = ChromaExtractor(
            sampleRate: stream.sampleRate, hopFrames: stream.hopFrames, weighting: .chords, outputs: &outputs)
        self.extractor = extractor
        sampleRate = Double(stream.sampleRate)
        clear()
        outputs.latencyFrames = extractor.latencyFrames + Int64((Double(delay) * Self.frameSeconds * sampleRate).rounded())
        root = outputs.add(Feature("root", labels: PitchClass.names, "Root of the chord."))
        quality = outputs.add(Feature("quality", labels: ChordVocabulary.names, "Quality of the chord."))
        confidence = outputs.add(Feature("confidence", .ratio, in: 0...1, "Mean correlation of the chroma with the chord so far."))
        status = outputs.add(
            Feature("status", .none, in: 0...3, "0 = there is a chord; none: 1 = nothing decided yet, 2 = no tones, 3 = undecided."))
        outputs.add(.chord)
        return outputs
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        guard let extractor else { return }
        if isInterrupted {
            flush(into: &events)
            decoder.reset()
            extractor.skip()
            persistence.skip()
            keys.skip()
            run.resume(at: Double(hop.frame) / sampleRate)
            isInterrupted = false
        }
        for index in 0..<extractor.frameCount(in: hop) {
            let agreement = agreement(from: hop, index, extractor)
            let time = extractor.center / sampleRate
            if let path {
                let frame = frameNumber(extractor)
                while place + 1 < path.count, path[place + 1].first <= frame { place += 1 }
                add(path[place].state, agreement, at: time, into: &events)
            } else {
                decoder.add(agreement)
                pending[(decoder.count - 1) % (delay + 1)] = Frame(agreement: agreement, time: time)
                if decoder.count > delay { decide(before: delay, into: &events) }
            }
        }
        end = Double(hop.frame + Int64(hop.frameCount)) / sampleRate
        row[status] = Float(run.status.rawValue)
        guard let state = run.state, state != ChordVocabulary.none else { return }
        row[root] = Float(state % 12)
        row[quality] = Float(state / 12)
        row[confidence] = run.confidence
    }

    /// The number of the last frame from the first one of the first pass on: its time, whatever a gap has left out.
    private func frameNumber(_ extractor: ChromaExtractor) -> Int {
        Int(((extractor.center - (firstCenter ?? extractor.center)) / sampleRate / Self.frameSeconds).rounded())
    }

    /// Computes the next frame.
    private func agreement(from hop: borrowing Hop, _ index: Int, _ extractor: ChromaExtractor) -> ChordAgreement {
        extractor.update(from: hop, index)
        persistence.add(extractor.chroma)
        if path == nil { keys.add(extractor.chroma) }
        return templates.agreement(extractor.chroma, extractor.bass, persistence: persistence.value)
    }

    /// Decides the chord of the frame that is `count` frames before the last one.
    private func decide(before count: Int, into events: inout EventList) {
        let frame = pending[(decoder.count - 1 - count) % (delay + 1)]
        add(decoder.state(before: count), frame.agreement, at: frame.time, into: &events)
    }

    private func add(_ state: Int, _ agreement: ChordAgreement, at time: Double, into events: inout EventList) {
        if state != run.state { updateKey() }
        run.add(state, agreement, at: time, in: key, into: &events)
    }

    private func updateKey() {
        // After a first pass it is the key of the file.
        if path == nil, let found = keys.estimate() { key = found.key }
    }

    private static func keyEstimator(window: Double?) -> KeyEstimator {
        KeyEstimator(.general, window: window, frameSeconds: frameSeconds)
    }

    /// Decides all frames, and ends the last chord.
    private func flush(into events: inout EventList) {
        if path == nil {
            for count in stride(from: min(delay, decoder.count) - 1, through: 0, by: -1) { decide(before: count, into: &events) }
        }
        updateKey()
        run.finish(at: end, in: key, into: &events)
    }

    func finish(into events: inout EventList) {
        flush(into: &events)
    }

    func analyzeFirstPass(_ hop: borrowing Hop) {
        guard let extractor else { return }
        if firstPass == nil {
            firstPass = ChordDecoder(meanSeconds: settings.meanDuration, frameSeconds: Self.frameSeconds, capacity: nil)
            keys = Self.keyEstimator(window: nil)
        }
        for index in 0..<extractor.frameCount(in: hop) {
            let agreement = agreement(from: hop, index, extractor)
            if firstCenter == nil { firstCenter = extractor.center }
            // Frames that were left out in a long gap.
            while let count = firstPass?.count, count < frameNumber(extractor) { firstPass?.add(ChordAgreement()) }
            firstPass?.add(agreement)
        }
    }

    func finishFirstPass() {
        updateKey()
        if let firstPass, firstPass.count > 0 { path = firstPass.path() }
        firstPass = nil
        extractor?.reset()
        persistence.reset()
    }

    func skip(_ gap: Gap) {
        // The chord before the gap ends where the gap begins: it is emitted with the next hop.
        isInterrupted = true
    }

    private func clear() {
        decoder.reset()
        persistence.reset()
        run = ChordRun()
        keys = Self.keyEstimator(window: 30)
        (end, firstCenter, firstPass, path, place, isInterrupted, key) = (0, nil, nil, nil, 0, false, 0)
    }
}
