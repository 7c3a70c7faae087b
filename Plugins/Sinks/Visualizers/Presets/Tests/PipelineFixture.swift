import Foundation
import Hemiola
import HemiolaEngine
import HemiolaTesting
import JSONLinesSink
import LevelsAnalyzer
import SpectrumAnalyzer
import Synchronization

@testable import PresetsSink

/// A pipeline with the sink `presets` over scripted audio.
struct PipelineFixture {
    var steps: [CaptureStep]
    var isLive = false
    var settings: String
    var seed: UInt64 = 0
    var sinks: [SinkPlugin] = []
    var replay = ControlReplay()
    var captureCount = 1
    /// Counts the batches that the sink has written.
    var counter = WrittenBatchCounter()

    /// Runs the pipeline and returns the streams that a second sink received, and the notices.
    func run() async throws -> (streams: [CollectedStream], notices: [String], outcome: RunOutcome) {
        let sink = CollectingSink()
        let others = sinks + [.collecting(sink, as: "listener")]
        let registry = PluginRegistry(
            captures: [.scripted(isLive: isLive, steps)], analyzers: [.levels, .spectrum, .beats(bpm: 120)],
            sinks: [.counted(counter), .jsonLines] + others)
        var configuration = PipelineConfiguration(captures: Array(repeating: PluginSpec("scripted"), count: captureCount))
        configuration.sinks = [try PluginSpec(parsing: "presets:\(settings)")] + others.map { PluginSpec($0.about.id) }
        configuration.seed = seed
        let notices = Mutex<[String]>([])
        let outcome = try await registry.assemble(configuration).run(replaying: replay) { notice in
            if case .finished = notice { return }
            notices.withLock { $0.append("\(notice)") }
        }
        return (sink.streams, notices.withLock { $0 }, outcome)
    }
}

/// Counts the batches that the sink has written.
final class WrittenBatchCounter: Sendable {
    private let number = Mutex(0)

    var batches: Int { number.withLock { $0 } }

    func add(_ count: Int) { number.withLock { $0 += count } }

    /// Audio that is delivered no faster than the sink writes, so that a live run on a busy machine drops no batch.
    func steps(_ samples: [Float], fragment: Int) -> [CaptureStep] {
        let chunk = 20
        return stride(from: 0, to: samples.count, by: chunk * 1024).enumerated().flatMap { index, start -> [CaptureStep] in
            let part = Array(samples[start..<min(start + chunk * 1024, samples.count)])
            return [.pause(until: { self.batches >= index * chunk }), .samples(part, fragment: fragment)]
        }
    }
}

/// Forwards all calls to the sink and counts the batches.
private final class CountingSink: DirectingSink {
    private let sink: any DirectingSink
    private let counter: WrittenBatchCounter

    init(_ sink: any DirectingSink, _ counter: WrittenBatchCounter) {
        self.sink = sink
        self.counter = counter
    }

    func makeDirector() throws(Problem) -> sending any Director { try sink.makeDirector() }
    func open(_ context: SinkContext) throws(Problem) { try sink.open(context) }
    func begin(_ stream: StreamHeader) throws(Problem) { try sink.begin(stream) }
    func write(_ batches: BatchBlock) throws(Problem) {
        try sink.write(batches)
        counter.add(batches.count)
    }
    func end(_ summary: StreamSummary) throws(Problem) { try sink.end(summary) }
    func close() throws(Problem) { try sink.close() }
}

extension SinkPlugin {
    fileprivate static func counted(_ counter: WrittenBatchCounter) -> SinkPlugin {
        let plugin = SinkPlugin.presets
        return SinkPlugin(
            plugin.about, settings: PresetSettings.self, needs: { $0.needs },
            make: { settings throws(Problem) in
                CountingSink(PresetCycler(settings, plan: try settings.check()), counter)
            })
    }
}

/// Announces the beats of a constant tempo in 4/4, starting at 0.5 s, each 0.1 s ahead.
final class SteadyBeats: Analyzer {
    private let period: Double
    private var next = 0
    private var confidence = FeatureHandle(offset: 0, count: 0)

    init(bpm: Double) { period = 60 / bpm }

    func prepare(_ stream: AnalysisFormat) throws(Problem) -> AnalyzerOutputs {
        reset()
        var outputs = AnalyzerOutputs()
        confidence = outputs.add(Feature("confidence", .ratio, in: 0...1, "Confidence of the beat."))
        outputs.add(EventOutput("beat", .none, "A beat."))
        return outputs
    }

    func process(_ hop: borrowing Hop, into row: inout FeatureRow, events: inout EventList) {
        row[confidence] = 0.9
        let end = hop.format.seconds(at: hop.frame + Int64(hop.frameCount))
        while 0.5 + Double(next) * period < end + 0.1 {
            let beat = Beat(beatsPerMinute: 60 / period, position: next % 4 + 1, confidence: 0.9)
            events.append(beat, at: 0.5 + Double(next) * period)
            next += 1
        }
    }

    func skip(_ gap: Gap) {}
    func finish(into events: inout EventList) {}
    func reset() { next = 0 }
}

extension AnalyzerPlugin {
    static func beats(bpm: Double) -> AnalyzerPlugin {
        AnalyzerPlugin(PluginDescription("beat", "A steady beat."), settings: NoSettings.self) { _ throws(Problem) in
            SteadyBeats(bpm: bpm)
        }
    }
}

/// Quiet noise with a loud burst of 0.1 s every seven seconds.
func bursts(seconds: Int) -> [Float] {
    var samples = TestSignal.noise(seed: 5, amplitude: 0.02, frames: seconds * 44_100)
    for index in samples.indices where index % (7 * 44_100) > 6 * 44_100 + 39_690 { samples[index] *= 40 }
    return samples
}
