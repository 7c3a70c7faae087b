import Hemiola

extension AnalyzerPlugin {
    public static let myMeter = AnalyzerPlugin(
        PluginDescription("my-meter", "Crest factor: the peak over the RMS level."), settings: MyMeterSettings.self
    ) { settings throws(Problem) in MyMeter(gate: Float(settings.gate)) }
}

struct MyMeterSettings: PluginSettings {
    var gate: Double

    init(_ read: inout SettingReader) {
        gate = read.number("gate", default: 0.001, in: 0...1, unit: .amplitude, "Below this peak there is no value.")
    }
}

final class MyMeter: Analyzer {
    private let gate: Float
    private var crest = FeatureHandle(offset: 0, count: 0)

    init(gate: Float) { self.gate = gate }

    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
        var outputs = AnalyzerOutputs()
        crest = outputs.add(Feature("crest", .ratio, in: 0...1000, aggregation: .maximum, "Peak over RMS."))
        return outputs
    }

    // On the hot path: no allocation, no lock, no I/O.
    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        var (peak, squares): (Float, Float) = (0, 0)
        for index in 0..<hop.frameCount {
            peak = max(peak, abs(hop.mono[index]))
            squares += hop.mono[index] * hop.mono[index]
        }
        if peak > max(gate, 1e-6) { row[crest] = peak / (squares / Float(hop.frameCount)).squareRoot() }
    }
}
