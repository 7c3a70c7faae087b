public import Hemiola
internal import HemiolaTonal

extension AnalyzerPlugin {
    /// The key of the music: tonic, mode and confidence.
    public static let musicalKey = AnalyzerPlugin(
        PluginDescription(
            "musical-key", "Key of the music: tonic, mode and confidence.", version: 2, declares: .init(records: [.musicalKey])),
        settings: MusicalKeySettings.self
    ) { settings throws(Problem) in
        MusicalKeyAnalyzer(settings)
    }
}

extension RecordType {
    /// A key begins.
    static let musicalKey = RecordType(
        "musical_key", "The music is in another key than before, or in its first.",
        fields: Field.category("tonic", labels: PitchClass.names, "The tonic.")
            + Field.category("mode", labels: MusicalKeyNames.modes, "The mode.")
            + [
                .text("label", "The key as it is written: A minor, C# minor."),
                .number("confidence", in: 0...1, "The probability of this key, among all 24."),
                .emittedTime,
            ])
}

/// The settings of the key analyzer.
struct MusicalKeySettings: PluginSettings {
    var profile: KeyProfile
    /// The time constant.
    var window: Double

    init(_ read: inout SettingReader) {
        profile = read.choice("profile", default: KeyProfile.general, "Weights of the pitch classes in a key.")
        window = read.seconds(
            "window_s", default: 30, in: 2...600, "Time after which a sound counts 1/e; unused when the whole file is read first.")
    }
}

/// The names of the keys. Instances are made before the stream: a global table would be allocated at its first use.
struct MusicalKeyNames: Sendable {
    static let modes = ["major", "minor"]

    private let tonics = PitchClass.names
    private let labels: [String]

    init() {
        labels = (0..<24).map { "\(KeySignature(ofKey: $0).name(of: $0 % 12)) \(Self.modes[$0 / 12])" }
    }

    /// The event of a key.
    func event(_ estimate: KeyEstimate, at time: Double) -> Event {
        Event(
            at: time, .musicalKey, .text(tonics[estimate.tonic]), .integer(estimate.tonic), .text(estimate.mode == 0 ? "major" : "minor"),
            .integer(estimate.mode), .text(labels[estimate.key]), .number(Double(estimate.confidence)))
    }

    /// The key as it is written.
    func label(of estimate: KeyEstimate) -> String { labels[estimate.key] }
}

/// The key in the last seconds, as reported: another key replaces it when it has been more probable for some time.
struct ReportedKey: Sendable {
    /// The confidence from which on a key is reported.
    private static let least: Float = 0.35
    /// The time for which another key has to be the most probable one, in seconds.
    private static let holdSeconds = 2.0

    private let holdFrames: Int
    /// The key; nil: there is no evidence of one.
    private(set) var current: KeyEstimate?
    private var candidate = 0
    private var candidateFrames = 0

    init(frameSeconds: Double) {
        holdFrames = Int((Self.holdSeconds / frameSeconds).rounded())
    }

    /// Updates the key with the estimate at the next frame.
    ///
    /// - Parameter confidence: The probability of each key.
    /// - Returns: Whether the key is another one.
    mutating func update(_ estimate: KeyEstimate?, _ confidence: borrowing InlineArray<24, Float>) -> Bool {
        guard let estimate else {
            current = nil
            candidateFrames = 0
            return false
        }
        if let key = current?.key {
            current?.confidence = confidence[key]
            if key == estimate.key {
                candidateFrames = 0
                return false
            }
        }
        if estimate.key != candidate { (candidate, candidateFrames) = (estimate.key, 0) }
        candidateFrames += 1
        guard candidateFrames >= holdFrames, estimate.confidence >= Self.least else { return false }
        candidateFrames = 0
        current = estimate
        return true
    }

    /// Restores the state after `init`.
    mutating func reset() {
        (current, candidate, candidateFrames) = (nil, 0, 0)
    }
}

/// Estimates the key.
///
/// - Complexity: a transform of 4096 frames 20 times a second, shared with analyzers that request the same one, and about 6 µs each
///   time; no allocation.
final class MusicalKeyAnalyzer: OfflineAnalyzer {
    private let names = MusicalKeyNames()
    private var extractor: ChromaExtractor?
    private var sampleRate = 1.0
    private var recent: KeyEstimator
    private var whole: KeyEstimator
    private var reported = ReportedKey(frameSeconds: ChromaExtractor.frameSeconds)
    /// Whether there was a first pass, and the key that it found.
    private var hasFirstPass = false
    private var fileKey: KeyEstimate?
    private var isFileKeyReported = false

