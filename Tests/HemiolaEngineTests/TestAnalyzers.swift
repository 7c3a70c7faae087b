import Hemiola
import HemiolaTesting
import Synchronization

/// Records its calls: hops, frames, gaps, controls and passes.
final class Witness: OfflineAnalyzer, ControlHandler {
    private let log: Log<String>
    private var hops = FeatureHandle(offset: 0, count: 0)
    private var frames = FeatureHandle(offset: 0, count: 0)
    private var place = FeatureHandle(offset: 0, count: 0)
    private var peak = FeatureHandle(offset: 0, count: 0)
    private var mean = FeatureHandle(offset: 0, count: 0)
    private var firstPass = FeatureHandle(offset: 0, count: 0)
    private var format = StreamFormat(sampleRate: 1, channelCount: 1)
    private var hopCount = 0
    private var firstPassCount = 0
    private var isFirstPassFinished = false
    private var end = 0.0

    init(_ log: Log<String>) {
        self.log = log
    }

    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
        log.append("prepare \(stream.sampleRate)/\(stream.channelCount)")
        format = stream.format
        hopCount = 0
        firstPassCount = 0
        isFirstPassFinished = false
        end = 0
        var outputs = AnalyzerOutputs()
        hops = outputs.add(Feature("hops", .none, aggregation: .sum, "Hops of the batch."))
        frames = outputs.add(Feature("frames", .none, aggregation: .sum, "Real frames of the batch."))
        place = outputs.add(Feature("place", .none, aggregation: .latest, "The index of the last hop in the batch."))
        peak = outputs.add(Feature("peak", .none, aggregation: .maximum, "The largest first sample of a hop."))
        mean = outputs.add(Feature("mean", .none, aggregation: .mean, "The mean of the hops' first samples."))
        firstPass = outputs.add(Feature("first_pass", .none, "Hops of the first pass; -1 without one."))
        outputs.add(EventOutput("hop", .none, "A hop begins."))
        outputs.add(EventOutput("last", .none, "The stream is over."))
        return outputs
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        row[hops] = 1
        row[frames] = Float(hop.frameCount)
        row[place] = Float(hop.indexInBatch)
        row[peak] = hop.mono[0]
        row[mean] = hop.mono[0]
        row[firstPass] = isFirstPassFinished ? Float(firstPassCount) : -1
        hopCount += 1
        end = format.seconds(at: hop.frame + Int64(hop.frameCount))
        events.append(
            AnalyzerEvent(output: "hop", values: [Double(hop.frame), Double(hop.frameCount)]), at: format.seconds(at: hop.frame))
    }

    func analyzeFirstPass(_ hop: borrowing Hop) {
        firstPassCount += 1
    }

    func finishFirstPass() {
        isFirstPassFinished = true
    }

    func skip(_ gap: Gap) {
        log.append("skip \(gap.frames)")
    }

    func finish(into events: inout EventList) {
        events.append(AnalyzerEvent(output: "last"), at: end)
    }

    func summary() -> [SummaryValue] {
        [SummaryValue("hops", count: Int64(hopCount))]
    }

    func handle(_ control: StampedControl) -> ControlReply {
        control.control.type == .lockTempo ? .refused("not in this test") : .done
    }
}

extension ControlType {
    static let tap = ControlType("tap", "Marks a beat now.")
    static let halveTempo = ControlType("halveTempo", "Halves the tempo.")
    static let lockTempo = ControlType(
        "lockTempo", "Keeps a tempo.", fields: [.number("bpm", nullable: true, default: ParameterValue.none, "The tempo.")])
}

extension AnalyzerPlugin {
    static func witness(_ log: Log<String> = Log()) -> AnalyzerPlugin {
        AnalyzerPlugin(
            PluginDescription("witness", "Records its calls.", declares: .init(controls: [.tap, .halveTempo, .lockTempo])),
            settings: NoSettings.self
        ) {
            _ throws(Problem) in Witness(log)
        }
    }
}

