internal import Hemiola
internal import HemiolaEngine

/// Analyses each input into a result of its own, below a folder.
///
/// Each job has analyzers and sinks of its own; all of them take their inputs from one source.
struct CorpusRun {
    /// The pipeline, without inputs and sinks.
    var builder: ConfigurationBuilder
    var input: InputOptions
    /// The sink of the results, without its path.
    var sink: PluginSpec
    /// The extension of the results, which is that of one format only.
    var ending: String
    /// Whether a result begins with a header, which has its fingerprint.
    var hasHeader: Bool
    /// Whether results of an earlier run are kept.
    var resumes: Bool

    func run(into folder: String, with registry: PluginRegistry, on console: Console) throws(Failure) -> CommandStatus {
        var path = folder
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        let template = path.split(separator: "{", omittingEmptySubsequences: false).joined(separator: "{{")
        var builder = self.builder
        var sink = self.sink
        sink.primary = .text("\(template)/{dir}/{name}.\(ending)")
        builder.configuration.sinks = [sink]
        builder.configuration.jobCount = input.jobCount
        // Checks all options before the folder is created.
        let settings = try settings(of: try builder.assemble(inputs: NoInputs()))
        var inputs = try input.inputs(registry.soundFileTypes)
        if FileSystem.isFolder(path), let identity = try? FileSystem.status(of: path).identity,
            let same = input.files.first(where: { (try? FileSystem.status(of: $0))?.identity == identity })
        {
            throw Failure(
                "--output-dir \(folder): results cannot be written into the folder that is analysed, \(PathText.shown(same)); choose another one"
            )
        }
        let output = try OutputFolder(path)
        defer { output.release() }
        inputs.skipped = output.identity
        let check = ResultCheck(settings: settings, list: hasHeader ? nil : try ResultList(in: output.path))
        let failures = FailureList(in: output.path)
        let source = CorpusSource(
            inputs, folder: output.path, ending: ending, check: check, resumes: resumes, failures: failures,
            spec: try input.spec(), report: { console.error($0) })
        builder.configuration.jobCount = min(input.jobCount, inputs.count ?? .max)
        let pipeline = try builder.assemble(inputs: source)
        let report = CorpusReport(source: source, failures: failures, clock: pipeline.clock, start: pipeline.clock.now)
        return pipeline.run(on: console, of: report)
    }

    /// Everything that determines the result of an input besides the input: version, analyzers with their settings and versions, batch
    /// size, seed, selection, excerpt and format.
    ///
    /// - Parameter pipeline: The pipeline of this command.
    private func settings(of pipeline: Pipeline) throws(Failure) -> String {
        let analyzers = try pipeline.describedAnalyzers(for: PluginPage.format)
        var parts = ["hemiola \(HemiolaVersion.current)", "schema \(StreamHeader.schema)"]
        for analyzer in analyzers {
            parts.append("analyzer \(analyzer.name) \(analyzer.id) \(analyzer.version)")
            parts += analyzer.parameters.map { "\($0.key)=\($0.value.text)" }
        }
        let configuration = pipeline.configuration
        parts.append("batch \(configuration.batchFrames)")
        parts.append("seed \(configuration.seed ?? 0)")
        parts += configuration.selection.sorted().map { "select \($0)" }
        // All inputs are files.
        parts.append("whole-file \(configuration.usesLookAhead ?? true)")
        parts.append("raw \(input.raw ?? "")")
        parts.append("start \(input.excerpt.start ?? "")")
        parts.append("duration \(input.excerpt.duration ?? "")")
        parts.append("format \(ending)")
        return parts.joined(separator: "\0")
    }
}

/// A source without inputs.
private struct NoInputs: InputSource {
    let results = ResultForm.filePerInput

    func next() -> SourceInput? { nil }
    func cancel() {}
}