    private var status = FeatureHandle(offset: 0, count: 0)
    private var tonic = FeatureHandle(offset: 0, count: 0)
    private var mode = FeatureHandle(offset: 0, count: 0)
    private var confidence = FeatureHandle(offset: 0, count: 0)

    init(_ settings: MusicalKeySettings) {
        recent = KeyEstimator(settings.profile, window: settings.window, frameSeconds: ChromaExtractor.frameSeconds)
        whole = KeyEstimator(settings.profile, window: nil, frameSeconds: ChromaExtractor.frameSeconds)
    }

    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
        var outputs = AnalyzerOutputs()
        let extractor = ChromaExtractor(
            sampleRate: stream.sampleRate, hopFrames: stream.hopFrames, weighting: .key, outputs: &outputs)
        self.extractor = extractor
        sampleRate = Double(stream.sampleRate)
        clear()
        outputs.latencyFrames = extractor.latencyFrames
        tonic = outputs.add(Feature("tonic", labels: PitchClass.names, "Tonic of the key."))
        mode = outputs.add(Feature("mode", labels: MusicalKeyNames.modes, "Mode of the key."))
        confidence = outputs.add(Feature("confidence", .ratio, in: 0...1, "Probability of this key, among all 24."))
        status = outputs.add(
            Feature("status", .none, in: 0...3, "0 = there is a key; none: 1 = less than 3 s of sound, 2 = no tones, 3 = undecided."))
        outputs.add(.musicalKey)
        return outputs
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        guard let extractor else { return }
        if hasFirstPass {
            if let fileKey, !isFileKeyReported {
                isFileKeyReported = true
                events.append(names.event(fileKey, at: 0))
            }
            return write(fileKey, whole.status, into: &row)
        }
        for index in 0..<extractor.frameCount(in: hop) {
            extractor.update(from: hop, index)
            recent.add(extractor.chroma)
            whole.add(extractor.chroma)
            if reported.update(recent.estimate(), recent.probabilities), let key = reported.current {
                events.append(names.event(key, at: max(0, extractor.center / sampleRate)))
            }
        }
        // A key that has not been the most probable one for long enough is not reported yet.
        write(reported.current, recent.status == .found ? .undecided : recent.status, into: &row)
    }

    /// - Parameter reason: The status if there is no key.
    private func write(_ key: KeyEstimate?, _ reason: TonalStatus, into row: inout FeatureRow) {
        row[status] = Float((key == nil ? reason : .found).rawValue)
        guard let key else { return }
        row[tonic] = Float(key.tonic)
        row[mode] = Float(key.mode)
        row[confidence] = key.confidence
    }

    func analyzeFirstPass(_ hop: borrowing Hop) {
        guard let extractor else { return }
        for index in 0..<extractor.frameCount(in: hop) {
            extractor.update(from: hop, index)
            whole.add(extractor.chroma)
        }
    }

    func finishFirstPass() {
        hasFirstPass = true
        fileKey = whole.estimate()
    }

    /// The key of all frames of the stream.
    func summary() -> [SummaryValue] {
        let key = whole.estimate()
        return [SummaryValue("key", text: key.map(names.label))] + SummaryValue.category("tonic", key?.tonic, labels: PitchClass.names)
            + SummaryValue.category("mode", key?.mode, labels: MusicalKeyNames.modes) + [
                SummaryValue("camelot", text: key.map { KeySignature.camelot(ofKey: $0.key) }),
                SummaryValue("open_key", text: key.map { KeySignature.openKey(ofKey: $0.key) }),
                SummaryValue("confidence", key.map { Double($0.confidence) } ?? .nan, .ratio),
                SummaryValue("status", Double(whole.status.rawValue), .none),
            ]
    }

    /// After a gap the key of the audio before it counts on.
    func skip(_ gap: Gap) {
        extractor?.skip()
        recent.skip()
        whole.skip()
    }

    private func clear() {
        recent.reset()
        whole.reset()
        reported.reset()
        (hasFirstPass, fileKey, isFileKeyReported) = (false, nil, false)
    }
}
