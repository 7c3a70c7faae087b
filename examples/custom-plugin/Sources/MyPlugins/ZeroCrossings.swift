import Hemiola

extension AnalyzerPlugin {
    /// The zero-crossing rate: low for a hum, high for a cymbal or an "s".
    public static let zeroCrossings = AnalyzerPlugin(
        PluginDescription(
            "zero-crossings", "Zero-crossing rate, and a record where the sound becomes noisy.",
            declares: .init(records: [ZeroCrossings.hiss], controls: [ZeroCrossings.setHissRate])),
        settings: ZeroCrossingSettings.self
    ) { settings throws(Problem) in ZeroCrossings(gate: Float(settings.gate)) }
}

struct ZeroCrossingSettings: PluginSettings {
    var gate: Double

    init(_ read: inout SettingReader) {
        gate = read.number("gate", default: 0.001, in: 0...1, unit: .amplitude, "Samples below this amplitude are not counted.")
    }
}

final class ZeroCrossings: Analyzer, ControlHandler {
    static let hiss = RecordType(
        "hiss", "The zero-crossing rate rises above the threshold.",
        fields: [.number("rate_hz", unit: .hertz, minimum: 0, "The rate in the hop."), .emittedTime])
    static let setHissRate = ControlType(
        "setHissRate", "Sets the threshold of hiss records.",
        fields: [.number("rate_hz", unit: .hertz, minimum: 0, default: .number(4000), "The threshold.")])

    private let gate: Float
    private var threshold = 4000.0
    private var rate = FeatureHandle(offset: 0, count: 0)
    private var (wasPositive, wasNoisy) = (Bool?.none, false)

    init(gate: Float) { self.gate = gate }

    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
        (wasPositive, wasNoisy) = (nil, false)
        var outputs = AnalyzerOutputs()
        rate = outputs.add(Feature("rate_hz", .hertz, in: 0...Double(stream.sampleRate), aggregation: .mean, "Sign changes per second."))
        outputs.add(Self.hiss)
        return outputs
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        var crossings = 0
        for index in 0..<hop.frameCount where abs(hop.mono[index]) >= gate {
            let isPositive = hop.mono[index] > 0
            if isPositive != wasPositive ?? isPositive { crossings += 1 }
            wasPositive = isPositive
        }
        let value = Double(crossings) * Double(hop.format.sampleRate) / Double(hop.frameCount)
        row[rate] = Float(value)
        if value > threshold, !wasNoisy { events.append(Event(at: hop.format.seconds(at: hop.frame), Self.hiss, .number(value))) }
        wasNoisy = value > threshold
    }

    func handle(_ control: StampedControl) -> ControlReply {
        guard control.control.type == Self.setHissRate else { return .unknown(control.control) }
        threshold = control.control["rate_hz"].number ?? threshold
        return .done
    }

    func skip(_ gap: Gap) { wasPositive = nil }
}
