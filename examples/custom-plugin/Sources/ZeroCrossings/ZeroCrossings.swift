import Hemiola
import HemiolaSignal

extension AnalyzerPlugin {
    /// Key, default, range, unit and a sentence: checks, error messages and the header come from here.
    private static let gate = Setting(
        "gate", default: 0.001, in: 0...1, unit: .amplitude, "Samples below this do not count: noise crosses zero all the time.")

    /// How often the sound crosses zero: low for a hum, high for a cymbal.
    public static let zeroCrossings = AnalyzerPlugin(
        "zero-crossings", "How often the sound crosses zero per second.", settings: [gate.declared]
    ) { settings throws(ConfigurationError) in
        ZeroCrossings(gate: settings[gate])
    }
}

/// Counts how often the mono mix changes its sign.
///
/// An analyzer hears the stream hop by hop, in order. It keeps what it needs from one hop to the next, and neither allocates
/// nor waits in `process`: that runs in the middle of the audio.
final class ZeroCrossings: Analyzer {
    /// The smallest sample that has a sign, as an amplitude.
    private let gate: Float
    private var sampleRate: Float = 0
    /// Where the value goes in the row; `prepare` learns it.
    private var rate = FeatureHandle(offset: 0, count: 0)
    /// Whether the last sample above the gate was positive; nil before there was one.
    private var wasPositive: Bool?

    init(gate: Double) {
        self.gate = Float(gate)
    }

    /// A stream begins. Says what the analyzer will deliver from it.
    func prepare(_ stream: AnalysisFormat) throws(AnalyzerError) -> AnalyzerOutputs {
        sampleRate = Float(stream.sampleRate)
        reset()
        var outputs = AnalyzerOutputs()
        // A batch may have several hops: their mean counts, each weighed by its frames.
        rate = outputs.add(
            Feature(
                "rate_hz", .hertz, in: 0...Double(stream.sampleRate), fold: .mean,
                "Changes of sign per second; a sine has two per period."))
        return outputs
    }

    /// Hears a hop and writes what it heard.
    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        var crossings = 0
        // The hop behind a stream's end is padded with zeros: only the real frames count.
        for index in 0..<hop.frameCount where abs(hop.mono[index]) >= gate {
            let isPositive = hop.mono[index] > 0
            if let wasPositive, wasPositive != isPositive { crossings += 1 }
            wasPositive = isPositive
        }
        row[rate] = Float(crossings) * sampleRate / Float(max(1, hop.frameCount))
    }

    /// Audio was lost: the next sample is no neighbour of the last.
    func skip(_ gap: Gap) {
        wasPositive = nil
    }

    /// Forgets the stream.
    func reset() {
        wasPositive = nil
    }
}
