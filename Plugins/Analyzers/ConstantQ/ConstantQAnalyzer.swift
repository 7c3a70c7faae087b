internal import Glibc
public import Hemiola
internal import HemiolaTonal

extension AnalyzerPlugin {
    /// Magnitudes of a constant-Q transform.
    public static let constantQ = AnalyzerPlugin(
        PluginDescription("cqt", "Constant-Q transform: magnitudes in bins of equal musical width.", version: 1),
        settings: ConstantQSettings.self
    ) { settings throws(Problem) in
        ConstantQAnalyzer(settings)
    }
}

/// The settings of the constant-Q analyzer.
struct ConstantQSettings: PluginSettings {
    var binsPerOctave: Int
    var minimum: Double
    var octaves: Int
    var window: Double
    var hasDelays: Bool

    init(_ read: inout SettingReader) {
        binsPerOctave = read.integer("bins_per_octave", default: 12, in: 3...96, "Bins per octave.")
        minimum = read.hertz("min_hz", default: 32.703, in: 10...20_000, "Frequency of the lowest bin.")
        octaves = read.integer("octaves", default: 8, in: 1...14, "Octaves above min_hz; bins above half the sample rate are left out.")
        window = read.seconds("window_s", default: 0.512, in: 0.02...8, "Longest window; low bins that need a longer one are wider.")
        hasDelays = read.boolean("delays", default: false, "Also the delay of each bin.")
    }
}

/// The constant-Q transform of each batch.
///
/// The window of each bin ends with the hop. When a batch has several hops, their powers are averaged.
///
/// - Complexity: with the default settings transforms of 4096 and 256 frames at 8 kHz and a short one at the rate of the stream per
///   hop, and about 3 µs; no allocation.
final class ConstantQAnalyzer: Analyzer {
    private let settings: ConstantQSettings
    private var transform: ConstantQTransform?
    private var magnitudes = FeatureHandle(offset: 0, count: 0)
    private var delays: FeatureHandle?

    init(_ settings: ConstantQSettings) {
        self.settings = settings
    }

    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
        var outputs = AnalyzerOutputs()
        let layout = ConstantQLayout(
            lowest: settings.minimum, binsPerOctave: settings.binsPerOctave, count: settings.binsPerOctave * settings.octaves,
            longestWindow: settings.window)
        let transform = ConstantQTransform(layout, sampleRate: stream.sampleRate, hop: .everyHop, outputs: &outputs)
        let count = transform.layout.count
        guard count > 0 else {
            throw Problem(
                "cqt: min_hz \(settings.minimum) is too high for a sample rate of \(stream.sampleRate) Hz; lower it")
        }
        self.transform = transform
        let sampleRate = Double(stream.sampleRate)
        let delay = layout.delay(of: 0)
        // The windows of the last hop end with the batch; the mean of several hops lies half-way between the first and the last.
        let end = Double(stream.batching.batchFrames + stream.hopFrames) / 2 / sampleRate
        let edge = exp2(-0.5 / Double(settings.binsPerOctave))
        magnitudes = outputs.add(
            Feature(
                "magnitudes_db", .decibels, count: count, minimum: -120, aggregation: .mean, scale: .powerDecibels,
                edges: (0...count).map { edge * layout.frequency(of: $0) }, centerOffset: end - delay,
                "Magnitude of each bin; a full-scale sine reads 0. The centre is that of the lowest bin."))
        delays =
            settings.hasDelays
            ? outputs.add(
                Feature("delays_s", .seconds, count: count, minimum: 0, "Time from the centre of each bin's window to its end."))
            : nil
        outputs.latencyFrames = Int64((delay * sampleRate).rounded())
        return outputs
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        guard let transform else { return }
        transform.update(from: hop, 0)
        var values = row[all: magnitudes]
        values.scale(transform.powers, by: 1)
        if let delays {
            for bin in 0..<delays.count { row[delays, bin] = Float(transform.layout.delay(of: bin)) }
        }
    }
}
