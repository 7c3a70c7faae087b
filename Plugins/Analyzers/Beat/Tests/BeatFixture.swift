import BeatAnalyzer
import Hemiola
import HemiolaEngine
import HemiolaTesting

/// The output of a pipeline with the analyzer `beat` for given samples.
struct BeatAnalysis {
    /// A beat record, and the end time of the batch that contains it.
    struct EmittedBeat {
        var time: Double
        var beatsPerMinute: Double
        var position: Int?
        var confidence: Double
        var emitted: Double
    }

    let stream: CollectedStream

    init(
        _ samples: [Float], rate: Int = 44_100, settings: String = "", batchFrames: Int = 1024, wholeFile: Bool = false,
        controls: [StampedControl] = []
    ) async throws {
        let sink = CollectingSink()
        let registry = PluginRegistry(
            captures: [.scripted(format: StreamFormat(sampleRate: rate, channelCount: 1), isRewindable: true, [.samples(samples)])],
            analyzers: [.beat], sinks: [.collecting(sink)])
        var configuration = PipelineConfiguration(
            captures: [PluginSpec("scripted")],
            analyzers: [try PluginSpec(parsing: settings.isEmpty ? "beat" : "beat:\(settings)")],
            sinks: [PluginSpec("collecting")], batchFrames: batchFrames)
        configuration.usesLookAhead = wholeFile
        let pipeline = try registry.assemble(configuration)
        _ = await pipeline.run(replaying: ControlReplay(controls))
        guard let stream = sink.streams.first else { throw Problem("the pipeline did not start a stream") }
        self.stream = stream
    }

    private var rate: Double { Double(stream.header.format.sampleRate) }

    var beats: [EmittedBeat] {
        stream.batches.flatMap { batch in
            batch.events.compactMap { event -> EmittedBeat? in
                guard let beat = Beat(event) else { return nil }
                return EmittedBeat(
                    time: event.time, beatsPerMinute: beat.beatsPerMinute, position: beat.position, confidence: beat.confidence,
                    emitted: Double(batch.frame + Int64(batch.frameCount)) / rate)
            }
        }
    }

    var onsets: [Double] {
        stream.events.compactMap { event in
            event.type == .onset ? event.time : nil
        }
    }

    /// The value of a feature in the batch that contains a time; nil if the record has null.
    func value(_ name: String, at seconds: Double) -> Double? {
        let values = stream.value("beat", name)
        let batch = Int(seconds * rate) / stream.header.batching.batchFrames
        let value = values[min(batch, values.count - 1)]
        return value.isNaN ? nil : Double(value)
    }

    var confidence: [Float] { stream.value("beat", "confidence") }

    /// The distances of the beats from `start` on to the nearest point of a grid, in seconds.
    func errors(from start: Double, first: Double, period: Double) -> [Double] {
        beats.map(\.time).filter { $0 >= start }.map { time in
            let beats = ((time - first) / period).rounded()
            return time - first - beats * period
        }
    }
}

extension [Double] {
    var median: Double { isEmpty ? .nan : sorted()[count / 2] }
}
