public import Hemiola
internal import HemiolaEngine
public import HemiolaTesting

/// The output of one analyzer for a signal, from a complete pipeline: capture, hops, spectra, aggregation, sink.
public struct Analysis: Sendable {
    public let stream: CollectedStream

    /// Runs a pipeline of one analyzer to its end.
    ///
    /// - Parameters:
    ///   - steps: The results of the capture, in order.
    ///   - settings: `key=value,key=value`.
    ///   - wholeFile: Whether there are two passes.
    public init(
        of steps: [CaptureStep], _ format: StreamFormat, _ plugin: AnalyzerPlugin, _ settings: String = "",
        batchFrames: Int = Batching.defaultFrames, wholeFile: Bool = false
    ) async throws {
        let sink = CollectingSink()
        let registry = PluginRegistry(
            captures: [.scripted(format: format, isRewindable: wholeFile, steps)], analyzers: [plugin], sinks: [.collecting(sink)])
        var configuration = PipelineConfiguration(
            captures: [PluginSpec("scripted")], analyzers: [try plugin.spec(settings)], sinks: [PluginSpec("collecting")],
            batchFrames: batchFrames)
        configuration.usesLookAhead = wholeFile
        let pipeline = try registry.assemble(configuration)
        _ = await pipeline.run()
        guard let stream = sink.streams.first else { throw Problem("the stream did not begin") }
        self.stream = stream
    }

    public init(
        of audio: Audio, _ plugin: AnalyzerPlugin, _ settings: String = "", batchFrames: Int = Batching.defaultFrames,
        wholeFile: Bool = false
    ) async throws {
        try await self.init(
            of: [.samples(audio.samples)], audio.format, plugin, settings, batchFrames: batchFrames, wholeFile: wholeFile)
    }

    public var batches: [CollectedBatch] { stream.batches }

    private var analyzer: StreamHeader.Analyzer { stream.header.analyzers[0] }

    /// The declaration of a feature.
    public func feature(_ name: String) -> Feature {
        guard let feature = analyzer.outputs.features.first(where: { $0.name == name }) else {
            preconditionFailure("there is no feature \(name)")
        }
        return feature
    }

    /// A feature of several values, per batch.
    public func values(_ name: String) -> [[Float]] {
        stream.values(analyzer.name, name)
    }

    /// A feature of one value, per batch; NaN where there is none.
    public func value(_ name: String) -> [Float] {
        stream.value(analyzer.name, name)
    }
}

extension AnalyzerPlugin {
    /// Makes the analyzer with its plugin from the text of a SPEC.
    ///
    /// - Throws: `Problem` with all problems, by key.
    public func analyzer(_ settings: String = "") throws -> any Analyzer {
        var problems: [Problem] = []
        guard let values = about.values(from: try spec(settings), problems: &problems) else {
            throw Problem(problems)
        }
        return try make(values)
    }

    fileprivate func spec(_ settings: String) throws -> PluginSpec {
        try PluginSpec(parsing: settings.isEmpty ? about.id : "\(about.id):\(settings)")
    }
}