/// Emits the window centre and the largest bin of every spectrum that it requests.
final class Centres: Analyzer {
    private let request: SpectrumRequest
    private var handle = SpectrumHandle(index: 0)
    private var format = StreamFormat(sampleRate: 1, channelCount: 1)

    init(_ request: SpectrumRequest) {
        self.request = request
    }

    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
        format = stream.format
        var outputs = AnalyzerOutputs()
        handle = outputs.request(request)
        outputs.add(EventOutput("spectrum", .none, "A spectrum."))
        return outputs
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        let spectra = hop.spectra(handle)
        for index in 0..<spectra.count {
            let power = spectra.power(index)
            var loudest = 0
            for bin in 0..<spectra.binCount where power[bin] > power[loudest] { loudest = bin }
            events.append(
                AnalyzerEvent(output: "spectrum", values: [spectra.center(of: index), Double(loudest)]),
                at: max(0, spectra.center(of: index) / Double(format.sampleRate)))
        }
    }
}

extension AnalyzerPlugin {
    static func centres(_ request: SpectrumRequest, as id: String = "centres") -> AnalyzerPlugin {
        AnalyzerPlugin(PluginDescription(id, "Emits the window centres of its spectra."), settings: NoSettings.self) { _ throws(Problem) in
            Centres(request)
        }
    }
}

/// Emits ten beats per second, each half a second before its time.
final class EarlyBeatAnalyzer: Analyzer {
    private var format = StreamFormat(sampleRate: 1, channelCount: 1)
    private var next = 0

    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
        format = stream.format
        next = 0
        var outputs = AnalyzerOutputs()
        outputs.add(EventOutput("beat", .none, "A beat."))
        outputs.add(EventOutput("onset", .none, "An onset."))
        return outputs
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        let end = format.seconds(at: hop.frame + Int64(hop.frameCount))
        while Double(next) / 10 < end + 0.5 {
            events.append(Beat(beatsPerMinute: 600, position: nil, confidence: 1), at: Double(next) / 10)
            next += 1
        }
        events.append(Onset(strength: 1), at: format.seconds(at: hop.frame))
    }
}

/// Refuses every stream unless it was loaded once.
final class Loaded: Analyzer {
    private let loadModel: @Sendable () -> String?
    private var loadCount = 0
    private var value = FeatureHandle(offset: 0, count: 0)

    init(_ loadModel: @escaping @Sendable () -> String?) {
        self.loadModel = loadModel
    }

    func load() throws(Problem) {
        if let fault = loadModel() { throw Problem(fault) }
        loadCount += 1
    }

    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
        guard loadCount == 1 else { throw Problem("the model was loaded \(loadCount) times") }
        var outputs = AnalyzerOutputs()
        value = outputs.add(Feature("value", .none, "A value."))
        return outputs
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        row[value] = 1
    }
}

extension AnalyzerPlugin {
    /// Refuses every stream unless it was loaded once.
    ///
    /// - Parameter load: Called for each load; returns why it fails, or nil.
    static func loaded(_ load: @escaping @Sendable () -> String? = { nil }) -> AnalyzerPlugin {
        AnalyzerPlugin(PluginDescription("loaded", "Refuses every stream unless it was loaded once."), settings: NoSettings.self) {
            _ throws(Problem) in
            Loaded(load)
        }
    }

    static let earlyBeats = AnalyzerPlugin(PluginDescription("early-beats", "Emits beats before their time."), settings: NoSettings.self) {
        _ throws(Problem) in
        EarlyBeatAnalyzer()
    }

    /// Accepts one channel only.
    static let monoOnly = AnalyzerPlugin(PluginDescription("mono-only", "Accepts one channel only."), settings: NoSettings.self) {
        _ throws(Problem) in
        MonoOnly()
    }
}

final class MonoOnly: Analyzer {
    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
        guard stream.channelCount == 1 else { throw Problem("mono-only: one channel only; mix it down") }
        return AnalyzerOutputs()
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {}
}
