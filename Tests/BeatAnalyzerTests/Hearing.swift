import BeatAnalyzer
import Hemiola
import HemiolaEngine
import HemiolaSignal
import HemiolaTesting

/// What `beat` said about a sound, heard through the whole pipeline.
struct Hearing {
    /// A beat, and the end of the batch that told it.
    struct Told {
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
        guard let stream = sink.streams.first else { throw AnalyzerError("the stream did not begin") }
        self.stream = stream
    }

    private var rate: Double { Double(stream.header.format.sampleRate) }

    var beats: [Told] {
        stream.batches.flatMap { batch in
            batch.events.compactMap { event -> Told? in
                guard case .beat(let beat) = event.payload else { return nil }
                return Told(
                    time: event.time, beatsPerMinute: beat.beatsPerMinute, position: beat.position, confidence: beat.confidence,
                    emitted: Double(batch.frame + Int64(batch.frameCount)) / rate)
            }
        }
    }

    var onsets: [Double] {
        stream.events.compactMap { event in
            if case .onset = event.payload { event.time } else { nil }
        }
    }

    /// A feature after so many seconds; nil when there is none.
    func value(_ name: String, at seconds: Double) -> Double? {
        let values = stream.value("beat", name)
        let batch = Int(seconds * rate) / stream.header.batching.batchFrames
        let value = values[min(batch, values.count - 1)]
        return value.isNaN ? nil : Double(value)
    }

    var confidence: [Float] { stream.value("beat", "confidence") }

    /// How far beats lie from the nearest of a grid, in seconds, from some moment on.
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
