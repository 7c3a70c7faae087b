public import Hemiola
internal import HemiolaTonal

extension AnalyzerPlugin {
    /// The strength of each pitch class, and the tuning.
    public static let chroma = AnalyzerPlugin(
        PluginDescription("chroma", "Strength of each pitch class, and tuning.", version: 1), settings: ChromaSettings.self
    ) { settings throws(Problem) in
        try ChromaAnalyzer(settings)
    }
}

/// The settings of the chroma analyzer.
struct ChromaSettings: PluginSettings {
    var bins: Int

    init(_ read: inout SettingReader) {
        bins = read.integer("bins", default: 12, in: 12...36, "Bins per octave: 12, 24 or 36. Bin 0 is C.")
    }
}

/// The chroma of each batch.
///
/// - Complexity: a transform of 4096 frames per hop, shared with analyzers that request the same one, and about 5 µs; no allocation.
final class ChromaAnalyzer: Analyzer {
    private let binCount: Int
    private var extractor: ChromaExtractor?
    private var chroma = FeatureHandle(offset: 0, count: 0)
    private var tuning = FeatureHandle(offset: 0, count: 0)
    /// The sum of the chroma of the batch's hops.
    private var sum: [Float] = []

    init(_ settings: ChromaSettings) throws(Problem) {
        binCount = settings.bins
        guard binCount.isMultiple(of: 12) else {
            throw Problem("\(binCount) is none of 12, 24 and 36; use one of them", at: "bins")
        }
    }

    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
        var outputs = AnalyzerOutputs()
        let extractor = ChromaExtractor(
            sampleRate: stream.sampleRate, hopFrames: stream.hopFrames, hop: .everyHop, binsPerOctave: binCount, outputs: &outputs)
        self.extractor = extractor
        sum = Array(repeating: 0, count: binCount)
        // The window of the last hop ends with the batch; the mean of several hops lies half-way between the first and the last.
        let end = Double(stream.batching.batchFrames + stream.hopFrames) / 2
        let center = (end - Double(extractor.latencyFrames)) / Double(stream.sampleRate)
        chroma = outputs.add(
            Feature(
                "bins", .ratio, count: binCount, in: 0...1, centerOffset: center,
                "Strength of each pitch class from C on, relative to the strongest."))
        tuning = outputs.add(
            Feature(
                "tuning_cents", "cents", in: -50...50, centerOffset: center, "Distance of the tuning from A4 = 440 Hz, over ten seconds."))
        outputs.latencyFrames = extractor.latencyFrames
        return outputs
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        guard let extractor else { return }
        extractor.update(from: hop, 0)
        if extractor.hasTuning { row[tuning] = extractor.tuningCents }
        let values = extractor.chroma
        var sums = sum.mutableSpan
        sums.accumulate(values, isFirst: hop.indexInBatch == 0)
        var largest: Float = 0
        for bin in 0..<binCount { largest = max(largest, sums[bin]) }
        guard largest > 0 else { return }
        for bin in 0..<binCount { row[chroma, bin] = sums[bin] / largest }
    }

    func skip(_ gap: Gap) {
        extractor?.skip()
    }
}
